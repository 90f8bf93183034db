// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The code words of EXC_RESOURCE.
///
/// In XNU, the macros that decode WAKEUPS have the masks of two fields swapped; this
/// follows the macros that encode it.
package struct ResourceCode: Sendable {
  package let type: UInt64
  package let flavor: UInt64
  /// Such as "limit", "50 % over 180 s".
  package let facts: [DecodedFact]
  /// The rows of the flavor, if known, and of the resource.
  package let rows: [CodeMeaning]

  package init(code: UInt64, subcode: UInt64?) {
    type = code >> 61 & 7
    flavor = code >> 58 & 7
    let (type, flavor) = (self.type, self.flavor)
    let typeRow = CodeMeaning.resources.first { $0.context == "EXC_RESOURCE" && $0.has(type) }
    let flavorRow = typeRow.flatMap { typeRow in
      CodeMeaning.resources.first { $0.context == "EXC_RESOURCE \(typeRow.name)" && $0.has(flavor) }
    }
    rows = [flavorRow, typeRow].compactMap { $0 }
    var facts: [DecodedFact] = []
    func add(_ label: String, _ text: String?) { if let text { facts.append(DecodedFact(label, text)) } }
    switch type {
    case 1:
      add("limit", "\(code & 0x7f) % of a CPU over \(code >> 7 & 0x1ff_ffff) s")
      add("observed", subcode.map { "\($0 & 0x7f) %" })
    case 2:
      add("limit", "\(code & 0xf_ffff) wakeups/s over \(code >> 20 & 0xfff) s")
      add("observed", subcode.map { "\($0 & 0xf_ffff) wakeups/s" })
    case 3: add("limit", "\(code & 0x1fff) MB")
    case 4:
      add("limit", "\(code & 0x7fff) MB over \(code >> 15 & 0x1_ffff) s")
      add("observed", subcode.map { "\($0 & 0x7fff) MB" })
    case 5: add("threads", "\(code & 0x7fff)")
    case 6: add("ports", "\(code & 0xff_ffff)")
    default: break
    }
    self.facts = facts
  }

  /// Such as "CPU MONITOR_FATAL" or "type 7".
  package var name: String {
    guard let typeRow = rows.last else { return "type \(type)" }
    if rows.count == 2 { return "\(typeRow.name) \(rows[0].name)" }
    return flavor == 0 ? typeRow.name : "\(typeRow.name) flavor \(flavor)"
  }
}

/// A decoded part of a code word.
package struct DecodedFact: Sendable, Hashable {
  package let label: String
  package let text: String

  init(_ label: String, _ text: String) {
    self.label = label
    self.text = text
  }
}

extension [DecodedFact] {
  /// Such as "port 0x703, payload 0x0".
  var text: String { map { "\($0.label) \($0.text)" }.joined(separator: ", ") }
}
