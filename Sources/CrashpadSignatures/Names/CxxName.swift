// SPDX-License-Identifier: Apache-2.0
/// Names of C++ and Rust.
enum CxxName {
  private static let prefixes = [
    "virtual thunk to ", "non-virtual thunk to ", "covariant return thunk to ", "static ", "[abi:cxx11] ",
    "transaction clone for ",
    "public: ", "private: ", "protected: ", "virtual ", "TLS wrapper function for ", "TLS init function for ",
  ]

  static func normalized(_ name: NameText) -> String {
    var name = name
    while prefixes.contains(where: { name.drop(prefix: $0) }) {}
    unifyAnonymous(&name)
    replaceAll("[abi:cxx11]", with: "", in: &name)
    if isRust(name) { return rust(name).text }
    name = collapsingTypes(name)
    unifyLambdas(&name)
    name = withoutParameters(name)
    unifyLambdas(&name)
    name = withoutReturnType(name)
    while name.hasSuffix("λ::operator()") || name.hasSuffix("λ::__invoke") || name.hasSuffix("λ::_FUN") {
      name.bytes.removeSubrange(
        (name.bytes.count - (name.hasSuffix("_FUN") ? 6 : name.hasSuffix("__invoke") ? 10 : 12))...)
    }
    return name.text
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

  private static func replaceAll(_ part: String, with new: String, in name: inout NameText) {
    while let start = name.find(part) { name.bytes.replaceSubrange(start..<start + part.utf8.count, with: new.utf8) }
  }

  // MARK: Lambdas

  /// `{lambda(int)#1}`, `$_0`, `'lambda0'(int)`, `<lambda(int)>` are λ.
  private static func unifyLambdas(_ name: inout NameText) {
    while let start = name.find("{lambda"), let end = name.end(of: start) {
      name.bytes.replaceSubrange(start..<end, with: "λ".utf8)
    }
    while let start = name.find("<lambda"), let end = name.end(of: start) {
      name.bytes.replaceSubrange(start..<end, with: "λ".utf8)
    }
    while let start = name.find("'lambda"), let quote = name.bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "'")) {
      name.bytes.replaceSubrange(start...quote, with: "λ".utf8)
    }
    while let start = name.find("$_") {
      let digits = name.bytes[(start + 2)...].prefix(while: NameText.isDigit).count
      guard digits > 0 else { return }
      name.bytes.replaceSubrange(start..<(start + 2 + digits), with: "λ".utf8)
    }
  }

  // MARK: Parameters and return type

  private static func withoutParameters(_ name: NameText) -> NameText {
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
      index = end
    }
    var text = NameText(result)
    while [" const", " volatile", " &", " &&", " noexcept"].contains(where: { text.drop(suffix: $0) }) {}
    return text
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
  private static func rust(_ name: NameText) -> NameText {
    var result: [UInt8] = []
    var index = 0
    while index < name.bytes.count {
      if name.bytes[index] == UInt8(ascii: "<"), let end = name.end(of: index) {
        if index == 0 { result.append(contentsOf: rustOwner(NameText(name.bytes[1..<(end - 1)]))) }
        // "f::<T>" and "Vec<T>" alike.
        if result.suffix(2).elementsEqual("::".utf8) { result.removeLast(2) }
        index = end
        continue
      }
      if name.bytes[index...].starts(with: "{closure#".utf8), let end = name.end(of: index) {
        result.append(contentsOf: "{{closure}}".utf8)
        index = end
        continue
      }
      result.append(name.bytes[index])
      index += 1
    }
    return NameText(result)
  }

  private static func rustOwner(_ type: NameText) -> [UInt8] {
    guard let trait = type.findOutside(" as ") else { return rust(type).bytes }
    let owner = rust(NameText(type.bytes[..<trait])).bytes
    return Array("<".utf8) + owner + " as ".utf8 + rust(NameText(type.bytes[(trait + 4)...])).bytes + ">".utf8
  }
}
