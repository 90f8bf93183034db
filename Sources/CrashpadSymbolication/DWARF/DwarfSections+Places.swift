// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The places of functions in their source: the namespaces and types around them, and the functions around lambdas.
extension DwarfSections {
  /// The place of a function of C++ or Rust in its source.
  struct Place {
    /// With its namespaces and types.
    var qualified: String?
    /// The place of a lambda in its function.
    var lambda: LambdaPlace?
    /// The number of a closure of Rust in its function.
    var closureNumber: Int?
    /// The path of the file that declares it.
    var file: String?
  }

  /// - Parameter offset: that of the function's entry, or of a call's.
  func place(at offset: UInt64, _ names: Names) -> Place {
    var place = Place()
    guard let (declaration, line, unit) = declaration(of: offset) else { return place }
    let owners = owners(of: declaration, unit: unit)
    // Clang's entry with the mangled name has no other one: its declaration has.
    let short = names.short ?? nameEntry(at: declaration)?.0.name.flatMap { text($0, unit: unit) }
    if let first = owners.first, first.kind == .type, isLambda(first, of: short),
      let function = owners.first(where: { $0.kind == .function }),
      // GCC gives the line of the type alone.
      let line = nameEntry(at: first.start)?.0.line ?? line, let start = self.declaration(of: function.start)?.line,
      line >= start
    {
      place.lambda = lambdaPlace(first.start, line, in: function, from: start, unit: unit)
    }
    if let first = owners.first, first.kind == .type, isCallable(first) {
      place.lambda = lambdaPlace(ofTemplateAt: first.start, depth: 0)
    }
    if names.linkage == nil, let short { place.qualified = qualified(short, by: owners) }
    return place
  }

  /// Whether a function calls what it was made for: a lambda that is in `std::function`, or that a thread begins with.
  static func isCallable(_ linkage: String) -> Bool {
    ["_ZNSt17_Function_handlerI", "_ZNSt6thread11_State_implI"].contains { linkage.hasPrefix($0) }
  }

  /// Whether the type of a function is one for such functions.
  private func isCallable(_ scope: EntryScope) -> Bool {
    guard let (entry, unit) = nameEntry(at: scope.start), let name = entry.name.flatMap({ text($0, unit: unit) }) else {
      return false
    }
    return name.hasPrefix("_Function_handler") || name.hasPrefix("_State_impl")
  }

  /// Deeper than types of one call nest: a state of a tuple of an object.
  private static let mostTemplates = 4

  /// The place of the first lambda among a template's arguments, or among those of templates that are its arguments; nil if there is
  /// none.
  private func lambdaPlace(ofTemplateAt offset: UInt64, depth: Int) -> LambdaPlace? {
    for type in templateTypes(at: offset) {
      if let place = lambdaPlace(ofTypeAt: type) { return place }
      if depth < Self.mostTemplates, let place = lambdaPlace(ofTemplateAt: type, depth: depth + 1) { return place }
    }
    return nil
  }

  private func lambdaPlace(ofTypeAt offset: UInt64) -> LambdaPlace? {
    guard let (entry, unit) = nameEntry(at: offset), let line = entry.line,
      mayBeLambda(entry, unit),
      let function = owners(of: offset, unit: unit).first(where: { $0.kind == .function }),
      let start = declaration(of: function.start)?.line, line >= start
    else { return nil }
    return lambdaPlace(offset, line, in: function, from: start, unit: unit)
  }

  /// - Parameters:
  ///   - type: the entry of the lambda's type.
  ///   - line: its line.
  ///   - start: that of its function.
  private func lambdaPlace(
    _ type: UInt64, _ line: UInt64, in function: EntryScope, from start: UInt64, unit number: Int
  ) -> LambdaPlace {
    let all = scopes(of: number)
    let first = all.indices.partitioningIndex { all[$0].start > function.start }
    let end = min(type, function.end)
    // A function of a hostile file may have any number of types.
    let before = all[first...].prefix(Self.mostSteps).prefix { $0.start < end }
    let rank = before.count { scope in
      guard scope.kind == .type, let (entry, unit) = nameEntry(at: scope.start), entry.line == line else {
        return false
      }
      return mayBeLambda(entry, unit)
    }
    return LambdaPlace(line: Int(clamping: line - start), rank: rank)
  }

  /// GCC names the type of a lambda "<lambda(int)>"; clang gives it no name.
  private func mayBeLambda(_ entry: NameEntry, _ unit: Int) -> Bool {
    entry.name.flatMap { text($0, unit: unit) }?.hasPrefix("<lambda") ?? true
  }

  private func templateTypes(at offset: UInt64) -> [UInt64] {
    guard let number = unit(at: offset), let scanner = scanner(units[number]) else { return [] }
    let header = units[number]
    let found = info.withBytes { info in
      scanner.templateTypes(
        info.extracting(Int(offset)..<header.end), unitStart: UInt64(header.start), most: entryBytesLeft)
    }
    entryBytesLeft -= found.bytes
    return found.types
  }

  /// Whether a type is that of a lambda. Clang gives it no name, as other types have none: its function then tells them apart.
  private func isLambda(_ scope: EntryScope, of function: String?) -> Bool {
    guard let (entry, unit) = nameEntry(at: scope.start) else { return false }
    if let name = entry.name.flatMap({ text($0, unit: unit) }) { return name.hasPrefix("<lambda") }
    return function.map { $0.hasPrefix("operator()") || $0 == "__invoke" } ?? false
  }

  /// - Parameter owners: the innermost first.
  private func qualified(_ short: String, by owners: [EntryScope]) -> String {
    var name = short
    for owner in owners {
      let names = names(at: owner.start)
      switch owner.kind {
      case .namespace: name = (names.short ?? "(anonymous namespace)") + "::" + name
      case .type: name = (isLambda(owner, of: short) ? "{lambda}" : names.short ?? "{unnamed}") + "::" + name
      case .function:
        // A mangled name has all owners.
        if let linkage = names.linkage { return (Demangler.demangle(linkage) ?? linkage) + "::" + name }
        guard let short = names.short else { return name }
        name = short + "::" + name
      }
    }
    return name
  }
}
