// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON
import CrashpadSymbolication
import CrashpadView

/// The instruction at the crash and what follows from it, in JSON documents, with the names of rust-minidump.
enum InstructionRecord {
  private typealias Owner = (view: CrashView, analysis: CrashView.CrashAnalysis)

  /// All are null without an exception.
  static let members = Record<CrashView>(.members(of: analysis) { view in view.crashAnalysis.map { (view, $0) } })

  private static let analysis = Record<Owner?>(
    .object(
      "adjusted_address", adjusted,
      "The address in use if `address` is not it: one that no pointer can have, or an offset from an object at 0."
    ) { owner in owner.flatMap { owner in owner.analysis.adjusted.map { (owner.view, $0) } } },
    .word(
      "instruction_status", of: CrashView.InstructionStatus.allCases.map(\.rawValue),
      "Whether the instruction was `read`, or why not: `no-registers`; `no-code`, as neither the dump nor a file of the program has its bytes; `no-library`, as the system's capstone is not installed; `invalid`, as the bytes are no instruction; or `other-processor`."
    ) { $0?.analysis.status.rawValue },
    .text("instruction", "The instruction at which the processor stopped; null unless it was read.") {
      $0?.analysis.instruction?.text
    },
    .list(
      "memory_accesses", access,
      "The memory that the instruction of an x86 processor accesses; null if it can't be known.", .nullable
    ) { owner in
      owner.flatMap { owner in owner.analysis.instruction?.accesses?.map { Place(owner.view, owner.analysis, $0) } }
    },
    .object(
      "instruction_pointer_update", target,
      "The address at which the instruction, a jump, call or return, makes the program go on; null if it makes none, or it can't be known."
    ) { owner in
      owner.flatMap { owner in
        owner.analysis.instruction?.target.map { Place(owner.view, owner.analysis, InstructionAccess(at: $0)) }
      }
    },
    .list(
      "possible_bit_flips", flip,
      "Mapped addresses that differ in one bit from the one that was accessed, or from a register in its operand: the program may have meant them, if its memory is faulty. Null if they could not be looked for, which needs an access that failed on x86-64, the instruction, and the list of the mapped memory. An address below 4096 has none, as it is an offset from 0.",
      .nullable
    ) { owner in owner.flatMap { owner in owner.analysis.bitFlips?.map { (owner.view, $0) } } },
    .texts(
      "crash_inconsistencies", of: .oneOf(CrashView.CrashInconsistency.allCases.map(\.rawValue)),
      "Statements of the system about the crash that the instruction or the list of memory contradicts; null if the instruction is not known.",
      .nullable
    ) { $0?.analysis.inconsistencies?.map(\.rawValue) })

  private static let adjusted = Record<(view: CrashView, address: CrashView.AdjustedAddress)>(
    .word("kind", of: ["non-canonical", "null-pointer"], "`non-canonical` or `null-pointer`.", .always) {
      if case .nullPointer = $0.address { "null-pointer" } else { "non-canonical" }
    },
    .addressText("address", "The address that no pointer can have.", .omittable) { owner in
      if case .nonCanonical(let address) = owner.address { owner.view.fullAddress(address) } else { nil }
    },
    .addressText("offset", "The offset from 0.", .omittable) { owner in
      if case .nullPointer(let offset) = owner.address { owner.view.fullAddress(offset) } else { nil }
    })

  private final class Place: Sendable {
    let address: String
    let access: InstructionAccess
    let isGuarded: Bool

    init(_ view: CrashView, _ analysis: CrashView.CrashAnalysis, _ access: InstructionAccess) {
      address = view.fullAddress(access.address)
      self.access = access
      isGuarded = analysis.isGuarded(access.address)
    }
  }

  private static let target = Record<Place>(
    .addressText("address", "The first byte.", .always) { $0.address },
    .flag(
      "is_likely_guard_page",
      "True if it is in a small range without access beside one with access, as after the end of a stack; omitted otherwise.",
      .omittable
    ) { $0.isGuarded ? true : nil })

  private static let access = target.adding(
    .number("size", "The number of bytes.") { $0.access.size },
    .word(
      "access_type", of: InstructionAccess.Kind.allCases.map(\.rawValue), "`read`, `write` or `readwrite`.", .omittable
    ) { $0.access.kind?.rawValue })

  private static let flip = Record<(view: CrashView, flip: BitFlip)>(
    .addressText("address", "The mapped address, or 0.", .always) { $0.view.fullAddress($0.flip.address) },
    .text("source_register", "The register with the other address; null for the address that was accessed.") {
      $0.flip.register
    },
    .object("details", details, "The facts that count for or against it.", .always) { $0.flip },
    .thousandths("confidence", "An estimate from 0 to 1, by the weights of rust-minidump.") { $0.flip.confidence })

  private static let details = Record<BitFlip>(
    .flag("was_non_canonical", "Whether no pointer can have the address that was accessed.") { $0.wasNonCanonical },
    .flag("is_null", "Whether `address` is 0.") { $0.isNull },
    .flag("was_low", "Whether `address` is 0, and the other at most 8192.") { $0.wasLow },
    .number("nearby_registers", "The registers within 4096 bytes of `address`.", .always) { $0.nearbyRegisters },
    .flag(
      "poison_registers", "Whether a register has a pattern with which allocators fill memory that was freed."
    ) { $0.hasPoison })
}
