// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CCrashpadLinux
import CrashpadFiles
import Glibc
package import CrashpadSymbolication
package import SystemPackage

/// Calls `body` with the path of a file that has these bytes and is in memory only.
package func withFile(_ data: UnsafePointer<UInt8>?, _ size: Int, _ body: (FilePath) -> Void) {
  let descriptor = unsafe memfd_create("input", 1 /* MFD_CLOEXEC */)
  guard descriptor >= 0 else { return }
  defer { _ = close(descriptor) }
  guard unsafe write(descriptor, data, size) == size else { return }
  body(FilePath("/proc/self/fd/\(descriptor)"))
}

/// Makes a symbol file, which has to be one that is read without a complaint. Returns addresses that are in it.
package func written(_ source: BreakpadInput) -> [UInt64] {
  let output = MemoryOutput()
  _ = try! BreakpadWriter.write(source, BreakpadWriter.Options(), to: output)
  let file = try! BreakpadFile(InputFile(bytes: output.bytes))
  precondition(file.findings.isEmpty)
  var addresses: [UInt64] = []
  for line in output.bytes.split(separator: 0x0a).prefix(4096) {
    let words = line.prefix(64).split(separator: 0x20).prefix(4).map { String(decoding: $0, as: UTF8.self) }
    guard let first = words.first else { continue }
    let number = ["FUNC", "PUBLIC"].contains(first) ? words.dropFirst().first { $0 != "m" } : first
    if let address = number.flatMap({ UInt64($0, radix: 16) }) { addresses.append(address) }
  }
  let step = max(1, addresses.count / 48)
  return stride(from: 0, to: addresses.count, by: step).map { addresses[$0] }
}

/// Asks everything that can be asked of a file with symbols, at these offsets in the module and at some others.
package func ask(_ path: FilePath, _ offsets: [UInt64]) {
  _ = try? SymbolFileIdentity(path)
  _ = try? SymbolContents(path)
  guard let file = try? SymbolFiles.open(path) else { return }
  for offset in [0, 0x1000, 0x1040, .max] + offsets.flatMap({ [$0, $0 &+ 3] }) {
    for frame in file.symbolize(offset)?.frames ?? [] {
      if let function = frame.function { _ = Demangler.demangle(function) }
    }
    _ = file.isInFunction(offset)
    _ = file.functionAddress(offset)
    _ = file.frameRules(at: offset, .x86_64)
  }
  _ = (file.isEmpty, file.findings.count)
}
