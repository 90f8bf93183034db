// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import Synchronization

/// Names with their rules, each looked at once in a run: thousands of dumps have the same functions in their stacks.
final class SignatureNames: Sendable {
  private struct Value {
    let name: String?
    let rule: FrameRule?
  }
  let version: RuleVersion
  /// In a type of its own: a mutex destroys its value by its type, and that of a table alone would be made at run time.
  private struct Known: Sendable {
    /// By symbol and module.
    var values = KeyedTable<String, Value>()
  }
  private let known = Mutex(Known())
  /// Names of hostile dumps are not kept without end.
  private static let capacity = 1 << 16

  init(_ version: RuleVersion) { self.version = version }

  /// The functions of a stack. In version 1 inlined calls don't count.
  func entries(_ frames: [Symbolization.Frame], _ modules: inout SignatureModules) -> [StackEntry] {
    var entries: [StackEntry] = []
    entries.reserveCapacity(frames.count)
    let go = version == .first ? [] : Self.goModules(frames)
    let programFiles = version == .first ? [] : Self.programFiles(frames)
    var line = 0
    for (number, frame) in frames.enumerated() {
      let place = Place(
        frame, number, line, &modules, isGo: frame.frame.module.map { go.contains($0) } ?? false,
        programFiles: programFiles)
      line += frame.lineCount
      if version != .first {
        let function = entry(place)
        let calls = Self.named(inlined(place), function)
        let caller = number + 1 < frames.count ? frames[number + 1] : nil
        entries += tailCalled(place) + lambda(place, caller, calls) + calls + [function]
      } else {
        entries.append(entry(place))
      }
    }
    return entries
  }

  /// The place of a frame.
  private struct Place {
    let frame: Symbolization.Frame
    let number: Int
    /// The first of its lines in the stack.
    let line: Int
    let module: SignatureModule?
    let offset: UInt64?
    let isGo: Bool
    /// See `SignatureNames.programFiles`.
    let programFiles: Set<String>
    /// The rule for it if it has no symbol at all, of which a dump without symbols has nothing else.
    let ruleOfUnnamed: FrameRule?

    init(
      _ frame: Symbolization.Frame, _ number: Int, _ line: Int, _ modules: inout SignatureModules, isGo: Bool,
      programFiles: Set<String>
    ) {
      let unloaded = frame.unloaded.first
      (self.frame, self.number, self.line, self.isGo, self.programFiles) = (frame, number, line, isGo, programFiles)
      module = frame.frame.module.flatMap { modules.module($0) } ?? unloaded.map { modules.unloaded($0.module) }
      offset = frame.frame.moduleOffset ?? unloaded?.offset
      ruleOfUnnamed = frame.symbol == nil ? frame.frame.module.flatMap { modules.ruleOfUnnamed($0) } : nil
    }
  }

  /// The modules in which the stack has functions of Go: its runtime, below which each goroutine runs and above which its
  /// signal handlers do, or any of its source files.
  private static func goModules(_ frames: [Symbolization.Frame]) -> Set<Int> {
    var modules: Set<Int> = []
    for frame in frames {
      guard let module = frame.frame.module, let function = frame.symbol?.frames.last else { continue }
      if function.location?.file?.hasSuffix(".go") == true || function.function.map(GoName.isRuntime) == true {
        modules.insert(module)
      }
    }
    return modules
  }

  /// The source files that declare functions outside of the namespace of C++'s library: what they declare in it is the program's,
  /// such as the hash of one of its types.
  private static func programFiles(_ frames: [Symbolization.Frame]) -> Set<String> {
    var files: Set<String> = []
    // By their places: most frames have no symbols, and a copy of one takes longer than to see that.
    for index in frames.indices where frames[index].symbol != nil {
      for call in frames[index].symbol?.frames ?? [] {
        guard let file = call.declaredFile, let name = call.qualified ?? call.function, !isOfStandard(name),
          !SymbolOrigin.isSystemInclude(file)
        else { continue }
        files.insert(file)
      }
    }
    return files
  }

  private static func isOfStandard(_ name: String) -> Bool {
    ["_ZNSt", "_ZNKSt", "_ZSt", "std::"].contains { name.hasPrefix($0) }
  }

  // MARK: Functions

