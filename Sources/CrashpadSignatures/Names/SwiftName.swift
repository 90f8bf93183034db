// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Names of Swift, as its demangler prints them in full or simplified, and as Apple's reports have them.
///
/// Labels of parameters stay, as they tell one method from another; types go.
enum SwiftName {
  private static let prefixes = [
    "specialized ", "partial apply forwarder for ", "partial apply for ", "@objc ", "@nonobjc ", "merged ", "static ",
    "class ", "dispatch thunk of ",
    "curry thunk of ", "distributed thunk ", "back deployment thunk for ", "async function pointer to ",
    "protocol witness for ",
    "vtable thunk for ", "override ", "key path getter for ", "key path setter for ",
    "one-time initialization function for ",
    "variable initialization expression of ", "property wrapper backing initializer of ", "implicit ", "dynamic ",
    "inlined ",
    "generic not re-abstracted ", "closure wrapped in ",
  ]

  /// Functions that the compiler makes between others; their names contain a type.
  private static let madeBetween = [
    "outlined ", "value witness for ", "type metadata ", "lazy protocol witness ", "associated type ",
  ]

  static func isMangled(_ symbol: String) -> Bool {
    for prefix in ["$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0", "__T0"] where symbol.utf8.starts(with: prefix.utf8) {
      return true
    }
    return false
  }

  static func isSwift(_ name: NameText, symbol: String) -> Bool {
    if isMangled(symbol) { return true }
    if name.contains("::") { return false }
    if madeBetween.contains(where: { name.hasPrefix($0) }) || name.contains(" : ") || name.hasSuffix(" infix") {
      return true
    }
    for cue in [
      "closure #", " -> ", "reabstraction thunk", "generic specialization <", "thunk for @", "suspend resume partial",
      "await resume partial",
    ]
    where name.contains(cue) { return true }
    if prefixes.contains(where: { $0 != "inlined " && name.hasPrefix($0) }) { return true }
    for suffix in [
      ".getter", ".setter", ".modify", ".read", ".deinit", ".init", ".unsafeMutableAddressor", ".unsafeAddressor",
      " infix(_:_:)",
    ]
    where name.hasSuffix(suffix) { return true }
    return hasLabels(name) || (name.contains(".") && name.hasSuffix("()") && !name.contains(" "))
  }

  /// "load(_:from:)"
  private static func hasLabels(_ name: NameText) -> Bool {
    guard name.hasSuffix(":)"), let open = name.bytes.lastIndex(of: UInt8(ascii: "(")) else { return false }
    return name.bytes[(open + 1)...].dropLast().allSatisfy { NameText.isWord($0) || $0 == UInt8(ascii: ":") }
  }

  static func normalized(_ name: NameText, image: String?, _ version: RuleVersion = .current) -> String {
    var name = name
    var closures: [String] = []
    while stripOne(&name, &closures, version) {}
    if name.hasPrefix("reabstraction thunk") { return "reabstraction thunk" }
    for prefix in madeBetween where name.hasPrefix(prefix) { return name.text }
    if name.hasPrefix("thunk for ") { return "thunk" }
    takeConformingType(&name)
    if let cut = name.findOutside(" dispatching to ") { name.bytes.removeSubrange(cut...) }
    // "f #1 (Swift.Int) -> () in owner": a function in a function, and what a defer runs.
    if let number = name.find(" #"), let inside = name.findOutside(" in ", from: number), number < inside {
      let local = NameText(name.bytes[..<number])
      let owner = normalized(NameText(name.bytes[(inside + 4)...]), image: image, version)
      return local.hasPrefix("$defer") || local.hasPrefix("defer") ? owner : "\(owner).\(local.text)"
    }
    let isFull = dropTypes(&name)
    unwrapPrivate(&name)
    let generic = CxxName.collapsingTypes(name)
    name = withLabels(generic)
    // A full name begins with its Swift module, which is most often the image's name.
    if isFull, let image, name.contains("."), name.drop(prefix: image + ".") {}
    if version == .first { return (closures.isEmpty ? "" : "(closure) ") + name.text }
    // An implicit one is written where its owner is, and has no number.
    let numbers = closures.filter { !$0.isEmpty }.reversed()
    // A closure in the code of a file has no function around it but the main function.
    let owner = name.bytes.isEmpty && !numbers.isEmpty ? "main" : name.text
    return owner + (numbers.isEmpty ? "" : ".λ" + numbers.joined(separator: "_"))
  }

