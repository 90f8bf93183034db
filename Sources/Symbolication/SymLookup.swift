internal import BinaryFormat
internal import FileSystem

/// A place in a program's source.
package struct SourceLocation: Sendable, Hashable {
  /// Without `..` in the middle, as compilers have them of their own headers.
  package let file: String?
  /// From 1 on; 0 if it is not known.
  package let line: UInt64
  /// From 1 on; 0 if it is not known.
  package let column: UInt64

  package init(file: String?, line: UInt64, column: UInt64 = 0) {
    self.file = file.map(Self.tidied)
    self.line = line
    self.column = column
  }

  /// `/usr/lib/gcc/../include/a.h` becomes `/usr/lib/include/a.h`. A symbolic link before `..` would lead elsewhere, but
  /// the path is of another machine, and people read it. What leads a path stays: `../a.c`
  static func tidied(_ path: String) -> String {
    let bytes = path.utf8
    guard let first = bytes.firstIndex(of: UInt8(ascii: "/")), path[first...].contains("/../") else { return path }
    var parts: [Substring] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false) {
      if part == "..", let last = parts.last, last != "..", last != ".", !last.isEmpty {
        parts.removeLast()
        // What is left of `a/../b` begins with b, and not with the root.
        continue
      }
      parts.append(part)
    }
    return parts.joined(separator: "/")
  }
}

/// What an address is in its module.
package struct SymbolizedAddress: Sendable, Hashable {
  /// One function that the address is in. Inlined calls give several.
  package struct Frame: Sendable, Hashable {
    /// As the symbols have it, mangled or not; nil if only the place is known.
    package let function: String?
    /// As people write it; the same if it was not mangled, or nobody asked for that.
    package internal(set) var name: String?
    package let location: SourceLocation?

    package init(function: String?, location: SourceLocation?) {
      self.function = function
      name = function
      self.location = location
    }
  }

  /// From the innermost inlined function to the one that was compiled as such, which is the last.
  package internal(set) var frames: [Frame]
  /// Where the compiled function begins, relative to the module.
  package let functionAddress: UInt64
  /// Whether the name is only that of the nearest symbol before, which may be another function's.
  package let isNearest: Bool

  package init(frames: [Frame], functionAddress: UInt64, isNearest: Bool) {
    self.frames = frames
    self.functionAddress = functionAddress
    self.isNearest = isNearest
  }
}

extension SymbolizedAddress {
  /// With the address of the function as an offset.
  func relative(to base: UInt64) -> SymbolizedAddress {
    SymbolizedAddress(frames: frames, functionAddress: functionAddress &- base, isNearest: isNearest)
  }
}

extension SymFile {
  /// What lies at `address`, relative to the module; nil if no symbol is near.
  package func symbolize(_ address: UInt64) -> SymbolizedAddress? {
    file.withBytes { bytes in
      if let function = functions.entry(containing: address) { return inFunction(function, address, bytes) }
      guard let symbol = publics.last(atOrBefore: address) else { return nil }
      // A function that ended before says that what follows is not the symbol's either.
      if let before = functions.last(atOrBefore: address), before.address >= symbol.address { return nil }
      var line = LineReader(at: symbol.offset, in: bytes)
      _ = line.skip("PUBLIC ", in: bytes)
      line.skipMultiple(in: bytes)
      _ = line.hexadecimal(in: bytes)
      _ = line.hexadecimal(in: bytes)
      let frame = SymbolizedAddress.Frame(function: bytes.name(in: line.rest), location: nil)
      return SymbolizedAddress(frames: [frame], functionAddress: symbol.address, isNearest: true)
    }
  }

  /// Whether `address` lies in a function; cheaper than its name.
  package func isInFunction(_ address: UInt64) -> Bool {
    functions.entry(containing: address) != nil || publics.last(atOrBefore: address) != nil
  }

  /// Where the function that `address` lies in begins; nil if it is in none.
  func functionAddress(_ address: UInt64) -> UInt64? {
    functions.entry(containing: address)?.address ?? publics.last(atOrBefore: address)?.address
  }

  /// An inlined call that the address lies in.
  private struct InlinedCall {
    let origin: UInt64
    let callFile: UInt64
    let callLine: UInt64
  }

  private func inFunction(_ function: Entry, _ address: UInt64, _ bytes: RawSpan) -> SymbolizedAddress {
    var header = LineReader(at: function.offset, in: bytes)
    _ = header.skip("FUNC ", in: bytes)
    header.skipMultiple(in: bytes)
    for _ in 0..<3 { _ = header.hexadecimal(in: bytes) }
    let name = bytes.name(in: header.rest)

    var calls: [UInt64: InlinedCall] = [:]
    var place: (file: UInt64, line: UInt64)?
    var offset = bytes.lineEnd(from: function.offset) + 1
    while offset < bytes.byteCount {
      var line = LineReader(at: offset, in: bytes)
      offset = bytes.lineEnd(from: offset) + 1
      if line.skip("INLINE ", in: bytes) {
        if let (level, call) = Self.inlined(&line, address, bytes) { calls[level] = call }
        continue
      }
      // The function's lines end where another record begins.
      guard let start = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) else { break }
      guard place == nil, address >= start, address - start < size else { continue }
      guard let number = line.decimal(in: bytes), let file = line.decimal(in: bytes) else { continue }
      place = (file, number)
    }
    return SymbolizedAddress(
      frames: frames(name, calls, place, bytes), functionAddress: function.address, isNearest: false)
  }

  /// Nil if the address is in none of its ranges, or the record can't be read.
  private static func inlined(_ line: inout LineReader, _ address: UInt64, _ bytes: RawSpan) -> (
    level: UInt64, call: InlinedCall
  )? {
    guard let level = line.decimal(in: bytes), let callLine = line.decimal(in: bytes),
      let callFile = line.decimal(in: bytes), let origin = line.decimal(in: bytes)
    else { return nil }
    while let start = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) {
      if address >= start, address - start < size {
        return (level, InlinedCall(origin: origin, callFile: callFile, callLine: callLine))
      }
    }
    return nil
  }

  /// Calls nest no deeper in any real file; each is a frame with a name.
  private static let maximumDepth: UInt64 = 200

  private func frames(
    _ name: String, _ calls: [UInt64: InlinedCall], _ place: (file: UInt64, line: UInt64)?, _ bytes: RawSpan
  ) -> [SymbolizedAddress.Frame] {
    var frames: [SymbolizedAddress.Frame] = []
    var location = place.map { SourceLocation(file: text(files[$0.file], bytes), line: $0.line) }
    var depth: UInt64 = 0
    while depth < Self.maximumDepth, calls[depth] != nil { depth += 1 }
    while depth > 0, let call = calls[depth - 1] {
      depth -= 1
      frames.append(
        SymbolizedAddress.Frame(function: text(inlineOrigins[call.origin], bytes), location: location))
      location = SourceLocation(file: text(files[call.callFile], bytes), line: call.callLine)
    }
    frames.append(SymbolizedAddress.Frame(function: name, location: location))
    return frames
  }

  /// What stands from `offset` to the end of its line.
  private func text(_ offset: Int?, _ bytes: RawSpan) -> String? {
    offset.map { bytes.name(in: LineReader(at: $0, in: bytes).rest) }
  }
}