  private func entry(_ place: Place) -> StackEntry {
    // Functions in assembly may have no size. Where the line is known, the symbols are whole, and the nearest is the one.
    let frame = place.frame
    let outermost = frame.symbol?.frames.last
    // The first version took each name that a report has.
    let isNearest = frame.symbol?.isNearest == true && !(version == .first && frame.frame.trust == .prewalked)
    let isUnknown = isNearest && (outermost?.location == nil || frame.frame.trust == .prewalked)
    let function = isUnknown ? nil : outermost
    var symbol = frame.frame.isSignalFrame ? "<signal handler called>" : function?.function ?? function?.name
    if place.isGo, let file = function?.location?.file { symbol = symbol.map { GoName.wrapped($0, file: file) } }
    // Nim writes C: "turn__gear_57".
    if version != .first, function?.location?.file?.hasSuffix(".nim") == true {
      symbol = symbol.map { $0.containsBytes("__") ? CountedName.withoutCounter($0) : $0 }
    }
    var entry = entry(
      place, symbol, function?.location?.file, isInlined: false, version == .first ? nil : function,
      isHeader: Self.isHeader(function, isInlined: false))
    entry.interruptsSystemCall = frame.frame.interruptsSystemCall
    entry.isScanned = frame.frame.trust == .scan
    if isNearest, let name = outermost?.function, let start = frame.symbol?.functionAddress {
      entry.nearest = "\(name)+0x\(hexadecimal((place.offset ?? frame.frame.instruction) &- start))"
    }
    return entry
  }

  /// The functions that ended with a jump to the frame above.
  private func tailCalled(_ place: Place) -> [StackEntry] {
    place.frame.tailCalls.enumerated().compactMap { index, call in
      guard let symbol = call.function.qualified ?? call.function.function ?? call.function.name else { return nil }
      var entry = entry(place, symbol, nil, isInlined: call.isInlined, call.function)
      entry.isTailCalled = true
      entry.line = place.line + index
      return entry
    }
  }

  /// The lambda that the function was made to call, if it was inlined there without a trace: the function's types name it.
  private func lambda(_ place: Place, _ caller: Symbolization.Frame?, _ calls: [StackEntry]) -> [StackEntry] {
    guard !calls.contains(where: \.isOwn), let symbol = place.frame.symbol?.frames.last, let function = symbol.function,
      let name = CallableName.lambda(function)
    else { return [] }
    // Compilers make one function of those with the same code: this one is not that of a thread, if another one called it.
    if CallableName.beginsThread(function), let caller = caller?.symbol, !caller.isNearest,
      caller.frames.last?.function.map(CallableName.startsThreads) == false
    {
      return []
    }
    return [entry(place, name, nil, isInlined: true, symbol)]
  }

  /// The calls that were inlined at the place, the innermost first.
  private func inlined(_ place: Place) -> [StackEntry] {
    guard let symbol = place.frame.symbol, symbol.frames.count > 1, !place.frame.frame.isSignalFrame else { return [] }
    return symbol.frames.dropLast().enumerated().compactMap { index, call in
      // Debug information has mangled names of the functions that other files may call.
      guard let name = call.qualified ?? call.function ?? call.name else { return nil }
      var entry = entry(
        place, name, call.location?.file, isInlined: true, call, isHeader: Self.isHeader(call, isInlined: true))
      entry.line = place.line + place.frame.tailCalls.count + index
      return entry
    }
  }

  /// GCC gives a lambda of no function neither a name nor an owner where it is inlined: the function has both, if it only calls
  /// the lambda.
  private static func named(_ calls: [StackEntry], _ function: StackEntry) -> [StackEntry] {
    guard let name = function.name, FunctionName.isNumberedLambda(name), calls.contains(where: { $0.name == "λ" })
    else { return calls }
    return calls.map { call in
      var call = call
      if call.name == "λ" { call.name = name }
      return call
    }
  }

  private func entry(
    _ place: Place, _ symbol: String?, _ file: String?, isInlined: Bool,
    _ function: SymbolizedAddress.Frame? = nil, isHeader: Bool = false
  ) -> StackEntry {
    let isUnnamed = symbol == nil && place.frame.symbol == nil && place.frame.unloaded.isEmpty && version != .first
    let value =
      isUnnamed
      ? Value(name: nil, rule: place.ruleOfUnnamed)
      : value(
        symbol, in: place, file, isInlined: isInlined, isHeader: isHeader,
        isOfProgram: function?.declaredFile.map { place.programFiles.contains($0) } ?? false)
    var entry = StackEntry(
      frame: place.number, line: place.line + place.frame.lineCount - 1, isInlined: isInlined,
      name: value.name.map {
        FunctionName.withClosure($0, lambda: function?.lambda, number: function?.closureNumber)
      }, module: place.module, offset: place.offset,
      address: place.frame.frame.instruction, shownName: symbol,
      rule: place.module == nil && value.name == nil ? nil : value.rule)
    entry.isOfOwnSource = place.module == nil && version != .first && file.map(OwnSources.contains) == true
    return entry
  }

