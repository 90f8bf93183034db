// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The object files of which a program was linked, and the functions of each: Apple's linkers leave the debug information in
/// them, and write where each function went. Source: Apple's `mach-o/stab.h`.
struct MachODebugMap: Sendable {
  struct Object: Sendable {
    /// The path when the program was linked: "/src/a.o", or "/src/lib.a(a.o)" for one in an archive.
    let path: String
    /// In seconds since 1970; 0 if the linker did not write it.
    let time: UInt64
    /// Its functions in the program, by their names.
    var functions: Range<Int>
  }

  struct Function: Sendable {
    let address: UInt64
    let size: UInt64
    /// The offset in the string table.
    let name: UInt32
    let object: Int
  }

  private(set) var objects: [Object] = []
  /// In the order of the table: those of an object are together.
  private(set) var functions: [Function] = []
  /// The functions by their addresses.
  private var order: [Int] = []
  private let file: MachOFile

  /// Nil if the file names no objects.
  init?(_ file: MachOFile) {
    guard let table = file.symbolTable else { return nil }
    self.file = file
    file.file.withBytes { bytes in read(table, bytes) }
    if objects.isEmpty { return nil }
    order = functions.indices.sorted { functions[$0].address < functions[$1].address }
  }

  private mutating func read(_ table: MachOSymbolTable, _ bytes: RawSpan) {
    let strings = bytes.extracting(table.strings.offset..<table.strings.end)
    var isInObject = false
    var open: (address: UInt64, name: UInt32)?
    for place in stride(from: table.entries.offset, to: table.entries.end, by: table.entrySize) {
      let (name, type) = (bytes.uint32(at: place), bytes.uint8(at: place + 4))
      let value = file.addressSize == 4 ? UInt64(bytes.uint32(at: place + 8)) : bytes.uint64(at: place + 8)
      switch type {
      // N_OSO
      case 0x66:
        let path = strings.string(at: UInt64(name)) ?? ""
        isInObject = !path.isEmpty
        if isInObject {
          objects.append(Object(path: path, time: value, functions: functions.count..<functions.count))
        }
      // N_SO: the end of an object, or the start of the next one
      case 0x64: isInObject = false
      // N_FUN: a name and an address, and then the size
      case 0x24 where isInObject:
        guard let first = open else {
          open = (value, name)
          continue
        }
        open = nil
        add(first.address, value, first.name)
      default: break
      }
      if type != 0x24 { open = nil }
    }
  }

  private mutating func add(_ address: UInt64, _ size: UInt64, _ name: UInt32) {
    functions.append(Function(address: address, size: size, name: name, object: objects.count - 1))
    let last = objects.count - 1
    objects[last].functions = objects[last].functions.lowerBound..<functions.count
  }

  /// The function that contains an address; nil if there is none.
  func function(containing address: UInt64) -> Function? {
    let next = order.indices.partitioningIndex { functions[order[$0]].address > address }
    guard next > 0 else { return nil }
    let function = functions[order[next - 1]]
    return address - function.address < function.size ? function : nil
  }

  /// The name in the symbol table of the program and of the object.
  func name(_ function: Function) -> String? {
    guard let table = file.symbolTable else { return nil }
    return file.file.withBytes { bytes in
      bytes.extracting(table.strings.offset..<table.strings.end).string(at: UInt64(function.name))
    }
  }
}

extension MachOFile {
  /// The addresses of the symbols of an object file by their names; nil for a name of several.
  func addressesByName() -> [String: UInt64?] {
    guard let table = symbolTable else { return [:] }
    return file.withBytes { bytes in
      let strings = bytes.extracting(table.strings.offset..<table.strings.end)
      var addresses: [String: UInt64?] = [:]
      // In a hostile file, all symbols may share one name that is as long as the file.
      var room = 1 << 20 + 4 * strings.byteCount
      for place in stride(from: table.entries.offset, to: table.entries.end, by: table.entrySize) {
        let type = bytes.uint8(at: place + 4)
        guard type & 0xe0 == 0, type & 0x0e == 0x0e, room > 0,
          let name = strings.string(at: UInt64(bytes.uint32(at: place)))
        else { continue }
        room -= name.utf8.count
        let address = addressSize == 4 ? UInt64(bytes.uint32(at: place + 8)) : bytes.uint64(at: place + 8)
        if let known = addresses[name], known != address {
          addresses[name] = .some(nil)
        } else {
          addresses[name] = address
        }
      }
      return addresses
    }
  }
}
