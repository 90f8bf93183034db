// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import IntermediateDump
import CrashpadJSON
import CrashpadMinidump
import CrashpadSnapshot

/// An intermediate dump, all the way: tree, rules, meaning for each architecture, minidump and back, JSON and back.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe RawSpan(_unsafeStart: data ?? UnsafePointer(bitPattern: 16)!, byteCount: size)
  let tree = DumpTree(parsing: bytes)
  _ = DumpValidator.validate(tree, in: bytes)
  for architecture in [CPUArchitecture?.none, .arm64, .x86_64] {
    var options = DumpInterpreter.Options()
    options.architecture = architecture
    options.guessesArchitecture = true
    guard let snapshot = DumpInterpreter.interpret(tree, in: bytes, options: options).snapshot else { continue }
    checkMinidump(of: snapshot, bytes)
  }
  checkJSON(of: tree, bytes)
  return 0
}

/// Dumps that we write are read without an error, and with as many threads and modules.
private func checkMinidump(of snapshot: ProcessSnapshot, _ bytes: RawSpan) {
  guard let plan = try? MinidumpWriter(snapshot, input: bytes) else { return }
  let output = MemoryOutput()
  var writer = ByteWriter(to: output)
  plan.write(to: &writer, bytes)
  try! writer.finish()
  precondition(output.bytes.count == plan.byteCount)
  let reading = unsafe MinidumpReader.read(output.bytes.span.bytes)
  precondition(reading.snapshot?.threads.count == snapshot.threads.count)
  precondition(reading.snapshot?.modules.count == snapshot.modules.count)
  precondition(reading.findings.count(of: .error) == 0)
}

/// A well-formed dump comes back from JSON byte for byte.
private func checkJSON(of tree: DumpTree, _ bytes: RawSpan) {
  guard tree.incomplete == nil else { return }
  var text: [UInt8] = []
  var json = JSONWriter(.compact) { text.append(contentsOf: $0.array()) }
  DumpJSON.write(tree, bytes, to: &json)
  try! json.finish()
  let output = MemoryOutput()
  try! unsafe DumpJSON.read(text.span.bytes, to: output)
  precondition(output.bytes == bytes.array())
}
