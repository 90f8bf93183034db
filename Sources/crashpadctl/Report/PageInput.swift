import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadRedaction
import CrashpadSnapshot

/// One input of a page: opened, redacted if that was asked for, and read.
struct PageInput {
  let inspection: Inspection

  /// Throws what opening and reading an input throws, or `FailureText` for a format that is not redacted.
  init(_ argument: String, architecture: CPUArchitecture?, redacts: Bool) throws {
    var dump = try DumpInput.open(argument)
    if redacts { dump = try Self.redacted(dump) }
    inspection = try dump.file.checkingReading { Inspection(dump, architecture: architecture) }
  }

  private static func redacted(_ dump: DumpInput) throws -> DumpInput {
    if let refusal = Sentences.refusalToRedact(dump.format) { throw refusal }
    let output = MemoryOutput()
    _ = try Redaction().redact(dump.file, to: output)
    return try DumpInput(InputFile(bytes: output.bytes))
  }
}
