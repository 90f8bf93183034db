// SPDX-License-Identifier: Apache-2.0
/// The parts of a file whose contents are worth changing while its headers stay as they are: most changes to headers only
/// make a file that no reader reads any further.
package enum Parts {
  /// Symbols, debug information and descriptions of frames in an ELF file for 64 bits, little endian.
  package static func elf(_ bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
    let file = unsafe Image(bytes)
    guard file.number(0, 4) == 0x464c_457f, let table = file.number(40, 8), let size = file.number(58, 2), size >= 64,
      let count = file.number(60, 2), let last = file.number(62, 2),
      let names = file.number(table + last * size + 24, 8)
    else { return [] }
    var parts: [Range<Int>] = []
    for index in 0..<count {
      let header = table + index * size
      guard let name = file.number(header, 4), let type = file.number(header + 4, 4), type != 8,
        let start = file.number(header + 24, 8), let length = file.number(header + 32, 8)
      else { continue }
      let text = file.text(names &+ name)
      let isWanted = [".debug", ".zdebug", ".eh_frame", ".symtab", ".dynsym", ".gnu_debug"].contains {
        text.hasPrefix($0)
      }
      if isWanted, let part = file.range(start, length) { parts.append(part) }
    }
    return parts
  }

  /// The same of a Mach-O file for 64 bits, or of each slice of a universal one.
  package static func machO(_ bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
    let file = unsafe Image(bytes)
    guard file.number(0, 4) == 0xbeba_feca, let count = file.number(4, 4)?.swapped else { return slice(file, 0) }
    return (0..<min(count, 8)).flatMap { index in
      file.number(8 + 20 * index + 8, 4).map { slice(file, $0.swapped) } ?? []
    }
  }

  private static func slice(_ file: Image, _ base: Int) -> [Range<Int>] {
    guard file.number(base, 4) == 0xfeed_facf, let count = file.number(base + 16, 4) else { return [] }
    var parts: [Range<Int>] = []
    func add(_ start: Int?, _ length: Int?) {
      if let start, let length, let part = file.range(base + start, length) { parts.append(part) }
    }
    var command = base + 32
    for _ in 0..<min(count, 64) {
      guard let size = file.number(command + 4, 4), size >= 8 else { break }
      switch file.number(command, 4) {
      // LC_SEGMENT_64
      case 0x19:
        for section in 0..<min(file.number(command + 64, 4) ?? 0, 64) {
          let header = command + 72 + section * 80
          let isWanted = ["__debug", "__apple", "__unwind", "__eh_frame"].contains { file.text(header).hasPrefix($0) }
          if isWanted { add(file.number(header + 48, 4), file.number(header + 40, 8)) }
        }
      // LC_SYMTAB
      case 0x02:
        add(file.number(command + 8, 4), file.number(command + 12, 4).map { $0 * 16 })
        add(file.number(command + 16, 4), file.number(command + 20, 4))
      // LC_FUNCTION_STARTS
      case 0x26: add(file.number(command + 8, 4), file.number(command + 12, 4))
      default: break
      }
      command += size
    }
    return parts
  }
}

extension Int {
  /// The values of four bytes.
  fileprivate var swapped: Int { Int(UInt32(truncatingIfNeeded: self).byteSwapped) }
}

/// Bytes that need not be what they should be.
@safe
private struct Image {
  let bytes: UnsafeBufferPointer<UInt8>

  init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = unsafe bytes }

  /// Nil for what is not there, and for numbers that no small file has.
  func number(_ offset: Int, _ width: Int) -> Int? {
    guard let range = range(offset, width) else { return nil }
    var value: UInt64 = 0
    for index in range.reversed() { value = value << 8 | UInt64(unsafe bytes[index]) }
    return value <= 0xffff_ffff ? Int(value) : nil
  }

  func range(_ start: Int, _ length: Int) -> Range<Int>? {
    guard start >= 0, length > 0, unsafe start <= bytes.count, unsafe length <= bytes.count - start else { return nil }
    return start..<start + length
  }

  /// The first 16 bytes of a name.
  func text(_ offset: Int) -> String {
    var text: [UInt8] = []
    while text.count < 16, let byte = number(offset + text.count, 1), byte != 0 { text.append(UInt8(byte)) }
    return String(decoding: text, as: UTF8.self)
  }
}
