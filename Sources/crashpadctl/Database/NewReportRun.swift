// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// An attachment, as `NAME=PATH`.
struct AttachmentArgument: ExpressibleByArgument {
  let name: String
  let path: String

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "=") else { return nil }
    name = String(argument[..<separator])
    path = String(argument[argument.index(after: separator)...])
    guard !path.isEmpty else { return nil }
  }
}

/// One run of `database import`.
struct NewReportRun {
  /// The file of the report; `-` for standard input.
  let file: String
  let attachments: [AttachmentArgument]
  /// Nil for a random one.
  let id: UUIDBytes?
  /// The creation time in seconds since 1970.
  let created: Int64
  let isDryRun: Bool
  let database: CrashDatabase

  /// The input could not be read; other errors mean that the database could not be written.
  struct InputFailure: Error {
    let name: String
    let underlying: any Error
  }

  struct AlreadyThere: Error {}

  /// A core that can't be converted to a minidump.
  struct Rejected: Error { let findings: FindingList }

  struct Made {
    /// Nil for a random one that a dry run does not know.
    let id: UUIDBytes?
    /// Nil in a dry run.
    var bytes: Int?
    /// The findings of the conversion of a core.
    var findings = FindingList()
    /// Whether the report is a minidump, as its first bytes say; nil in a dry run.
    var isMinidump: Bool?
  }

  /// Throws `InputFailure`, `AlreadyThere`, `Rejected`, and the errors of the database.
  func run() throws -> Made {
    let inputs = try ([("", file)] + attachments.map { ($0.name, $0.path) }).map { name, path in
      (name, path, try open(path))
    }
    if isDryRun {
      if let id, try database.report(id) != nil { throw AlreadyThere() }
      return Made(id: id)
    }
    let session = try DatabaseSession(database, now: TimeArgument.now)
    defer { session.close() }
    return try make(inputs, in: session)
  }

  private func open(_ path: String) throws -> SequentialInput {
    do { return try path == "-" ? .standardInput() : SequentialInput(FilePath(argument: path)) } catch {
      throw InputFailure(name: path, underlying: error)
    }
  }

  private func make(_ inputs: [(name: String, path: String, input: SequentialInput)], in session: DatabaseSession)
    throws
    -> Made
  {
    let id = self.id ?? .random()
    let report = try NewReport(id, in: session)
    // From here on, the lock of the new report stops others from creating one with the same id.
    if try database.report(id) != nil { throw AlreadyThere() }
    var made = Made(id: id, bytes: 0)
    for (name, path, input) in inputs {
      guard let file = name.isEmpty ? report.file : try report.addAttachment(name) else { continue }
      if !name.isEmpty {
        made.bytes = try copy(path, input, to: file).count + (made.bytes ?? 0)
      } else if let core = try core(path) {
        made = try convert(core, to: file, id)
      } else if path == "-" {
        made = try copyOrConvert(input, to: file, id)
      } else {
        let (count, isMinidump) = try copy(path, input, to: file)
        made = Made(id: id, bytes: count, isMinidump: isMinidump)
      }
      try file.sync()
    }
    try report.stage(ReportMetadata(creationTime: created))
    try report.sync()
    try report.publish()
    try session.syncPending()
    return made
  }

  /// Copies standard input. If it is a core, as the kernel passes them to programs, converts it to a minidump.
  private func copyOrConvert(_ input: SequentialInput, to file: OpenFile, _ id: UUIDBytes) throws -> Made {
    var core: SpoolFile?
    var isFirst = true
    var isMinidump = false
    let count: Int
    do {
      count = try input.forEachBlock { block in
        if isFirst, block.byteCount >= InputFormat.coreStart {
          let start = block.array(in: ByteRange(offset: 0, count: InputFormat.coreStart))
          if InputFormat.isCore(start) { core = try SpoolFile() }
        }
        if isFirst { isMinidump = Self.isMinidump(block) }
        isFirst = false
        guard let core else { return try file.write(block) }
        try core.write(block)
      }
    } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: self.file, underlying: error)
    }
    guard let core else { return Made(id: id, bytes: count, isMinidump: isMinidump) }
    return try convert(DumpInput(core.input()), to: file, id)
  }

  private static func isMinidump(_ start: RawSpan) -> Bool {
    start.byteCount >= 4 && start.array(in: ByteRange(offset: 0, count: 4)) == Array("MDMP".utf8)
  }

  private func copy(_ path: String, _ input: SequentialInput, to file: OpenFile) throws -> (
    count: Int, isMinidump: Bool
  ) {
    var isMinidump: Bool?
    do {
      let count = try input.forEachBlock { block in
        isMinidump = isMinidump ?? Self.isMinidump(block)
        try file.write(block)
      }
      return (count, isMinidump ?? false)
    } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: path, underlying: error)
    }
  }

  /// Opens the report's file as a core; nil if it is not one. Standard input can't be checked in advance.
  private func core(_ path: String) throws -> DumpInput? {
    let file = FilePath(argument: path)
    do {
      guard path != "-", case .regular = try FileKind(at: file, followingLink: true),
        InputFormat.isCore(try InputFile.prefix(of: file, count: InputFormat.coreStart))
      else { return nil }
      return try DumpInput(file)
    } catch { throw InputFailure(name: path, underlying: error) }
  }

  private func convert(_ core: DumpInput, to file: OpenFile, _ id: UUIDBytes) throws -> Made {
    let result: Conversion.Summary
    do {
      result = try Conversion(to: .minidump).convert(core, to: file)
    } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: self.file, underlying: error)
    }
    if result.outcome == .rejected { throw Rejected(findings: result.findings) }
    return Made(id: id, bytes: result.byteCount, findings: result.findings, isMinidump: true)
  }
}
