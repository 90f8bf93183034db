// SPDX-License-Identifier: Apache-2.0
/// The exception syndrome register of arm64, `esr`.
package struct FaultSyndrome: Sendable {
  package let value: UInt64
  /// Bits 31 to 26.
  package var exceptionClass: UInt64 { value >> 26 & 0x3f }

  package init(_ value: UInt64) { self.value = value }

  private var isDataAbort: Bool { exceptionClass == 0x24 || exceptionClass == 0x25 }
  private var isInstructionAbort: Bool { exceptionClass == 0x20 || exceptionClass == 0x21 }

  /// Whether a data abort was caused by a write; nil for cache maintenance, which is reported like a write.
  package var isWrite: Bool? {
    guard isDataAbort, value >> 8 & 1 == 0 else { return nil }
    return value >> 6 & 1 == 1
  }

  /// The fault status of an abort: bits 5 to 0.
  package var status: UInt64? { isDataAbort || isInstructionAbort ? value & 0x3f : nil }

  /// The immediate of a brk instruction.
  package var trap: UInt64? { exceptionClass == 0x3c ? value & 0xffff : nil }

  /// The rows for the bits, the most informative first.
  package var rows: [CodeMeaning] {
    let first = trap.map { number in CodeMeaning.traps.first { $0.has(number) } } ?? nil
    let fault = status.flatMap { number in CodeMeaning.faultStatuses.first { $0.has(number) } }
    let ec = exceptionClass
    return [first, fault, CodeMeaning.syndromes.first { $0.has(ec) }].compactMap { $0 }
  }

  package var facts: [DecodedFact] {
    let ec = exceptionClass
    let row = CodeMeaning.syndromes.first { $0.has(ec) }
    var facts = [DecodedFact("class", "\(hex(ec)) \(row?.name ?? "unknown")")]
    if let isWrite { facts.append(DecodedFact("access", isWrite ? "write" : "read")) }
    if isInstructionAbort { facts.append(DecodedFact("access", "execution")) }
    if let status {
      let row = CodeMeaning.faultStatuses.first { $0.has(status) }
      facts.append(DecodedFact("status", "\(hex(status)) \(row.map { "\($0.name): \($0.event)" } ?? "unknown")"))
    }
    if let trap {
      let row = CodeMeaning.traps.first { $0.has(trap) }
      facts.append(DecodedFact("immediate", "\(hex(trap)) \(row?.name ?? "unknown")"))
    }
    return facts
  }
}
