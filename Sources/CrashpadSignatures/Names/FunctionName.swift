// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSymbolication

/// Names of functions in the form of signatures: one name for what compilers, optimizers and symbol files name in many ways.
package enum FunctionName {
  /// - Parameters:
  ///   - symbol: mangled, or demangled by any tool.
  ///   - image: the module's file name without its extension; Swift's full names begin with it.
  ///   - version: the rules whose form it has.
  package static func normalized(_ symbol: String, image: String? = nil, _ version: RuleVersion = .current) -> String {
    let symbol = shortened(symbol)
    var name = NameText(symbol)
    // "<signal handler called>", "<deduplicated_symbol>": what stands for a name.
    if name.hasPrefix("Swift runtime failure: ") || name.hasPrefix("<") && name.hasSuffix(">") && !name.contains("::") {
      return symbol
    }
    if version != .first, isMessage(symbol) { return symbol }
    withoutOffsets(&name)
    while name.drop(suffix: " [inlined]") || name.drop(suffix: " (inlined)") {}
    // The number behind a closure of Go is that of one in it, and no compiler's suffix.
    if version != .first, GoName.isGo(name), name.contains(".func") { return GoName.normalized(name, version) }
    name = withoutSuffixes(name)
    // Suffixes of optimizers stand behind mangled names too.
    if let demangled = Demangler.demangle(name.text, .simplified) {
      name = withoutSuffixes(NameText(shortened(demangled)))
    }
    if let name = ObjectiveCName.normalized(name, version) { return name }
    let block = withoutBlock(&name)
    return normalizedFunction(name, symbol: symbol, image: image, version) + (version == .first ? "" : block)
  }

  /// Whether it is the message of a check that failed, and no function: compilers write it as a call that was inlined.
  ///
  /// `__clang_trap_msg$category$message`; Apple's reports have the message alone, such as that of libc++:
  /// "/usr/include/c++/v1/vector:1393: assertion __n < size() failed: vector[] index out of bounds".
  static func isMessage(_ symbol: String) -> Bool {
    if symbol.hasPrefix("__clang_trap_msg$") { return true }
    return symbol.containsBytes(": assertion ") && symbol.containsBytes(" failed")
  }

  /// The name of a function without what marks a block in it.
  private static func normalizedFunction(
    _ name: NameText, symbol: String, image: String?, _ version: RuleVersion
  ) -> String {
    if version != .first, let name = EngineName.normalized(name) { return name }
    if GoName.isGo(name) { return GoName.normalized(name, version) }
    if SwiftName.isSwift(name, symbol: symbol) { return SwiftName.normalized(name, image: image, version) }
    if isPlain(name) { return CName.normalized(name, version) }
    let keepsParameters = version != .first && !CxxName.isLocal(symbol)
    return CxxName.normalized(name, version, keepsParameters: keepsParameters)
  }

  /// The first 4 KiB: the rules search a name many times, and a hostile report may have one of megabytes.
  static func shortened(_ name: String) -> String {
    name.utf8.count <= 4096 ? name : String(decoding: name.utf8.prefix(4096), as: UTF8.self)
  }

  /// The name that the rules of version 2 compare: that of version 1, without parameters and numbers of closures. Version 1
  /// knows no names of Kotlin.
  static func compared(_ symbol: String, image: String?) -> String {
    withoutClosure(normalized(symbol, image: image, symbol.hasPrefix("kfun:") ? .second : .first))
  }

  /// The name that the rules compare: a closure is part of its owner.
  static func withoutClosure(_ name: String) -> String {
    name.hasPrefix("(closure) ") ? String(name.dropFirst(10)) : name
  }

  /// - Parameters:
  ///   - lambda: the place of a lambda in its function, which takes the place of its number.
  ///   - number: of a closure of Rust, its number, from 0.
  static func withClosure(_ name: String, lambda: LambdaPlace?, number: Int?) -> String {
    if let lambda {
      return marked(name, "λ", "+\(lambda.line)" + (lambda.rank > 0 ? ".\(lambda.rank + 1)" : ""))
    }
    if let number, number > 0 { return marked(name, "{{closure}}", "\(number + 1)") }
    return name
  }

  /// Whether a name is that of a lambda with its owner and its number, as "table::λ2".
  static func isNumberedLambda(_ name: String) -> Bool {
    let owner = NameText(name.utf8.reversed().drop(while: NameText.isDigit).reversed())
    return owner.bytes.count < name.utf8.count && owner.hasSuffix("::λ")
  }

  /// `suffix` in place of the number behind the last `mark`.
  private static func marked(_ name: String, _ mark: String, _ suffix: String) -> String {
    let (name, mark) = (NameText(name), Array(mark.utf8))
    guard let place = name.bytes.indices.last(where: { name.bytes[$0...].starts(with: mark) }) else { return name.text }
    let rest = name.bytes[(place + mark.count)...].drop(while: NameText.isDigit)
    return NameText(name.bytes[..<place] + mark + suffix.utf8 + rest).text
  }

  /// Some reports have an offset within a name: "-[NSObject+ 1045168 (NSObject) description]".
  private static func withoutOffsets(_ name: inout NameText) {
    while let plus = name.find("+ "), plus > 0 {
      let digits = name.bytes[(plus + 2)...].prefix(while: NameText.isDigit).count
      let end = plus + 2 + digits
      guard digits > 0, end >= name.bytes.count || name.bytes[end] == UInt8(ascii: " ") else { return }
      let isCategory = name.bytes[end...].starts(with: " (".utf8)
      name.bytes.removeSubrange(plus..<(isCategory ? end + 1 : end))
    }
  }

  /// Without what compilers put behind a name: parts, clones, versions, hashes.
  private static func withoutSuffixes(_ name: NameText) -> NameText {
    var name = name
    while removeOne(&name) {}
    return name
  }

  private static func removeOne(_ name: inout NameText) -> Bool {
    if let variant = name.find("$VARIANT$"), variant > 0 {
      name.bytes.removeSubrange(variant...)
      return true
    }
    // "f() (.cold.1)", "f() [clone .isra.0]", "f() (.llvm.123)"
    for open in [" (.", " [clone ", " [.", " .cold"] {
      guard let start = last(open, in: name), start > 0 else { continue }
      guard open == " .cold" || name.bytes.last == UInt8(ascii: ")") || name.bytes.last == UInt8(ascii: "]") else {
        continue
      }
      // "[clone (.cold)]": only what stands at the very end goes.
      name.bytes.removeSubrange(start...)
      return true
    }
    if let at = name.bytes.firstIndex(of: UInt8(ascii: "@")), at > 0, isVersion(name.bytes[at...]) {
      name.bytes.removeSubrange(at...)
      return true
    }
    if removeHash(&name) { return true }
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return false }
    let last = name.bytes[(dot + 1)...]
    if last.allSatisfy(NameText.isDigit), !last.isEmpty, name.bytes[dot - 1] != UInt8(ascii: ".") {
      name.bytes.removeSubrange(dot...)
      return true
    }
    let words = [
      "cold", "isra", "constprop", "part", "llvm", "lto_priv", "localalias", "clone", "resume", "destroy", "cleanup",
      "warm", "hot", "unlikely", "__uniq", "str", "specialized", "alias",
    ]
    guard words.contains(where: { last.elementsEqual($0.utf8) }) else { return false }
    name.bytes.removeSubrange(dot...)
    return true
  }

  /// The last place of `part`.
  private static func last(_ part: String, in name: NameText) -> Int? {
    var found: Int?
    while let next = name.find(part, from: found.map { $0 + 1 } ?? 0) { found = next }
    return found
  }

  /// "@@GLIBC_2.14", "@plt", "@12"
  private static func isVersion(_ bytes: ArraySlice<UInt8>) -> Bool {
    let rest = bytes.drop { $0 == UInt8(ascii: "@") }
    return rest.elementsEqual("plt".utf8) || rest.starts(with: "GLIBC".utf8) || rest.starts(with: "CXXABI".utf8)
      || rest.starts(with: "GCC_".utf8) || rest.starts(with: "Base".utf8)
      || (!rest.isEmpty && rest.allSatisfy { NameText.isWord($0) || $0 == UInt8(ascii: ".") }
        && bytes.count > rest.count + 1)
  }

  /// "::h0123456789abcdef" of Rust's older symbols.
  private static func removeHash(_ name: inout NameText) -> Bool {
    guard let colon = name.bytes.lastIndex(of: UInt8(ascii: ":")), colon > 1, name.bytes[colon - 1] == UInt8(ascii: ":")
    else {
      return false
    }
    let hash = name.bytes[(colon + 1)...]
    guard hash.first == UInt8(ascii: "h"), hash.count >= 2, hash.count <= 17,
      hash.dropFirst().allSatisfy(NameText.isHexDigit),
      hash.count == 17 || hash.dropFirst().allSatisfy(NameText.isDigit)
    else { return false }
    name.bytes.removeSubrange((colon - 1)...)
    return true
  }

  /// A block is named after its function.
  ///
  /// - Returns: the mark that tells it from other blocks there; empty without a number, as demangled names of C++ have none.
  private static func withoutBlock(_ name: inout NameText) -> String {
    for prefix in ["invocation function for block in ", "block_destroy_helper", "block_copy_helper"]
    where name.drop(prefix: prefix) {
      if prefix.hasPrefix("block_") { name = NameText("_Block_" + prefix) }
    }
    guard let block = name.find("_block_invoke"), block > 0,
      let mark = BlockName.mark(name.bytes[block...])
    else { return "" }
    name.bytes.removeSubrange(block...)
    while name.bytes.first == UInt8(ascii: "_"), name.bytes.count > 1 { name.bytes.removeFirst() }
    return mark
  }

  /// A name of C: one word.
  private static func isPlain(_ name: NameText) -> Bool {
    name.bytes.allSatisfy { NameText.isWord($0) || $0 == UInt8(ascii: ".") }
  }
}