  /// The module of a function by its full name; nil of a simplified name, and of code that the compiler made between others.
  ///
  /// - Parameter isFull: whether it is known to be full; otherwise only names with types are.
  static func owner(_ name: NameText, isFull: Bool) -> String? {
    var name = name
    var closures: [String] = []
    while stripOne(&name, &closures) {}
    if name.hasPrefix("(extension in "), let end = name.find("):") { return NameText(name.bytes[14..<end]).text }
    if madeBetween.contains(where: { name.hasPrefix($0) }) || name.contains("thunk") { return nil }
    if let number = name.find(" #"), let inside = name.findOutside(" in ", from: number) {
      return owner(NameText(name.bytes[(inside + 4)...]), isFull: isFull)
    }
    let mark = " in conformance "
    if let conformance = name.findOutside(mark) {
      let type = NameText(name.bytes[(conformance + mark.utf8.count)...])
      return type.hasPrefix("<") ? nil : owner(type, isFull: isFull)
    }
    guard isFull || name.findOutside(" -> ") != nil || name.findOutside(" : ") != nil else { return nil }
    let module = name.bytes.prefix(while: NameText.isWord)
    guard !module.isEmpty, name.bytes.dropFirst(module.count).first == UInt8(ascii: ".") else { return nil }
    return NameText(module).text
  }

  /// "Entry.score() in conformance Note" is Note.score: the compiler puts the function itself in the place of what only
  /// calls it, and one protocol has a function for each type.
  private static func takeConformingType(_ name: inout NameText) {
    let mark = " in conformance "
    guard let cut = name.findOutside(mark) else { return }
    var type = NameText(name.bytes[(cut + mark.utf8.count)...])
    name.bytes.removeSubrange(cut...)
    var requirement: NameText?
    if let colon = type.findOutside(" : ") {
      // In full, "Module.Entry in Module" follows.
      let whole = NameText(type.bytes[(colon + 3)...])
      requirement = NameText(whole.bytes[..<(whole.findOutside(" in ") ?? whole.bytes.count)])
      type.bytes.removeSubrange(colon...)
    }
    if type.hasPrefix("<"), let end = type.end(of: 0), type.bytes[end...].first == UInt8(ascii: " ") {
      type.bytes.removeSubrange(...end)
    }
    if let generic = type.find("<") { type.bytes.removeSubrange(generic...) }
    unwrapPrivate(&type)
    guard !type.bytes.isEmpty, type.bytes.allSatisfy({ NameText.isWord($0) || $0 == UInt8(ascii: ".") }) else { return }
    if let requirement, !name.hasPrefix(requirement.text + ".") { return }
    let end = requirement?.bytes.count ?? name.bytes.firstIndex { !NameText.isWord($0) } ?? name.bytes.count
    guard end < name.bytes.count, name.bytes[end] == UInt8(ascii: ".") else { return }
    name.bytes.replaceSubrange(..<end, with: type.bytes)
  }

