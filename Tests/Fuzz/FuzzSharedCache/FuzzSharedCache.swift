// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSymbolication
import DumpSynth
import FuzzSupport
import SystemPackage

/// The files of a dyld shared cache, each behind its length: everything that can be asked of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  var files: [[UInt8]] = []
  var place = 0
  while files.count < 4, let length = bytes.little(at: place, width: 4) {
    let end = min(bytes.count, place + 4 + Int(length))
    files.append(Array(bytes[(place + 4)..<end]))
    place = end
  }
  var next = 0
  let cache = try? SharedCache("/cache") { _ in
    guard next < files.count else { throw Errno.noSuchFileOrDirectory }
    defer { next += 1 }
    return InputFile(bytes: files[next])
  }
  if let cache { ask(cache) }
  if let first = files.first {
    unsafe first.withUnsafeBufferPointer { unsafe withFile($0.baseAddress, $0.count) { ask($0, []) } }
  }
  return 0
}

private func ask(_ cache: SharedCache) {
  let symbols = SharedCacheSymbols(cache)
  for image in 0..<min(cache.imageCount, 8) {
    _ = cache.imagePath(image)
    guard case .file(let file) = cache.extract(image) else { continue }
    for symbol in file.symbols().prefix(16) {
      _ = symbols.symbolize(symbol.address)
      _ = symbols.functionAddress(symbol.address)
      _ = file.caller(of: FrameRegisters(.arm64), at: symbol.address, isInnermost: true) { $0 &+ 1 }
    }
    if let source = try? BreakpadInput(file, name: "a") { _ = written(source) }
    precondition(file.findings.allSatisfy { $0.rule == MachORules.badFunctionStarts })
  }
  for address in [0, 0x1_8000_0000, 0x1_8000_1404, .max] as [UInt64] { _ = symbols.symbolize(address) }
  _ = symbols.findings
}

/// An input that is too short for a cache becomes one.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(
  _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32
) -> Int {
  guard size < 256 else { return unsafe mutate(data, size, maximum, seed, parts: parts) }
  let shapes = SynthSharedCache.Shape.allCases
  let cache = SynthSharedCache(
    shapes[Int(seed) % shapes.count], images: 1 + Int(seed / 8 % 4), functions: 4 + Int(seed / 32 % 12),
    seed: UInt64(seed))
  let bytes = cache.packed
  guard bytes.count <= maximum else { return unsafe mutate(data, size, maximum, seed) { _ in [] } }
  for index in bytes.indices { unsafe data[index] = bytes[index] }
  return bytes.count
}

/// The runs of bytes that are not zero: headers, tables and load commands.
private func parts(_ bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
  var parts: [Range<Int>] = []
  var (start, last) = (0, -64)
  for index in bytes.indices where unsafe bytes[index] != 0 {
    if index - last > 32 {
      if last >= start { parts.append(start..<min(last + 8, bytes.count)) }
      start = index
    }
    last = index
  }
  if last >= start { parts.append(start..<min(last + 8, bytes.count)) }
  return parts
}