/// Blocks of C and Objective-C: `_block_invoke` for the first of a function, `_block_invoke_2` for the next.
enum BlockName {
  private static let suffix = "_block_invoke"

  /// ".λ2" of "_block_invoke_2"; nil of another text. Linkers number blocks of one name with `.17`.
  static func mark(_ bytes: ArraySlice<UInt8>) -> String? {
    if bytes.starts(with: ".λ".utf8) { return NameText(bytes).text }
    guard bytes.starts(with: suffix.utf8) else { return nil }
    let rest = bytes.dropFirst(suffix.utf8.count)
    guard rest.allSatisfy({ NameText.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }) else {
      return nil
    }
    let digits = rest.first == UInt8(ascii: "_") ? rest.dropFirst().prefix(while: NameText.isDigit) : []
    return ".λ" + (digits.isEmpty ? "1" : NameText(digits).text)
  }
}

/// `-[Class method:]` and `+[Class method]`, of categories without the category.
enum ObjectiveCName {
  static func isName(_ name: NameText) -> Bool { normalized(name, .first) != nil }

  /// Nil of other names. In version 1 blocks have no number.
  static func normalized(_ name: NameText, _ version: RuleVersion) -> String? {
    var name = name
    // Demangled names of the hooks of Logos, by which tweaks replace methods.
    if version != .first, name.hasPrefix("Logos hook for ") { name.bytes.removeFirst("Logos hook for ".utf8.count) }
    // "__45-[VC tap:]_block_invoke_2", with one more underscore in Mach-O files
    let start = name.bytes.prefix { $0 == UInt8(ascii: "_") }.count
    let digits = name.bytes.dropFirst(start).prefix(while: NameText.isDigit).count
    if start > 0, digits > 0 { name.bytes.removeFirst(start + digits) }
    guard name.hasPrefix("-[") || name.hasPrefix("+["), let end = name.bytes.lastIndex(of: UInt8(ascii: "]")) else {
      return nil
    }
    let block = version == .first ? nil : BlockName.mark(name.bytes[(end + 1)...])
    name.bytes.removeSubrange((end + 1)...)
    if let open = name.bytes.firstIndex(of: UInt8(ascii: "(")),
      let close = name.bytes.firstIndex(of: UInt8(ascii: ")")),
      open < close, name.bytes[close...].dropFirst().first == UInt8(ascii: " ")
    {
      name.bytes.removeSubrange(open...close)
    }
    return name.text + (block ?? "")
  }
}

