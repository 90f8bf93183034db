// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The code words of EXC_GUARD.
///
/// Reports print the first one as a decimal number after "Termination Reason: GUARD".
package struct GuardCode: Sendable {
  package let type: UInt64
  package let flavor: UInt64
  package let target: UInt32
  package let facts: [DecodedFact]
  /// The rows of the flavors, then the row of the type.
  package let rows: [CodeMeaning]
  /// Such as "FD CLOSE", "MACH_PORT flavor 0x3000" or "type 7".
  package let name: String

  package init(code: UInt64, subcode: UInt64?) {
    type = Self.isOfFirstSystems(code) ? 2 : code >> 61
    flavor = code >> 32 & 0x1fff_ffff
    target = UInt32(truncatingIfNeeded: code)
    let (type, flavor, target) = (self.type, self.flavor, self.target)
    let typeRow = CodeMeaning.guards.first { $0.context == "EXC_GUARD" && $0.has(type) }
    let flavors = typeRow.map { row in CodeMeaning.guards.filter { $0.context == "EXC_GUARD \(row.name)" } } ?? []
    // For descriptors and files the flavor is a set of bits, for other types a number.
    let isBits = type == 2 || type == 4
    let found = flavors.filter { row in row.number.map { isBits ? flavor & $0 != 0 : flavor == $0 } ?? false }
    let known = found.reduce(0) { $0 | ($1.number ?? 0) }
    rows = found + [typeRow].compactMap { $0 }
    var words = [typeRow?.name ?? "type \(type)"]
    if !found.isEmpty { words.append(found.map(\.name).joined(separator: "|")) }
    if flavor & ~known != 0 { words.append("flavor \(hex(flavor & ~known))") }
    name = words.joined(separator: " ")
    facts = Self.facts(type: type, flavor: flavor, target: target, subcode: subcode)
  }

  /// Whether a first code says what was misused, and how. Without a type, reports have the target and the payload in its place.
  package static func hasFlavor(_ code: UInt64) -> Bool { code >> 61 != 0 || isOfFirstSystems(code) }

  /// The first systems with guards had those of file descriptors alone, and no bits for the type.
  private static func isOfFirstSystems(_ code: UInt64) -> Bool { (1...0x3f).contains(code >> 32) }

  private static func facts(type: UInt64, flavor: UInt64, target: UInt32, subcode: UInt64?) -> [DecodedFact] {
    func fact(_ label: String, _ value: UInt64?) -> DecodedFact? { value.map { DecodedFact(label, hex($0)) } }
    let facts: [DecodedFact?] =
      switch type {
      // The target of EXCEPTION_BEHAVIOR_ENFORCE is no name of a port.
      case 1: [fact(flavor == 6 ? "target" : "port", UInt64(target)), fact("payload", subcode)]
      case 2: [DecodedFact("file descriptor", "\(target)"), fact("guard", subcode)]
      case 3: [DecodedFact("namespace", namespaceName(target)), fact("reason", subcode)]
      case 4: [DecodedFact("process", "\(target)"), fact("guard", subcode)]
      case 5: [fact("offset", subcode)]
      case 6: [target == 0 ? fact("system call", subcode) : DecodedFact("Mach trap", "\(target)")]
      default: [fact("target", UInt64(target)), fact("subcode", subcode)]
      }
    return facts.compactMap { $0 }
  }

  private static func namespaceName(_ number: UInt32) -> String {
    let row = CodeMeaning.namespaces.first { $0.has(UInt64(number)) }
    return row.map { "\(number) (\($0.name))" } ?? "\(number)"
  }
}
