// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadMinidump
import CrashpadSnapshot

/// A minidump: what is read of it can be asked for, and written again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe RawSpan(_unsafeStart: data ?? UnsafePointer(bitPattern: 16)!, byteCount: size)
  guard let snapshot = MinidumpReader.read(bytes).snapshot else { return 0 }
  for thread in snapshot.threads {
    _ = snapshot.text(thread.name ?? .empty, in: bytes)
    _ = thread.context?.generalRegisters
    if let stack = thread.stack { _ = snapshot.bytes(of: stack.region.content, in: bytes) }
  }
  for module in snapshot.modules { _ = snapshot.text(module.name ?? .empty, in: bytes) }
  guard let plan = try? MinidumpWriter(snapshot, input: bytes), plan.byteCount < 1 << 24 else { return 0 }
  let output = MemoryOutput()
  var writer = ByteWriter(to: output)
  plan.write(to: &writer, bytes)
  try! writer.finish()
  precondition(output.bytes.count == plan.byteCount)
  return 0
}
