// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import FuzzSupport
import CrashpadSymbolication

/// A Mach-O file, plain or universal: everything that can be asked of it, and its names demangled.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  let input = InputFile(bytes: bytes)
  var files = MachOFile.slices(of: input).slices.prefix(4).compactMap { try? MachOFile(input, in: $0.range) }
  if let whole = try? MachOFile(input) { files.append(whole) }
  var addresses: [UInt64] = []
  for file in files {
    let symbols = file.symbols()
    for symbol in symbols.prefix(16) { _ = Demangler.demangle(symbol.name) }
    let places = [0, file.textAddress, file.textAddress &+ 0x1000, .max] + symbols.prefix(8).map(\.address)
    for address in places + file.functionStarts.prefix(8) {
      _ = file.symbol(containing: address)
      _ = file.function(containing: address)
      var registers = FrameRegisters(file.architecture.isX86_64 ? .x86_64 : .arm64)
      (registers.stackPointer, registers.framePointer, registers.link) = (address, .max - 3, 8)
      _ = file.caller(of: registers, at: address, isInnermost: true) { $0 &+ 1 }
      _ = file.caller(of: registers, at: address, isInnermost: false) { $0 &+ 1 }
    }
    if let source = try? BreakpadInput(file, name: "a") { addresses += written(source).prefix(16) }
    _ = file.findings
  }
  unsafe withFile(data, size) { ask($0, addresses) }
  if size < 4096 { _ = Demangler.demangle(String(decoding: bytes, as: UTF8.self)) }
  return 0
}

@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32
) -> Int {
  unsafe mutate(data, size, maximum, seed, parts: Parts.machO)
}
