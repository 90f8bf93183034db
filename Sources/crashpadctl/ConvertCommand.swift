import ArgumentParser
import BinaryFormat
import CrashpadCore
import DumpInterpretation
import Snapshot
import SystemPackage

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "convert", abstract: "Makes minidumps of intermediate dumps.")

  @Argument var inputs: [String]
  @Option(name: .shortAndLong) var output: String?
  @Option var reportID: String?
  @Option var clientID: String?
  @Option var annotation: [String] = []
  @Option var arch: String?
  @Option var to: String = "minidump"

  func run() throws {
    var c = Conversion(to: Conversion.Target(rawValue: to)!)
    c.options.reportID = reportID.flatMap { UUIDBytes(text: $0) } ?? .zero
    c.options.clientID = clientID.flatMap { UUIDBytes(text: $0) } ?? .zero
    c.options.architecture = arch.flatMap { CPUArchitecture(rawValue: $0) }
    c.options.annotations = annotation.map { a in
      let parts = a.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), String(parts[1]))
    }
    let input = try DumpInput(FilePath(inputs[0]))
    let r = try c.convert(input, to: FilePath(output!))
    for f in r.findings.findings { Terminal.error(Sentences.line(f, input: inputs[0])) }
    if r.outcome == .rejected { throw ExitCode(65) }
  }
}