/// `package.Function`, `package.(*Type).Method`: closures without their numbers, types of generics as `[T]`.
enum GoName {
  /// Functions of the runtime in the stacks of threads of Go, of which a whole stack has one and the part of one most likely.
  private static let runtime: Set<String> = [
    "asmcgocall", "cgocall", "cgocallback", "crash", "dieFromSignal", "dopanic_m", "fatalpanic", "fatalthrow",
    "findRunnable", "goexit", "goexit0", "goexit1", "gopanic", "main", "mcall", "morestack", "mstart", "mstart0",
    "mstart1", "newstack", "park_m", "raise", "rt0_go", "schedule", "sigfwdgo", "sighandler", "sigpanic", "sigtramp",
    "sigtrampgo", "systemstack", "throw",
  ]

  /// Whether the whole name is that of such a function: a package or a module of the same name has others.
  static func isRuntime(_ symbol: String) -> Bool {
    guard symbol.hasPrefix("runtime.") else { return false }
    let name = symbol.dropFirst("runtime.".utf8.count)
    return runtime.contains(String(name.hasSuffix(".abi0") ? name.dropLast(".abi0".utf8.count) : name))
  }

  static func isGo(_ name: NameText) -> Bool {
    if name.contains("::") || name.contains(" ") || !name.bytes.contains(UInt8(ascii: ".")) { return false }
    if name.contains(".(*") || name.contains("[...]") || name.contains("[go.shape") || name.hasPrefix("runtime.") {
      return true
    }
    guard let slash = name.bytes.lastIndex(of: UInt8(ascii: "/")) else {
      return [".func", ".gowrap", ".deferwrap"].contains { name.contains($0) } && !name.contains("(")
    }
    return slash > 0 && !name.contains("(")
  }

