// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadElfCore
import DumpSynth
import FuzzSupport
import CrashpadMinidump
import CrashpadSnapshot

/// A core: what is read of it can be asked for, and its minidump says the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe RawSpan(_unsafeStart: data ?? UnsafePointer(bitPattern: 16)!, byteCount: size)
  guard let snapshot = CoreReader.read(bytes).snapshot else { return 0 }
  for thread in snapshot.threads {
    _ = snapshot.text(thread.name ?? .empty, in: bytes)
    _ = thread.context?.generalRegisters
    if let stack = thread.stack { _ = snapshot.bytes(of: stack.region.content, in: bytes) }
  }
  for module in snapshot.modules {
    _ = snapshot.text(module.name ?? .empty, in: bytes)
    if case .buildID(let id)? = module.identity { _ = snapshot.bytes(of: id, in: bytes) }
  }
  if let linux = snapshot.linux {
    for text in [linux.commandLine, linux.environment, linux.auxiliaryVector, linux.maps, linux.processStatus] {
      _ = snapshot.text(text ?? .empty, in: bytes)
    }
  }
  for selection in MemorySelection.allCases { check(snapshot, selection, bytes) }
  return 0
}

private func check(_ whole: ProcessSnapshot, _ selection: MemorySelection, _ bytes: RawSpan) {
  var snapshot = whole
  snapshot.reduceMemory(to: selection, in: bytes)
  // Two threads may have one stack, each with its own copy in the minidump.
  guard let plan = try? MinidumpWriter(snapshot, input: bytes), plan.byteCount < 1 << 24 else { return }
  let output = MemoryOutput()
  var writer = ByteWriter(to: output)
  plan.write(to: &writer, bytes)
  try! writer.finish()
  precondition(output.bytes.count == plan.byteCount)
  let again = unsafe MinidumpReader.read(output.bytes.span.bytes).snapshot
  precondition(again?.threads.count == snapshot.threads.count)
  precondition(again?.modules.count == snapshot.modules.count)
  for (a, b) in zip(snapshot.threads, again?.threads ?? []) {
    precondition(a.context?.instructionPointer == b.context?.instructionPointer)
    precondition(a.stack?.region.content.count == b.stack?.region.content.count)
  }
}

/// An input that is too short for a core becomes one.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32
) -> Int {
  guard size < 64 else { return unsafe mutate(data, size, maximum, seed) { _ in [] } }
  let machines = SynthCore.Machine.allCases
  var core = SynthCore(machines[Int(seed) % machines.count], threads: 1 + Int(seed / 16 % 3))
  core.hasExtendedCount = seed & 4 != 0
  let bytes = core.bytes
  guard bytes.count <= maximum else { return size }
  for (index, byte) in bytes.enumerated() { unsafe data[index] = byte }
  return bytes.count
}
