// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

extension BreakpadFile: SymbolFile {
  package var imageBase: UInt64 { 0 }
  package var isEmpty: Bool { functions.isEmpty && publics.isEmpty }
  package var hasDebugInfo: Bool { true }
  package var hasOwnFrameRules: Bool { false }

  package func symbolize(_ address: UInt64) -> SymbolizedAddress? {
    file.withBytes { bytes in
      if let function = functions.entry(containing: address) { return inFunction(function, address, bytes) }
      guard let symbol = publics.last(atOrBefore: address) else { return nil }
      // If a function begins at or after the symbol and ends before the address, the address is not in the symbol
      // either.
      if let before = functions.last(atOrBefore: address), before.address >= symbol.address { return nil }
      var line = TextLineReader(at: symbol.offset, in: bytes)
      _ = line.skip("PUBLIC ", in: bytes)
      line.skipMultiple(in: bytes)
      _ = line.hexadecimal(in: bytes)
      _ = line.hexadecimal(in: bytes)
      guard let name = bytes.name(in: line.rest) else { return nil }
      let frame = SymbolizedAddress.Frame(function: name, location: nil)
      return SymbolizedAddress(frames: [frame], functionAddress: symbol.address, isNearest: true)
    }
  }

  package func isInFunction(_ address: UInt64) -> Bool {
    functions.entry(containing: address) != nil || publics.last(atOrBefore: address) != nil
  }

  package func functionAddress(_ address: UInt64) -> UInt64? {
    functions.entry(containing: address)?.address ?? publics.last(atOrBefore: address)?.address
  }

  /// An inlined call at the address.
  private struct InlinedCall {
    let origin: UInt64
    let callFile: UInt64
    let callLine: UInt64
  }

  /// Nil if neither a name nor a line is known.
  private func inFunction(_ function: BreakpadIndex.Entry, _ address: UInt64, _ bytes: RawSpan) -> SymbolizedAddress? {
    var header = TextLineReader(at: function.offset, in: bytes)
    _ = header.skip("FUNC ", in: bytes)
    header.skipMultiple(in: bytes)
    for _ in 0..<3 { _ = header.hexadecimal(in: bytes) }
    let name = bytes.name(in: header.rest)

    var calls: [UInt64: InlinedCall] = [:]
    var place: (file: UInt64, line: UInt64)?
    var offset = bytes.lineEnd(from: function.offset) + 1
    while offset < bytes.byteCount {
      var line = TextLineReader(at: offset, in: bytes)
      offset = bytes.lineEnd(from: offset) + 1
      if line.skip("INLINE ", in: bytes) {
        if let (level, call) = Self.inlined(&line, address, bytes) { calls[level] = call }
        continue
      }
      // Another record ends the lines of the function.
      guard let start = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) else { break }
      guard place == nil, address >= start, address - start < size else { continue }
      guard let number = line.decimal(in: bytes), let file = line.decimal(in: bytes) else { continue }
      place = (file, number)
    }
    let frames = frames(name, calls, place, bytes)
    guard frames.contains(where: { $0.function != nil || $0.location != nil }) else { return nil }
    return SymbolizedAddress(frames: frames, functionAddress: function.address, isNearest: false)
  }

  /// Nil if the address is in none of the call's ranges, or the record can't be read.
  private static func inlined(_ line: inout TextLineReader, _ address: UInt64, _ bytes: RawSpan) -> (
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

  /// The maximum nesting of calls; real files have less. Each call becomes a frame with a name.
  private static let maximumDepth: UInt64 = 200

  private func frames(
    _ name: String?, _ calls: [UInt64: InlinedCall], _ place: (file: UInt64, line: UInt64)?, _ bytes: RawSpan
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

  /// The text from `offset` to the end of its line.
  private func text(_ offset: Int?, _ bytes: RawSpan) -> String? {
    offset.flatMap { bytes.name(in: TextLineReader(at: $0, in: bytes).rest) }
  }
}
