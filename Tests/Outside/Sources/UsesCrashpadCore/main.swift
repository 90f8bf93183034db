// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadCore DUMP REPORT MINIDUMP DATABASE
// Shows a dump and a report, checks and converts the dump, and makes reports of the dumps in a database.
import CrashpadCore
import SystemPackage

func show(_ path: String) throws(DumpInputFailure) {
  let dump = try Dump(FilePath(path))
  print("\(dump.format.rawValue): \(dump.findings.count) findings, \(dump.findings.count(of: .error)) errors")
  for finding in dump.findings { print("  \(finding.severity) \(finding.rule.code) at \(finding.offset ?? -1)") }
  guard let snapshot = dump.snapshot else { return print("  no meaning") }
  if let exception = snapshot.exception { print("  exception \(exception.code) at \(exception.address)") }
  for module in snapshot.modules.prefix(2) { print("  module \(try dump.name(of: module) ?? "?")") }
  for annotation in snapshot.annotations {
    print("  \(try dump.text(annotation.name) ?? "") = \(try dump.text(annotation.value) ?? "")")
  }
  guard let crashed = dump.crashedThread.map({ snapshot.threads[$0] }) else { return }
  print("  crashed: \(try dump.name(of: crashed) ?? "?"), queue \(try dump.text(crashed.queue) ?? "none")")
  if let stack = crashed.stack {
    let pointer = crashed.context?.stackPointer ?? stack.region.address
    print("  stack of \(try dump.bytes(stack.region.content).count) bytes")
    let top = try dump.memory(at: pointer, count: 8)
    print("  at its top \(top?.count ?? 0) bytes, elsewhere \(try dump.memory(at: 1, count: 8)?.count ?? 0)")
  }
  for frame in crashed.frames ?? [] { print("  frame \(frame.function ?? "?") in module \(frame.module ?? -1)") }
  guard let report = snapshot.report else { return }
  print("  \(report.kind): \(report.exceptionType ?? "?"), \(report.exceptionSubtype ?? "?")")
  if let termination = report.termination {
    print("  terminated by \(termination.namespace ?? "?") \(termination.code ?? 0): \(termination.indicator ?? "")")
  }
  for message in report.messages { print("  \(message.image ?? "?"): \(message.text)") }
}

func convert(_ dump: String, to minidump: String) throws {
  let input = try DumpInput(FilePath(dump))
  let conversion = Conversion(to: .minidump)
  let summary = try conversion.convert(input, to: FilePath(minidump))
  print("\(summary.outcome): \(summary.byteCount) bytes, \(Validation().validate(input).count) findings")
  do { _ = try conversion.convert(DumpInput(FilePath(minidump)), to: FilePath("/nowhere/x")) } catch {
    if case ConversionFailure.input(.notConvertible(let format, _)) = error { print("not converted again: \(format)") }
  }
  do { _ = try conversion.convert(input, to: FilePath("/nowhere/x")) } catch {
    guard case .output(let path, .noSuchFileOrDirectory) = error else { throw error }
    print("no output at \(path)")
  }
}

func process(_ path: String) throws {
  let database = try CrashDatabase(FilePath(path))
  try DumpProcessor(database).run { event in
    switch event {
    case .begins(let count): print("\(count) dumps")
    case .lock(let report): print("lock: \(report.decision), taken: \(report.isTaken)")
    case .result(let result):
      switch result.outcome {
      case .processed(let id, let byteCount, let isComplete): print("\(id.text): \(byteCount) bytes, \(isComplete)")
      default: print("\(result.dump.name.text): \(result.outcome)")
      }
    default: break
    }
  }
}

let arguments = CommandLine.arguments
try show(arguments[1])
try show(arguments[2])
try convert(arguments[1], to: arguments[3])
try process(arguments[4])
