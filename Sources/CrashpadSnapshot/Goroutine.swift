// SPDX-License-Identifier: Apache-2.0
/// The goroutine that a thread runs, as Go's runtime has saved it: the runtime does some of its work on another stack.
///
/// Sources: `g`, `m` and `gobuf` in Go's src/runtime/runtime2.go.
package struct Goroutine: Sendable, Hashable {
  /// The address of its `g`.
  package let address: UInt64
  /// The addresses at which its stack begins and ends.
  private let stackStart: UInt64
  package let stackEnd: UInt64
  /// The saved registers.
  package let stackPointer: UInt64
  package let instructionPointer: UInt64
  package var stack: (address: UInt64, size: UInt64) { (stackStart, stackEnd - stackStart) }

  /// The bytes of a `g` that are looked at.
  fileprivate static let size: UInt64 = 80
  /// The bytes of an `m` that are looked at.
  fileprivate static let machineSize: UInt64 = 512
  /// The offsets of `g.stack.hi`, `g.m`, `g.sched.sp`, `g.sched.pc` and `g.sched.g`.
  private static let stackEndPlace: UInt64 = 8
  package static let machinePlace: UInt64 = 48
  private static let savedStack: UInt64 = 56
  private static let savedCode: UInt64 = 64
  private static let savedSelf: UInt64 = 72
  /// No system has memory below.
  fileprivate static let firstAddress: UInt64 = 4096

  /// The goroutine of a thread. Its place in `m` differs by version; it is the one that belongs to this `m`, names itself, and
  /// has its saved stack pointer in its own stack.
  ///
  /// - Parameters:
  ///   - machine: the address of the thread's `m`.
  ///   - system: the address of the `g` of its system stack.
  ///   - word: the eight bytes at an address; nil if they are not in the dump.
  package init?(of machine: UInt64, besides system: UInt64, _ word: (UInt64) -> UInt64?) {
    for offset in stride(from: 8, to: Self.machineSize, by: 8) as StrideTo<UInt64> {
      guard let address = word(machine &+ offset), address != system, address >= Self.firstAddress,
        word(address &+ Self.machinePlace) == machine, word(address &+ Self.savedSelf) == address,
        let start = word(address), let end = word(address &+ Self.stackEndPlace),
        let sp = word(address &+ Self.savedStack), start <= sp, sp < end,
        let pc = word(address &+ Self.savedCode), pc >= Self.firstAddress
      else { continue }
      (self.address, stackStart, stackEnd, stackPointer, instructionPointer) = (address, start, end, sp, pc)
      return
    }
    return nil
  }
}

/// The records of Go's runtime for a thread, which lead to its goroutine.
package struct GoThread: Sendable {
  /// The address of the running `g`.
  private let current: UInt64
  /// The address of its `m`.
  private let machine: UInt64
  /// The address of the `g` of its system stack.
  private let system: UInt64
  /// Nil if the thread runs none.
  package let goroutine: Goroutine?

  /// The number of threads that are looked at: a damaged dump may have any number that share records.
  package static let maximumCount = 16_384

  /// Nil if these are not the registers of a thread of Go's runtime, or the dump does not have the records.
  package init?(_ registers: CPUContext?, _ word: (UInt64) -> UInt64?) {
    guard let current = registers?.goroutineRegister else { return nil }
    self.init(current: current, word)
  }

  /// - Parameter current: the address of the running `g`.
  package init?(current: UInt64, _ word: (UInt64) -> UInt64?) {
    guard current >= Goroutine.firstAddress, let machine = word(current &+ Goroutine.machinePlace),
      let system = word(machine), word(system &+ Goroutine.machinePlace) == machine
    else { return nil }
    (self.current, self.machine, self.system) = (current, machine, system)
    goroutine = Goroutine(of: machine, besides: system, word)
  }

  /// A thread that called C for a goroutine; nil if this is not the address of its record.
  package init?(calling goroutine: UInt64, _ word: (UInt64) -> UInt64?) {
    self.init(current: goroutine, word)
    guard self.goroutine?.address == goroutine else { return nil }
  }

  /// The places of the records.
  package var records: [(start: UInt64, end: UInt64)] {
    var records = [(machine, machine &+ Goroutine.machineSize)]
    for address in [system, current] + (goroutine.map { [$0.address] } ?? []) {
      records.append((address, address &+ Goroutine.size))
    }
    return records.filter { $0.0 < $0.1 }
  }
}

extension CPUContext {
  /// The register in which Go has the address of the running `g`.
  fileprivate var goroutineRegister: UInt64? {
    switch self {
    case .x86_64(let context): context.r[14 - 8]
    case .arm64(let context): context.x[28]
    case .named: nil
    }
  }
}
