// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Names of C++ and Rust.
enum CxxName {
  private static let prefixes = [
    "virtual thunk to ", "non-virtual thunk to ", "covariant return thunk to ", "static ", "[abi:cxx11] ",
    "transaction clone for ",
    "public: ", "private: ", "protected: ", "virtual ", "TLS wrapper function for ", "TLS init function for ",
  ]

  /// Whether a mangled name is that of a function local to its file: debug information has only its short name, without
  /// parameters, where it is inlined.
  static func isLocal(_ symbol: String) -> Bool {
    if symbol.containsBytes("_GLOBAL__N_1") { return true }
    let bytes = Array(symbol.utf8.drop { $0 == UInt8(ascii: "_") })
    guard bytes.first == UInt8(ascii: "Z"), bytes.count > 2, bytes.count < symbol.utf8.count else { return false }
    if bytes[1] == UInt8(ascii: "L") { return true }
    guard bytes[1] == UInt8(ascii: "N") else { return false }
    var index = 2
    while index < bytes.count, "rVKRO".utf8.contains(bytes[index]) { index += 1 }
    while index + 1 < bytes.count {
      if bytes[index] == UInt8(ascii: "L") { return NameText.isDigit(bytes[index + 1]) }
      guard NameText.isDigit(bytes[index]) else { return false }
      var length = 0
      while index < bytes.count, NameText.isDigit(bytes[index]), length <= bytes.count {
        length = 10 * length + Int(bytes[index] - UInt8(ascii: "0"))
        index += 1
      }
      index += length
    }
    return false
  }

  static func normalized(_ name: NameText, _ version: RuleVersion, keepsParameters: Bool) -> String {
    var name = name
    while prefixes.contains(where: { name.drop(prefix: $0) }) {}
    unifyAnonymous(&name)
    replaceAll("[abi:cxx11]", with: "", in: &name)
    if version != .first { unifyAbseil(&name) }
    let isLocal = version != .first && unifyCoroutine(&name)
    if isRust(name) { return rust(name, isNumbered: version != .first).text }
    name = collapsingTypes(name)
    let isNumbered = version != .first
    unifyLambdas(&name, isNumbered: isNumbered)
    let parameters = keepsParameters && !isLocal && !name.contains("(anonymous)") ? self.parameters(name) : ""
    name = withoutParameters(name, dropsInnerQualifiers: isNumbered)
    unifyLambdas(&name, isNumbered: isNumbered)
    name = withoutReturnType(name)
    if dropCall(&name) { return name.text }
    // A function that is made of a template has the types of its template in its parameters.
    return name.text + (name.contains("<T>") ? "" : parameters)
  }

  /// GCC's function for the parts of a coroutine has its frame in place of the parameters, in whose type those are:
  /// `load(load(int)::_Z4loadi.Frame*)`. Clang names the parts like the coroutine.
  ///
  /// - Returns: Whether it is one that is local to its file.
  private static func unifyCoroutine(_ name: inout NameText) -> Bool {
    let end = ".Frame*)"
    guard name.hasSuffix(end), let open = lastList(name), open > 0 else { return false }
    let type = NameText(name.bytes[(open + 1)...].dropLast(end.utf8.count))
    guard let mangled = type.find("::_Z"), mangled > 0 else { return false }
    name.bytes = Array(type.bytes[..<mangled])
    return isLocal(NameText(type.bytes[(mangled + 2)...]).text)
  }

  /// Removes the call operators of a lambda.
  private static func dropCall(_ name: inout NameText) -> Bool {
    var wasDropped = false
    for suffix in ["::operator()", "::__invoke", "::_FUN"] {
      while name.hasSuffix(suffix), isLambda(name, before: suffix.utf8.count) {
        wasDropped = name.drop(suffix: suffix)
      }
    }
    return wasDropped
  }

  private static func isLambda(_ name: NameText, before length: Int) -> Bool {
    NameText(name.bytes.dropLast(length).reversed().drop(while: NameText.isDigit).reversed()).hasSuffix("λ")
  }

  // MARK: Parameters that stay

