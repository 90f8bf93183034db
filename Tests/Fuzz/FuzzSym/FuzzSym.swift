import BinaryFormat
import FileSystem
import Symbolication

/// A symbol file: what is at addresses all over it can be asked for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  // Most of an input would go into its first line.
  var bytes = Array("MODULE Linux x86_64 000000000000000000000000000000000 a\n".utf8)
  unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: size))
  guard let file = try? SymFile(InputFile(bytes: bytes)) else { return 0 }
  var address: UInt64 = 0
  for step in 0..<64 {
    _ = file.symbolize(address)
    _ = file.isInFunction(address)
    _ = file.frameRules(at: address, step & 1 == 0 ? .x86_64 : .arm64)
    address = step < 40 ? address + 1 : address &* 3
  }
  return 0
}
