// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Walks a minidump from its header on, with the format's numbers spelled here once more, and notes each object's place.
struct LayoutReader {
  struct Place: Equatable {
    let name: String
    let range: Range<Int>
    let alignment: Int
  }

  let bytes: [UInt8]
  /// Type, size and RVA of each stream, in the order of the directory.
  private(set) var streams: [(type: UInt32, size: Int, rva: Int)] = []
  private(set) var places: [Place] = []
  /// The parts that do not follow the format.
  private(set) var faults: [String] = []
  private let isAMD64: Bool

  init(_ bytes: [UInt8], isAMD64: Bool) {
    self.bytes = bytes
    self.isAMD64 = isAMD64
    note("header", 0, 32)
    note("directory", number(12), 12 * number(8))
    for index in 0..<number(8) {
      let entry = number(12) + 12 * index
      streams.append((UInt32(number(entry)), number(entry + 4), number(entry + 8)))
    }
    for stream in streams { read(stream) }
  }

  func number(_ offset: Int, _ width: Int = 4) -> Int {
    Int(truncatingIfNeeded: bytes.little(at: offset, width: width) ?? 0)
  }

  func stream(_ type: UInt32) -> Int? { streams.first { $0.type == type }?.rva }

  private mutating func note(_ name: String, _ offset: Int, _ size: Int, _ alignment: Int = 4) {
    guard size > 0 else { return }
    if offset < 0 || offset + size > bytes.count { faults.append("\(name) lies outside: \(offset), \(size)") }
    if !offset.isMultiple(of: alignment) { faults.append("\(name) is not aligned: \(offset)") }
    places.append(Place(name: name, range: offset..<offset + size, alignment: alignment))
  }

  private mutating func expect(_ condition: Bool, _ fault: String) { if !condition { faults.append(fault) } }

  private mutating func utf16(_ name: String, _ rva: Int) { note(name, rva, 4 + number(rva) + 2) }
  private mutating func utf8(_ name: String, _ rva: Int) { note(name, rva, 4 + number(rva) + 1) }

  private mutating func read(_ stream: (type: UInt32, size: Int, rva: Int)) {
    let rva = stream.rva
    note("stream \(stream.type)", rva, stream.size)
    switch stream.type {
    case 3:
      expect(stream.size == 4 + 48 * number(rva), "size of ThreadList")
      for index in 0..<number(rva) {
        let thread = rva + 4 + 48 * index
        expect(number(thread + 40) == (isAMD64 ? 1232 : 912), "size of context \(index)")
        note("context \(index)", number(thread + 44), number(thread + 40), isAMD64 ? 16 : 4)
      }
    case 4:
      expect(stream.size == 4 + 108 * number(rva), "size of ModuleList")
      for index in 0..<number(rva) {
        let module = rva + 4 + 108 * index
        utf16("module name \(index)", number(module + 20))
        note("CodeView \(index)", number(module + 80), number(module + 76))
      }
    case 5:
      expect(stream.size == 4 + 16 * number(rva), "size of MemoryList")
      for index in 0..<number(rva) {
        let memory = rva + 4 + 16 * index
        note("memory \(index)", number(memory + 12), number(memory + 8), 16)
      }
    case 6:
      expect(stream.size == 168, "size of Exception")
      note("exception context", number(rva + 164), number(rva + 160), isAMD64 ? 16 : 4)
    case 7: utf16("CSDVersion", number(rva + 24))
    case 15: expect(stream.size == 832 && number(rva) == 832, "size of MiscInfo")
    case 24:
      expect(stream.size == 4 + 12 * number(rva), "size of ThreadNames")
      for index in 0..<number(rva) { utf16("thread name \(index)", number(rva + 4 + 12 * index + 4, 8)) }
    case 0x4350_0001:
      dictionary("annotations", number(rva + 36), number(rva + 40))
      moduleInfos(number(rva + 44), number(rva + 48))
    default: faults.append("unknown stream \(stream.type)")
    }
  }

  private mutating func dictionary(_ name: String, _ size: Int, _ rva: Int) {
    guard rva != 0 else { return }
    expect(size == 4 + 8 * number(rva), "size of \(name)")
    note(name, rva, size)
    for index in 0..<number(rva) {
      utf8("\(name) key \(index)", number(rva + 4 + 8 * index))
      utf8("\(name) value \(index)", number(rva + 8 + 8 * index))
    }
  }

  private mutating func moduleInfos(_ size: Int, _ rva: Int) {
    guard rva != 0 else { return }
    expect(size == 4 + 12 * number(rva), "size of the list of module infos")
    note("module infos", rva, size)
    for index in 0..<number(rva) {
      let info = number(rva + 4 + 12 * index + 8)
      note("module info \(index)", info, number(rva + 4 + 12 * index + 4))
      if number(info + 8) != 0 {
        note("messages \(index)", number(info + 8), number(info + 4))
        for text in 0..<number(number(info + 8)) {
          utf8("message \(index).\(text)", number(number(info + 8) + 4 + 4 * text))
        }
      }
      dictionary("annotations of module \(index)", number(info + 12), number(info + 16))
      guard number(info + 24) != 0 else { continue }
      let objects = number(info + 24)
      note("objects \(index)", objects, number(info + 20))
      for object in 0..<number(objects) {
        utf8("object name \(index).\(object)", number(objects + 4 + 12 * object))
        let value = number(objects + 4 + 12 * object + 8)
        note("object value \(index).\(object)", value, 4 + number(value))
      }
    }
  }

  /// The text of a MINIDUMP_STRING.
  func utf16Text(_ rva: Int) -> String {
    String(decoding: (0..<number(rva) / 2).map { UInt16(number(rva + 4 + 2 * $0, 2)) }, as: UTF16.self)
  }

  func utf8Text(_ rva: Int) -> String { String(decoding: bytes[rva + 4..<rva + 4 + number(rva)], as: UTF8.self) }
}