  private func value(
    _ symbol: String?, in place: Place, _ file: String?, isInlined: Bool, isHeader: Bool, isOfProgram: Bool
  ) -> Value {
    let module = place.module?.name
    let kind = version == .first ? "" : "\0\(isInlined)\(place.isGo)\(isHeader)\(isOfProgram)\(file ?? "")"
    let key = (module ?? "\u{1}") + "\0" + (symbol ?? "\u{1}") + kind
    if let value = known.withLock({ $0.values[key] }) { return value }
    let image = module.map { name in
      name.hasSuffix(".debug.dylib") ? String(name.dropLast(12)) : String(name.prefix { $0 != "." })
    }
    let name = symbol.map { FunctionName.normalized($0, image: image, version) }.flatMap { $0.isEmpty ? nil : $0 }
    var compared =
      version == .first
      ? name.map(FunctionName.withoutClosure) : symbol.map { FunctionName.compared($0, image: image) }
    // A closure in the code of a file.
    if version != .first, compared?.isEmpty == true { compared = name }
    let rule = rule(compared, symbol, in: place, file, isInlined: isInlined, isHeader: isHeader)
    let value = Value(name: name, rule: isOfProgram && rule?.id == "c++-library" ? nil : rule)
    known.withLock { known in
      if known.values.count >= Self.capacity { known.values.removeAll() }
      known.values.set(key, value)
    }
    return value
  }

  private func rule(
    _ name: String?, _ symbol: String?, in place: Place, _ file: String?, isInlined: Bool, isHeader: Bool
  ) -> FrameRule? {
    if version == .first { return FirstRuleIndex.shared.rule(name, in: place.module?.name) }
    if let symbol, FunctionName.isMessage(symbol) { return Self.message }
    let origin = symbol.map {
      SymbolOrigin(
        $0, file: file, isGo: place.isGo, isInlined: isInlined, isInApp: place.module?.isInApp == true)
    }
    // "???" stands for any function, and is a pattern too.
    let name = name?.utf8.allSatisfy({ $0 == UInt8(ascii: "?") }) == true ? "<unknown>" : name
    if let rule = RuleIndex.rule(name, in: place.module?.name, origin ?? .unknown) { return rule }
    if let rule = Self.linked(name, in: place.module) { return rule }
    if let module = place.module?.name, ModuleIdentity.isOfKernel(module) { return Self.kernelCode }
    if origin?.statesSwiftLibrary == true, place.module?.isInApp == true { return Self.swiftLibrary }
    return isHeader ? Self.header : nil
  }

  /// Whether a function is one of a header of the system or of the compiler. Without optimization, the compiler makes functions of
  /// calls that it inlines otherwise. Where the debug information does not say what declares a function, the place of an
  /// inlined call stands for it.
  static func isHeader(_ function: SymbolizedAddress.Frame?, isInlined: Bool) -> Bool {
    if let file = function?.declaredFile {
      return isInlined ? SymbolOrigin.isSystemHeader(file) : SymbolOrigin.isSystemInclude(file)
    }
    return isInlined && function?.location?.file.map(SymbolOrigin.isSystemHeader) == true
  }

  /// The compiler copies functions of the library into programs.
  private static let swiftLibrary = FrameRule(.runtime, "swift-library", "the standard library of Swift")
  private static let cLibrary = FrameRule(.runtime, "c-library", "the C library, which is linked into the program")

  /// The rule for a function of a library that the program has in its own file.
  static func linked(_ name: String?, in module: SignatureModule?) -> FrameRule? {
    guard let name, module?.isInApp == true, CLibraryFunctions.contains(name) else { return nil }
    return cLibrary
  }

  /// The functions have names only in dumps that have the memory.
  private static let kernelCode = FrameRule(.runtime, "kernel-code", "code of the kernel, which is in no file")

  static let message = FrameRule(
    .raise, "message", "the message of a check that failed, which a compiler wrote as a call")
  static let header = FrameRule(.runtime, "header", "from a header of the system or of the compiler")
}