  /// - Parameter closures: the numbers of closures, the innermost first; empty texts of implicit ones.
  private static func stripOne(
    _ name: inout NameText, _ closures: inout [String], _ version: RuleVersion = .current
  ) -> Bool {
    for prefix in ["closure #", "implicit closure #"] where name.hasPrefix(prefix) {
      guard let inside = name.findOutside(" in ") else { return false }
      let digits = name.bytes[prefix.utf8.count...].prefix(while: NameText.isDigit)
      closures.append(prefix.hasPrefix("implicit") ? "" : NameText(digits).text)
      name.bytes.removeSubrange(..<(inside + 4))
      return true
    }
    for prefix in prefixes where name.drop(prefix: prefix) { return true }
    for prefix in [
      "generic specialization <", "function signature specialization <", "generic partial specialization <",
    ]
    where name.hasPrefix(prefix) {
      if let open = name.bytes.firstIndex(of: UInt8(ascii: "<")), let end = name.end(of: open),
        name.bytes[end...].starts(with: " of ".utf8)
      {
        name.bytes.removeSubrange(..<(end + 4))
        return true
      }
      // The demangler does not close the bracket of a closure without arguments.
      guard version != .first, let end = name.find("> of ") else { return false }
      name.bytes.removeSubrange(..<(end + 5))
      return true
    }
    // "(2) await resume partial function for f()"
    if name.hasPrefix("("), let end = name.find(" resume partial function for "), end < 20 {
      name.bytes.removeSubrange(..<(end + 29))
      return true
    }
    if name.hasPrefix("default argument "), let of = name.find(" of ") {
      name.bytes.removeSubrange(..<(of + 4))
      return true
    }
    return false
  }

  /// Removes the return type of a function and the type of a property.
  ///
  /// - Returns: whether there was one, as only full names have.
  private static func dropTypes(_ name: inout NameText) -> Bool {
    var isFull = false
    if let type = name.findOutside(" : ") {
      name.bytes.removeSubrange(type...)
      isFull = true
    }
    if let arrow = name.findOutside(" -> ") {
      name.bytes.removeSubrange(arrow...)
      isFull = true
    }
    var isTrimmed = true
    while isTrimmed {
      isTrimmed = false
      for word in [" throws", " rethrows", " async"] where name.drop(suffix: word) { isTrimmed = true }
      if name.hasSuffix(")"), let typed = name.findOutside(" throws(") {
        name.bytes.removeSubrange(typed...)
        isTrimmed = true
      }
    }
    return isFull
  }

  /// "App.(secret in _0123ABCD).load" is App.secret.load.
  private static func unwrapPrivate(_ name: inout NameText) {
    while let mark = name.find(" in _"), let open = name.bytes[..<mark].lastIndex(of: UInt8(ascii: "(")),
      let end = name.end(of: open),
      end > mark
    {
      name.bytes.replaceSubrange(open..<end, with: Array(name.bytes[(open + 1)..<mark]))
    }
  }

  /// The labels of the last list of parameters in place of it; nothing if no parameter has one.
  private static func withLabels(_ name: NameText) -> NameText {
    guard name.hasSuffix(")") else { return name }
    var open: Int?
    var start = 0
    while let next = name.findOutside("(", from: start), let end = name.end(of: next) {
      open = end == name.bytes.count ? next : nil
      start = end
    }
    guard let open, open > 0 else { return name }
    let list = NameText(name.bytes[(open + 1)..<(name.bytes.count - 1)])
    let labels = self.labels(list)
    let head = NameText(name.bytes[..<open])
    guard labels.contains(where: { $0 != "_" }) else { return head }
    return NameText(head.text + "(" + labels.map { $0 + ":" }.joined() + ")")
  }

  private static func labels(_ list: NameText) -> [String] {
    if list.bytes.isEmpty { return [] }
    let isShort = list.bytes.allSatisfy { NameText.isWord($0) || $0 == UInt8(ascii: ":") } && list.hasSuffix(":")
    if isShort { return list.text.split(separator: ":").map(String.init) }
    var labels: [String] = []
    var rest = list
    while true {
      let comma = rest.findOutside(", ")
      let part = NameText(rest.bytes[..<(comma ?? rest.bytes.count)])
      let label = part.findOutside(": ").map { NameText(part.bytes[..<$0]).text }
      labels.append(label.flatMap { $0.utf8.allSatisfy(NameText.isWord) ? $0 : nil } ?? "_")
      guard let comma else { return labels }
      rest = NameText(rest.bytes[(comma + 2)...])
    }
  }
}
