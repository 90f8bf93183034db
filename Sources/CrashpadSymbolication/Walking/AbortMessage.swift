// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot

/// The message that glibc keeps in the memory of a process which it aborts: of an assertion that failed, or of a damaged heap.
///
/// The handler's dumps have it as a message of the library; a core has it where the library's pointer leads.
/// Source: glibc, `struct abort_msg_s` in include/stdlib.h.
package struct AbortMessage: Sendable, Hashable {
  /// The index of the library in the snapshot's list.
  package let module: Int
  package let text: String

  private static let pointer = "__abort_msg"
  /// The size, and the longest text that is read.
  private static let headerSize: UInt64 = 4
  private static let longest: UInt64 = 4096

  /// Nil without a message, without the library's symbols, and for a dump whose modules have messages.
  package init?(_ snapshot: ProcessSnapshot, _ file: InputFile, _ modules: [Symbolization.Module]) {
    guard snapshot.report == nil, snapshot.system.operatingSystem == .linux, snapshot.exception?.code == Self.abort,
      snapshot.modules.allSatisfy({ $0.messages.isEmpty })
    else { return nil }
    let memory = WalkedMemory(snapshot, file)
    for module in modules {
      guard Self.isLibrary(module.identity.path), let address = snapshot.modules[module.index].address,
        let offset = module.symbols?.offset(ofSymbol: [Self.pointer]), let place = memory.word(address &+ offset),
        place != 0, let text = Self.text(at: place, memory)
      else { continue }
      (self.module, self.text) = (module.index, text)
      return
    }
    return nil
  }

  private static let abort: UInt32 = 6

  private static func isLibrary(_ path: String) -> Bool {
    let name = lastPathComponent(path)
    return name.hasPrefix("libc.so.") || name.hasPrefix("libc-2.")
  }

  private static func text(at place: UInt64, _ memory: WalkedMemory) -> String? {
    guard let size = memory.halfWord(place), size > headerSize else { return nil }
    var bytes: [UInt8] = []
    while UInt64(bytes.count) < min(size - headerSize, longest),
      let word = memory.halfWord(place &+ headerSize &+ UInt64(bytes.count))
    {
      let part = (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
      bytes += part.prefix { $0 != 0 }
      if part.contains(0) { break }
    }
    while let last = bytes.last, last == 0x0a || last == 0x20 { bytes.removeLast() }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

extension Symbolization {
  /// The message that glibc left in the memory of a core. Nil if glibc left no message, or the dump has the message in a module.
  package func abortMessage(_ snapshot: ProcessSnapshot, _ file: InputFile) -> AbortMessage? {
    AbortMessage(snapshot, file, modules)
  }
}