  /// The method that a function of the compiler calls for pointers to its type: `shop.Cart.Total` of `shop.(*Cart).Total`. It
  /// may be inlined there without a trace.
  static func wrapped(_ symbol: String, file: String) -> String {
    guard file.hasSuffix("<autogenerated>"), let start = symbol.firstRange(of: ".(*"),
      let end = symbol[start.upperBound...].firstRange(of: ").")
    else { return symbol }
    let (package, type) = (symbol[..<start.lowerBound], symbol[start.upperBound..<end.lowerBound])
    return "\(package).\(type).\(symbol[end.upperBound...])"
  }

  static func normalized(_ name: NameText, _ version: RuleVersion) -> String {
    var name = name
    while let open = name.bytes.firstIndex(of: UInt8(ascii: "[")), let end = name.end(of: open),
      !name.bytes[open..<end].elementsEqual("[T]".utf8)
    {
      name.bytes.replaceSubrange(open..<end, with: "[T]".utf8)
    }
    var parts = name.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var isClosure = false
    // The compiler makes wrappers; closures have the numbers that tell them apart.
    let made = version == .first ? ["func", "gowrap", "deferwrap"] : ["gowrap", "deferwrap"]
    while let last = parts.last, parts.count > 2,
      version == .first && last.allSatisfy(\.isNumber)
        || made.contains(where: { last.hasPrefix($0) && last.dropFirst($0.count).allSatisfy(\.isNumber) })
    {
      parts.removeLast()
      isClosure = version == .first
    }
    return (isClosure ? "(closure) " : "") + parts.joined(separator: ".")
  }
}

/// Names of C, without what the C library marks its copies for processors with.
enum CName {
  private static let variants: Set<String> = [
    "sse2", "sse3", "ssse3", "sse4", "sse42", "sse4_1", "sse4_2", "avx", "avx2", "avx512", "avx512bw", "avx512vl",
    "evex", "evex256",
    "evex512", "erms", "unaligned", "rtm", "fma", "fma4", "neon", "sve", "mops", "no", "vzeroupper", "back", "falkor",
    "thunderx",
    "thunderx2", "a64fx", "emag", "simd", "VARIANT", "rosetta",
  ]

  /// Words that stand behind the name of a variant, and are words of programs, too: "roll_back".
  private static let plain: Set<String> = ["no", "back", "simd", "rosetta", "mops", "unaligned"]

  static func normalized(_ name: NameText, _ version: RuleVersion) -> String {
    var name = name
    if name.drop(prefix: "__GI_") { return name.text }
    if version != .first, let name = CountedName.normalized(name) { return name }
    let parts = name.text.split(separator: "_", omittingEmptySubsequences: false)
    var count = parts.count
    while count > 1, variants.contains(String(parts[count - 1])) { count -= 1 }
    guard count < parts.count, count > 0 else { return name.text }
    if version != .first, !name.hasPrefix("__"), parts[count...].allSatisfy({ plain.contains(String($0)) }) {
      return name.text
    }
    // "__memmove_avx_unaligned_erms" is memmove.
    let kept = parts[..<count].drop { $0.isEmpty }
    return kept.isEmpty ? name.text : kept.joined(separator: "_")
  }
}
