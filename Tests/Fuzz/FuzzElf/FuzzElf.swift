// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import CrashpadSymbolication

/// An ELF file: a symbol file is made of it, and what lies at its addresses is asked for.
///
/// libelf is not compiled for fuzzing: what happens in it is not followed, but a crash ends the run too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  guard size > 64 else { return -1 }
  unsafe withFile(data, size) { path in
    let addresses = (try? BreakpadInput(path, name: "a")).map(written) ?? []
    _ = try? BreakpadInput.debugFile(of: path)
    ask(path, addresses)
  }
  return 0
}

@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32
) -> Int {
  unsafe mutate(data, size, maximum, seed, parts: Parts.elf)
}