  /// The types of the last list of parameters, in one spelling: they tell overloads apart. Empty without any.
  private static func parameters(_ name: NameText) -> String {
    var name = name
    dropQualifiers(&name)
    guard name.hasSuffix(")"), let open = lastList(name), open > 0 else { return "" }
    var list = NameText(name.bytes[open...])
    if list.bytes.elementsEqual("(anonymous)".utf8) || list.bytes.elementsEqual("(void)".utf8) || list.bytes.count == 2
    {
      return ""
    }
    for (old, new) in [
      ("std::__cxx11::", "std::"), ("std::__1::", "std::"), ("std::basic_string<T>", "std::string"),
      ("std::basic_string_view<T>", "std::string_view"), ("char const*", "const char*"),
    ] { replaceAll(old, with: new, in: &list) }
    return list.text
  }

  /// The start of the list that ends the name.
  private static func lastList(_ name: NameText) -> Int? {
    let ends = name.ends()
    return name.bytes.indices.first { name.bytes[$0] == UInt8(ascii: "(") && ends[$0] == name.bytes.count }
  }

  private static let qualifiers = [" const", " volatile", " &&", " &", " noexcept"]

  private static func dropQualifiers(_ name: inout NameText) {
    while qualifiers.contains(where: { name.drop(suffix: $0) }) {}
  }

  // MARK: Types

  /// Every balanced `<…>` as `<T>`, apart from those of operators.
  static func collapsingTypes(_ name: NameText) -> NameText {
    guard name.contains("<") else { return name }
    let ends = name.ends()
    var result: [UInt8] = []
    var index = 0
    while index < name.bytes.count {
      let byte = name.bytes[index]
      // "<deduplicated_symbol>" is a name, and a type stands behind one.
      if byte == UInt8(ascii: "<"), index > 0, name.isOpening(index), name.bytes[index - 1] != UInt8(ascii: " "),
        ends[index] > 0
      {
        result.append(contentsOf: "<T>".utf8)
        index = ends[index]
        continue
      }
      result.append(byte)
      index += 1
    }
    return NameText(result)
  }

  private static func unifyAnonymous(_ name: inout NameText) {
    for form in [
      "(anonymous namespace)", "{anonymous}", "`anonymous namespace'", "`anonymous-namespace'", "_GLOBAL__N_1",
    ] {
      replaceAll(form, with: "(anonymous)", in: &name)
    }
  }

  /// Abseil has its version as a namespace that programs do not write: `absl::lts_20230802::Status`, `absl::debian3::Status`.
  private static func unifyAbseil(_ name: inout NameText) {
    for start in ["absl::lts_", "absl::debian"] {
      while let place = name.find(start) {
        let digits = name.bytes[(place + start.utf8.count)...].prefix(while: NameText.isDigit)
        guard !digits.isEmpty, name.bytes[digits.endIndex...].starts(with: "::".utf8) else { break }
        name.bytes.removeSubrange((place + 6)..<(digits.endIndex + 2))
      }
    }
  }

  private static func replaceAll(_ part: String, with new: String, in name: inout NameText) {
    while let start = name.find(part) { name.bytes.replaceSubrange(start..<start + part.utf8.count, with: new.utf8) }
  }

  // MARK: Lambdas

