// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSymbolication

/// A symbol file, with or without its first line: everything that can be asked of it, at the addresses that its records name
/// and at others.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let input = unsafe UnsafeBufferPointer(start: data, count: size)
  // Most of a short input would go into its first line.
  var bytes: [UInt8] = []
  let magic = Array("MODULE ".utf8)
  if unsafe !input.starts(with: magic) {
    bytes += Array("MODULE Linux x86_64 000000000000000000000000000000000 a\n".utf8)
  }
  unsafe bytes.append(contentsOf: input)
  guard let file = try? BreakpadFile(InputFile(bytes: bytes)) else { return 0 }
  let addresses = addresses(in: bytes)
  for address in addresses {
    ask(file, address)
    ask(file, address &+ 1)
    ask(file, address &- 1)
  }
  var address: UInt64 = 0
  for step in 0..<32 {
    ask(file, address)
    address = step < 16 ? address + 1 : address &* 3
  }
  _ = (file.isEmpty, file.imageBase, file.findings.count)
  return 0
}

private func ask(_ file: BreakpadFile, _ address: UInt64) {
  for frame in file.symbolize(address)?.frames ?? [] {
    if let function = frame.function { _ = Demangler.demangle(function) }
  }
  _ = file.isInFunction(address)
  _ = file.functionAddress(address)
  _ = file.frameRules(at: address, address & 1 == 0 ? .x86_64 : .arm64)
}

/// The hexadecimal numbers that the first lines have as one of their first words.
private func addresses(in bytes: [UInt8]) -> [UInt64] {
  var addresses: [UInt64] = []
  for line in bytes.split(separator: 0x0a, maxSplits: 256).prefix(256) {
    for word in line.prefix(64).split(separator: 0x20).prefix(4) {
      guard let address = UInt64(String(decoding: word, as: UTF8.self), radix: 16) else { continue }
      addresses.append(address)
      break
    }
  }
  return Array(addresses.prefix(48))
}
