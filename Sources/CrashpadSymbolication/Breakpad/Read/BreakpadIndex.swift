// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Rules of Breakpad's symbol files.
package enum BreakpadRules {
  package static let badRecord = Rule(
    "bad-symbol-record", .warning, "A record of a symbol file can't be read; it is left out")

  package static let all = [badRecord]
}

/// Indexes the records of a symbol file that begin ranges or define names, in one pass.
struct BreakpadIndex {
  var functions: [BreakpadFile.Entry] = []
  var publics: [BreakpadFile.Entry] = []
  var frameRules: [BreakpadFile.Entry] = []
  var windowsFrames = BreakpadFile.WindowsFrames()
  var files = NameTable()
  var inlineOrigins = NameTable()
  var findings = FindingList()

  /// The parts of the MODULE record at the beginning.
  static func module(_ bytes: RawSpan) -> (
    operatingSystem: String, architecture: String, debugID: String, name: String
  )? {
    var line = TextLineReader(at: 0, in: bytes)
    guard line.skip("MODULE ", in: bytes), let system = line.word(in: bytes), let architecture = line.word(in: bytes),
      let id = line.word(in: bytes)
    else { return nil }
    return (
      bytes.text(in: system), bytes.text(in: architecture), bytes.text(in: id).uppercased(), bytes.text(in: line.rest)
    )
  }

  mutating func read(_ bytes: RawSpan) {
    // A line record takes about 15 bytes, and a function has several lines.
    functions.reserveCapacity(bytes.byteCount / 700)
    var offset = 0
    while offset < bytes.byteCount {
      let end = bytes.lineEnd(from: offset)
      switch bytes.uint8(at: offset) {
      case UInt8(ascii: "F"): readFile(bytes, offset, end)
      case UInt8(ascii: "P"): readPublic(bytes, offset)
      case UInt8(ascii: "S"): readStack(bytes, offset)
      case UInt8(ascii: "I"): readOrigin(bytes, offset)
      // Line records and unknown ones
      default: break
      }
      offset = end + 1
    }
  }

  private mutating func readFile(_ bytes: RawSpan, _ offset: Int, _ end: Int) {
    var line = TextLineReader(at: offset, in: bytes)
    if line.skip("FUNC ", in: bytes) {
      line.skipMultiple(in: bytes)
      guard let address = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) else {
        return complain(offset)
      }
      let (last, overflow) = address.addingReportingOverflow(size)
      functions.append(BreakpadFile.Entry(address: address, end: overflow ? .max : last, offset: offset))
    } else if line.skip("FILE ", in: bytes) {
      guard let number = line.decimal(in: bytes) else { return complain(offset) }
      files.set(number, line.offset)
    }
  }

  private mutating func readPublic(_ bytes: RawSpan, _ offset: Int) {
    var line = TextLineReader(at: offset, in: bytes)
    guard line.skip("PUBLIC ", in: bytes) else { return }
    line.skipMultiple(in: bytes)
    guard let address = line.hexadecimal(in: bytes) else { return complain(offset) }
    publics.append(BreakpadFile.Entry(address: address, end: .max, offset: offset))
  }

  private mutating func readStack(_ bytes: RawSpan, _ offset: Int) {
    var line = TextLineReader(at: offset, in: bytes)
    if line.skip("STACK WIN ", in: bytes) { return readWindowsFrame(&line, bytes, offset) }
    guard line.skip("STACK CFI INIT ", in: bytes) else { return }
    guard let address = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) else {
      return complain(offset)
    }
    let (last, overflow) = address.addingReportingOverflow(size)
    frameRules.append(BreakpadFile.Entry(address: address, end: overflow ? .max : last, offset: offset))
  }

  private mutating func readWindowsFrame(_ line: inout TextLineReader, _ bytes: RawSpan, _ offset: Int) {
    guard let type = line.hexadecimal(in: bytes), let address = line.hexadecimal(in: bytes),
      let size = line.hexadecimal(in: bytes)
    else { return complain(offset) }
    let (end, overflow) = address.addingReportingOverflow(size)
    windowsFrames.add(type, address..<(overflow ? .max : end), offset)
  }

  private mutating func readOrigin(_ bytes: RawSpan, _ offset: Int) {
    var line = TextLineReader(at: offset, in: bytes)
    guard line.skip("INLINE_ORIGIN ", in: bytes) else { return }
    guard let number = line.decimal(in: bytes) else { return complain(offset) }
    inlineOrigins.set(number, line.offset)
  }

  private mutating func complain(_ offset: Int) { findings.append(Finding(BreakpadRules.badRecord, at: offset)) }
}