  /// `{lambda(int)#1}`, `$_0`, `'lambda0'(int)`, `<lambda(int)>` are λ.
  ///
  /// - Parameter isNumbered: whether the number of a lambda in its function stays, from 1.
  private static func unifyLambdas(_ name: inout NameText, isNumbered: Bool) {
    func replace(_ range: Range<Int>, _ number: Int?) {
      name.bytes.replaceSubrange(range, with: ("λ" + (isNumbered ? number.map { String($0) } ?? "" : "")).utf8)
    }
    for mark in ["{lambda", "<lambda"] {
      while let start = name.find(mark), let end = name.end(of: start) {
        replace(start..<end, number(NameText(name.bytes[start..<end].dropLast())))
      }
    }
    while let start = name.find("'lambda"), let quote = name.bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "'")) {
      replace(start..<(quote + 1), Int(NameText(name.bytes[(start + 7)..<quote]).text).map { $0 + 2 } ?? 1)
    }
    while let start = name.find("$_") {
      let digits = name.bytes[(start + 2)...].prefix(while: NameText.isDigit).count
      guard digits > 0 else { return }
      let end = start + 2 + digits
      replace(start..<end, Int(NameText(name.bytes[(start + 2)..<end]).text).map { $0 + 1 })
    }
  }

  /// The number behind the last `#`.
  private static func number(_ text: NameText) -> Int? {
    text.bytes.lastIndex(of: UInt8(ascii: "#")).flatMap { Int(NameText(text.bytes[($0 + 1)...]).text) }
  }

  // MARK: Parameters and return type

  /// - Parameter dropsInnerQualifiers: whether the qualifiers of an enclosing function are dropped: "const" of
  ///   "Cart::total() const::Item::go()".
  private static func withoutParameters(_ name: NameText, dropsInnerQualifiers: Bool) -> NameText {
    var result: [UInt8] = []
    var index = 0
    while index < name.bytes.count {
      guard name.bytes[index] == UInt8(ascii: "("), let end = name.end(of: index) else {
        result.append(name.bytes[index])
        index += 1
        continue
      }
      if name.bytes[index..<end].elementsEqual("(anonymous)".utf8) {
        result.append(contentsOf: name.bytes[index..<end])
      } else if result.suffix(8).elementsEqual("operator".utf8), name.bytes[index..<end].elementsEqual("()".utf8) {
        result.append(contentsOf: "()".utf8)
      }
      index = dropsInnerQualifiers ? endOfInnerQualifiers(name, from: end) : end
    }
    var text = NameText(result)
    dropQualifiers(&text)
    return text
  }

  /// The index behind the qualifiers of a function at `start`, if another name follows them; else `start`.
  private static func endOfInnerQualifiers(_ name: NameText, from start: Int) -> Int {
    var index = start
    while let next = qualifiers.first(where: { name.bytes[index...].starts(with: $0.utf8) }) {
      index += next.utf8.count
    }
    return name.bytes[index...].starts(with: "::".utf8) ? index : start
  }

  private static func withoutReturnType(_ name: NameText) -> NameText {
    // "operator new", "operator unsigned int": what is behind the word belongs to the name.
    var limit = name.bytes.count
    if let word = name.find("operator "), word == 0 || !NameText.isWord(name.bytes[word - 1]) { limit = word }
    guard let space = name.bytes[..<limit].lastIndex(of: UInt8(ascii: " ")) else { return name }
    let rest = NameText(name.bytes[(space + 1)...])
    return rest.bytes.isEmpty ? name : NameText(rest.bytes.drop { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "&") })
  }

  // MARK: Rust

  private static func isRust(_ name: NameText) -> Bool {
    if name.contains("::<") || name.contains("{{closure}}") || name.contains("{closure#") { return true }
    return name.hasPrefix("<") && name.end(of: 0).map { name.bytes[$0...].starts(with: "::".utf8) } == true
  }

  /// `<A as Trait>::f` stays, `<A>::f` is `A::f`, and types behind a name go, as older symbols have none.
  ///
  /// - Parameter isNumbered: whether closures behind the first of a function keep their numbers.
  private static func rust(_ name: NameText, isNumbered: Bool) -> NameText {
    var result: [UInt8] = []
    var index = 0
    while index < name.bytes.count {
      if name.bytes[index] == UInt8(ascii: "<"), let end = name.end(of: index) {
        if index == 0 {
          result.append(contentsOf: rustOwner(NameText(name.bytes[1..<(end - 1)]), isNumbered: isNumbered))
        }
        // "f::<T>" and "Vec<T>" alike.
        if result.suffix(2).elementsEqual("::".utf8) { result.removeLast(2) }
        index = end
        continue
      }
      if name.bytes[index...].starts(with: "{closure#".utf8), let end = name.end(of: index) {
        let number = Int(NameText(name.bytes[(index + 9)..<(end - 1)]).text) ?? 0
        result.append(contentsOf: (isNumbered && number > 0 ? "{{closure}}\(number + 1)" : "{{closure}}").utf8)
        index = end
        continue
      }
      result.append(name.bytes[index])
      index += 1
    }
    return NameText(result)
  }

  private static func rustOwner(_ type: NameText, isNumbered: Bool) -> [UInt8] {
    guard let trait = type.findOutside(" as ") else { return rust(type, isNumbered: isNumbered).bytes }
    let owner = rust(NameText(type.bytes[..<trait]), isNumbered: isNumbered).bytes
    let whole = rust(NameText(type.bytes[(trait + 4)...]), isNumbered: isNumbered).bytes
    return Array("<".utf8) + owner + " as ".utf8 + whole + ">".utf8
  }
}
