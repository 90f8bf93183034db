// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Writes a module's symbols as a Breakpad symbol file: FILE, INLINE_ORIGIN, FUNC with INLINE and lines, PUBLIC, STACK
/// CFI.
///
/// The text depends only on the files: the same files give the same bytes.
package struct BreakpadWriter {
  package struct Options: Sendable {
    /// Whether names are demangled; otherwise they are written as in the files.
    package var demangles = true
    package var hasInlinedCalls = true
    package var hasFrameRules = true

    package init() {}
  }

  /// The numbers of records written.
  package struct Counts: Sendable, Hashable {
    package var files = 0
    package var functions = 0
    package var inlinedCalls = 0
    package var lines = 0
    package var publics = 0
    package var frameRules = 0
    package var bytes = 0

    package var isEmpty: Bool { functions == 0 && publics == 0 && frameRules == 0 }
  }

  private let module: BreakpadModule
  private let source: any ModuleFiles
  private let options: Options
  private let names = BreakpadNames()
  private var counts = Counts()
  private var text: BreakpadText

  /// Writes the symbols of `source`. Throws errors of `output`.
  package static func write(_ source: BreakpadInput, _ options: Options, to output: any ByteOutput) throws -> Counts {
    let counter = CountedOutput(output)
    var writer = BreakpadWriter(source, options, counter)
    writer.write()
    try writer.text.finish()
    writer.counts.bytes = counter.count
    return writer.counts
  }

  private init(_ source: BreakpadInput, _ options: Options, _ output: any ByteOutput) {
    (module, self.source, self.options) = (source.module, source.files, options)
    text = BreakpadText(to: output)
  }

  private mutating func write() {
    writeModule()
    var symbols = source.symbols()
    if let info = source.info { writeFunctions(info, &symbols) }
    for symbol in symbols { writePublic(symbol) }
    if options.hasFrameRules { writeFrames() }
  }

  /// - Parameter symbols: all symbols; those in functions are removed.
  private mutating func writeFunctions(_ info: DwarfInfo, _ symbols: inout [ModuleSymbol]) {
    let functions = BreakpadFunctions(info, names, source.isCode, hasCalls: options.hasInlinedCalls)
    var hasFunctions = Array(repeating: false, count: info.units.count)
    for function in functions.functions { hasFunctions[function.unit] = true }
    var lines = BreakpadLines(unitCount: info.units.count)
    for unit in info.units { lines.read(unit, names, source.isCode) }
    let pieces = BreakpadPiece.separate(functions.pieces)
    symbols.removeAll(in: pieces.map(\.range))
    let plain = plainFunctions(lines, &symbols, pieces, hasFunctions)
    let files = writeFiles()
    writeOrigins()
    var next = 0
    for piece in pieces {
      while next < plain.count, plain[next].range.lowerBound < piece.range.lowerBound {
        write(plain[next], lines, files)
        next += 1
      }
      write(piece, functions, lines, files, info)
    }
    for function in plain[next...] { write(function, lines, files) }
  }

  /// A function without an entry, such as one from an assembler: a symbol in code with lines.
  private struct PlainFunction {
    let range: Range<UInt64>
    let unit: Int
    let symbol: ModuleSymbol
  }

  private func plainFunctions(
    _ lines: BreakpadLines, _ symbols: inout [ModuleSymbol], _ pieces: [BreakpadPiece], _ hasFunctions: [Bool]
  ) -> [PlainFunction] {
    var covered: [(range: Range<UInt64>, unit: Int)] = []
    for unit in hasFunctions.indices where !hasFunctions[unit] {
      covered += lines.ranges(of: unit).filter { source.isCode($0.lowerBound) }.map { ($0, unit) }
    }
    guard !covered.isEmpty else { return [] }
    covered.sort { ($0.range.lowerBound, $0.unit) < ($1.range.lowerBound, $1.unit) }
    var functions: [PlainFunction] = []
    var rest: [ModuleSymbol] = []
    var (place, piece) = (0, 0)
    for (index, symbol) in symbols.enumerated() {
      while place < covered.count, covered[place].range.upperBound <= symbol.address { place += 1 }
      while piece < pieces.count, pieces[piece].range.lowerBound <= symbol.address { piece += 1 }
      guard place < covered.count, covered[place].range.contains(symbol.address) else {
        rest.append(symbol)
        continue
      }
      var end = covered[place].range.upperBound
      if symbol.size > 0 { end = min(end, symbol.address &+ symbol.size) }
      if index + 1 < symbols.count { end = min(end, symbols[index + 1].address) }
      if piece < pieces.count { end = min(end, pieces[piece].range.lowerBound) }
      guard end > symbol.address else {
        rest.append(symbol)
        continue
      }
      functions.append(PlainFunction(range: symbol.address..<end, unit: covered[place].unit, symbol: symbol))
    }
    symbols = rest
    return functions
  }

  private mutating func writeModule() {
    text.append("MODULE \(module.operatingSystem) \(module.architecture) \(module.debugID) ")
    text.append(name: module.name)
    text.lineFeed()
    if !module.codeID.isEmpty {
      text.append("INFO CODE_ID \(module.codeID)")
      text.lineFeed()
    }
  }

  /// Writes the names of files, sorted. Returns their numbers.
  private mutating func writeFiles() -> [Int] {
    let all = names.files
    var numbers = Array(repeating: 0, count: all.count)
    for (number, index) in all.indices.sorted(by: { all[$0] < all[$1] }).enumerated() {
      numbers[index] = number
      text.append("FILE \(number) ")
      text.append(name: all[index])
      text.lineFeed()
    }
    counts.files = all.count
    return numbers
  }

  private mutating func writeOrigins() {
    for (number, name) in names.origins.enumerated() {
      text.append("INLINE_ORIGIN \(number) ")
      text.append(name: demangled(name))
      text.lineFeed()
    }
  }

  private func demangled(_ name: String) -> String {
    options.demangles ? Demangler.demangle(name) ?? name : name
  }

  // MARK: Functions

  private mutating func write(
    _ piece: BreakpadPiece, _ all: BreakpadFunctions, _ lines: BreakpadLines, _ files: [Int], _ info: DwarfInfo
  ) {
    let function = all.functions[piece.function]
    let unit = info.units[function.unit]
    let address = piece.range.lowerBound
    // A part may have a symbol of its own (`main.cold`).
    let name =
      source.symbolName(covering: address)
      ?? unit.name(ofFunctionAt: function.offset) { source.symbolName(covering: $0) }
    begin(piece.range, isShared: piece.isShared, name)
    for call in all.calls[function.calls] { write(call, piece.range, all, files) }
    write(piece.range, function.unit, lines, files)
  }

  private mutating func write(_ function: PlainFunction, _ lines: BreakpadLines, _ files: [Int]) {
    begin(function.range, isShared: function.symbol.isShared, source.name(of: function.symbol))
    write(function.range, function.unit, lines, files)
  }

  private mutating func begin(_ range: Range<UInt64>, isShared: Bool, _ name: String?) {
    counts.functions += 1
    text.append(isShared ? "FUNC m " : "FUNC ")
    place(range)
    text.append(" 0 ")
    text.append(name: name.map(demangled) ?? "??")
    text.lineFeed()
  }

  private mutating func write(_ range: Range<UInt64>, _ unit: Int, _ lines: BreakpadLines, _ files: [Int]) {
    lines.forEach(in: range, ofUnit: unit) { range, row in
      place(range)
      text.blank()
      text.decimal(UInt64(row.line))
      text.blank()
      text.decimal(UInt64(files[Int(row.file)]))
      text.lineFeed()
      counts.lines += 1
    }
  }

  private mutating func write(
    _ call: BreakpadFunctions.Call, _ piece: Range<UInt64>, _ all: BreakpadFunctions, _ files: [Int]
  ) {
    var isBegun = false
    for range in all.ranges[call.ranges] where range.overlaps(piece) {
      if !isBegun {
        isBegun = true
        text.append("INLINE ")
        text.decimal(UInt64(call.level))
        text.blank()
        text.decimal(call.line)
        text.blank()
        text.decimal(UInt64(files[call.file]))
        text.blank()
        text.decimal(UInt64(call.origin))
      }
      text.blank()
      place(range.clamped(to: piece))
    }
    guard isBegun else { return }
    counts.inlinedCalls += 1
    text.lineFeed()
  }

  /// Writes address and size.
  private mutating func place(_ range: Range<UInt64>) {
    text.hexadecimal(range.lowerBound &- source.imageBase)
    text.blank()
    text.hexadecimal(range.upperBound &- range.lowerBound)
  }

  // MARK: Symbols and frames

  private mutating func writePublic(_ symbol: ModuleSymbol) {
    guard let name = source.name(of: symbol) else { return }
    text.append(symbol.isShared ? "PUBLIC m " : "PUBLIC ")
    text.hexadecimal(symbol.address &- source.imageBase)
    text.append(" 0 ")
    text.append(name: demangled(name))
    text.lineFeed()
    counts.publics += 1
  }

  private mutating func writeFrames() {
    guard let registers = source.registers else { return }
    let covered = writeDescribedFrames(registers)
    guard let machO = source.compactUnwind else { return }
    counts.frameRules += BreakpadCompactUnwind(machO, registers).write(except: covered, to: &text)
  }

  /// Writes the rules of `.eh_frame` and `.debug_frame`; returns the addresses that they cover, sorted.
  private mutating func writeDescribedFrames(_ registers: CfiRegisters) -> [Range<UInt64>] {
    var covered: [Range<UInt64>] = []
    let sections = source.frameSections
    var frames = BreakpadFrames(registers: registers, imageBase: source.imageBase)
    for (section, entry) in BreakpadFrames.order(sections, source.isCode) {
      frames.write(entry, of: sections[section], to: &text)
      counts.frameRules += 1
      let description = sections[section].reader.entries[entry]
      let (end, overflow) = description.start.addingReportingOverflow(description.size)
      if !overflow { covered.append(description.start..<end) }
    }
    return covered
  }
}

extension [ModuleSymbol] {
  /// Removes the symbols in `ranges`. Both are in the order of addresses.
  fileprivate mutating func removeAll(in ranges: [Range<UInt64>]) {
    var next = 0
    removeAll { symbol in
      while next < ranges.count, ranges[next].upperBound <= symbol.address { next += 1 }
      return next < ranges.count && ranges[next].contains(symbol.address)
    }
  }
}
