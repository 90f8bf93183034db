// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import IntermediateDump
import CrashpadJSON

/// JSON text: what it describes is a dump that reads back and gives the same JSON again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let text = unsafe RawSpan(_unsafeStart: data ?? UnsafePointer(bitPattern: 16)!, byteCount: size)
  let dump = MemoryOutput()
  guard (try? DumpJSON.read(text, to: dump)) != nil else { return 0 }
  let described = dump.bytes
  let bytes = unsafe described.span.bytes
  let tree = DumpTree(parsing: bytes)
  guard tree.incomplete == nil else { return 0 }
  var again: [UInt8] = []
  var json = JSONWriter(.indented) { again.append(contentsOf: $0.array()) }
  DumpJSON.write(tree, bytes, to: &json)
  try! json.finish()
  let second = MemoryOutput()
  try! unsafe DumpJSON.read(again.span.bytes, to: second)
  precondition(second.bytes == described)
  return 0
}
