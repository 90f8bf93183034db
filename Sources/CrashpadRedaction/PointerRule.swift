// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Decides which words of memory and registers stay: zero, code addresses, and aligned stack addresses.
///
/// Compare Crashpad's `snapshot/sanitized/memory_snapshot_sanitized.cc`, which also keeps small numbers.
struct PointerRule: Sendable {
  private static let greatestSmallNumber: UInt64 = 4096

  /// Modules and ranges of code above this size or address are ignored: they would turn every word into an address.
  private static let maximumCodeSize: UInt64 = 1 << 32
  private static let addressLimit: UInt64 = 1 << 48

  /// The size of a word in bytes: 8, or 4 on 32-bit machines.
  let wordSize: Int
  var wordMask: UInt64 { wordSize == 8 ? .max : 0xffff_ffff }
  private let code: AddressRanges
  private let stacks: AddressRanges
  /// The bits of a return address that are not part of the address.
  private let masks: [UInt64]
  private let keepsSmallNumbers: Bool
  /// The greatest values that stay at some addresses: those of a handler's record that say for which fault it was called.
  private var limits: [UInt64: UInt64] = [:]
  /// The places of the fault's address in such records. An address in a stack, in the guard below it, or in memory that may be
  /// accessed tells of no data: the last one says that the handler made the memory accessible.
  private var faultPlaces: Set<UInt64> = []
  private var accessible = AddressRanges([])
  /// The addresses of the codes in such records. Those of sent signals are negative.
  private var codes: Set<UInt64> = []
  private static let codesOfSent: Set<UInt64> = [0xffff_ffff, 0xffff_fffa]
  /// The bit with which Swift marks the frames of asynchronous functions in their saved frame pointers.
  private static let asynchronousFrame: UInt64 = 1 << 60

  init(
    _ architecture: CPUArchitecture, code: [(address: UInt64, size: UInt64)],
    stacks: [(address: UInt64, size: UInt64)], addressMask: UInt64?, keepsSmallNumbers: Bool
  ) {
    wordSize = architecture.hasNarrowAddresses ? 4 : 8
    // The address just after the last byte counts: a call may be the last instruction of a
    // function, and a stack may end there.
    func ranges(_ list: [(address: UInt64, size: UInt64)]) -> AddressRanges {
      AddressRanges(
        list.filter { $0.size > 0 && $0.size <= Self.maximumCodeSize && $0.address < Self.addressLimit }
          .map { ($0.address, $0.address + $0.size) })
    }
    self.code = ranges(code)
    self.stacks = ranges(stacks)
    var masks: [UInt64] = []
    if architecture == .arm64 {
      // The masks of Linux and iOS.
      masks = [~0 << 48, ~0 << 39]
      let bits = addressMask?.leadingOnes ?? 0
      if let addressMask, (8...32).contains(bits), addressMask << bits == 0 { masks.append(addressMask) }
    }
    self.masks = masks
    self.keepsSmallNumbers = keepsSmallNumbers
  }

  /// Keeps what says for which fault a handler was called, in the kernel's records on the stacks of x86-64.
  ///
  /// - Parameter listed: the memory of the process.
  mutating func keepFaults(ofRecordsAt addresses: [UInt64], _ listed: [ListedRange]) {
    if !addresses.isEmpty {
      accessible = AddressRanges(
        listed.filter { !$0.protection.isEmpty && $0.last < Self.addressLimit }.map { ($0.address, $0.last) })
    }
    for address in addresses {
      for (place, limit) in Self.faultLimits { limits[address &+ place] = limit }
      codes.insert(address &+ SignalFrame64.code)
      faultPlaces.formUnion([address &+ SignalFrame64.pageFaultAddress, address &+ SignalFrame64.faultAddress])
    }
  }

  private func isOfFault(_ word: UInt64, at place: UInt64) -> Bool {
    guard let limit = limits[place] else { return isCodeOfSent(word, at: place) }
    let isPlace = faultPlaces.contains(place) && (stacks.contains(word) || accessible.contains(word))
    return word <= limit || isPlace || isCodeOfSent(word, at: place)
  }

  private func isCodeOfSent(_ word: UInt64, at place: UInt64) -> Bool {
    Self.codesOfSent.contains(word) && codes.contains(place)
  }

  private static let faultLimits: [(place: UInt64, limit: UInt64)] = [
    (SignalFrame64.segments, SignalFrame64.programSegments), (SignalFrame64.errorCode, 31), (SignalFrame64.trap, 31),
    (SignalFrame64.signal, 64), (SignalFrame64.code, 0x80), (SignalFrame64.pageFaultAddress, greatestSmallNumber),
    (SignalFrame64.faultAddress, greatestSmallNumber),
  ]

  /// - Parameter mapped: memory that can be executed, of modules or not.
  init(
    _ snapshot: ProcessSnapshot, mapped: [(address: UInt64, size: UInt64)] = [],
    stacks: [(address: UInt64, size: UInt64)] = [],
    keepsSmallNumbers: Bool
  ) {
    let modules = snapshot.modules.compactMap { module in
      module.address.flatMap { address in module.size.map { (address: address, size: $0) } }
    }
    self.init(
      snapshot.system.architecture, code: modules + mapped, stacks: stacks, addressMask: snapshot.system.addressMask,
      keepsSmallNumbers: keepsSmallNumbers)
  }

  func isStackAddress(_ word: UInt64) -> Bool {
    let address = word & ~Self.asynchronousFrame
    return address % UInt64(wordSize) == 0 && stacks.contains(address)
  }

  /// Whether the word is a code address, with or without a pointer authentication code.
  func isSignedCodeAddress(_ word: UInt64) -> Bool {
    code.contains(word) || masks.contains { code.contains(word & ~$0) }
  }

  /// Whether `word` stays anywhere.
  func keeps(_ word: UInt64) -> Bool {
    if word == 0 || code.contains(word) || isStackAddress(word) { return true }
    guard keepsSmallNumbers else { return false }
    let isNegative = wordSize == 8 ? word >> 63 != 0 : word >> 31 != 0
    let magnitude = isNegative ? (wordSize == 8 ? 0 &- word : (0 &- word) & 0xffff_ffff) : word
    return magnitude <= Self.greatestSmallNumber
  }

  func word(at offset: Int, _ bytes: RawSpan) -> UInt64 {
    wordSize == 8 ? bytes.uint64(at: offset) : UInt64(bytes.uint32(at: offset))
  }

  /// Calls `body` with each whole word of the memory that begins at `address`, and whether the word stays.
  /// - Returns: the number of bytes before the first word.
  @discardableResult
  func forEachWord(
    of range: ByteRange, at address: UInt64, _ bytes: RawSpan, _ body: (_ word: UInt64, _ stays: Bool) -> Void
  ) -> Int {
    let size = UInt64(wordSize)
    let lead = min(range.count, Int((size - address % size) % size))
    var offset = range.offset + lead
    // A pointer authentication code may have any value, so one is accepted only in a frame
    // record, after the frame pointer.
    var followsFramePointer = false
    var place = address &+ UInt64(lead)
    while offset + wordSize <= range.end {
      let word = word(at: offset, bytes)
      let isOfFault = !limits.isEmpty && isOfFault(word, at: place)
      body(word, isOfFault || keeps(word) || (followsFramePointer && isSignedCodeAddress(word)))
      followsFramePointer =
        !masks.isEmpty && (word == 0 || (isStackAddress(word) && word & ~Self.asynchronousFrame > place))
      offset += wordSize
      place &+= size
    }
    return lead
  }
}

extension UInt64 {
  fileprivate var leadingOnes: Int { (~self).leadingZeroBitCount }
}

/// Ranges of addresses, including both ends.
struct AddressRanges: Sendable {
  private var ranges: [(start: UInt64, end: UInt64)] = []

  init(_ list: [(start: UInt64, end: UInt64)]) {
    for range in list.sorted(by: { $0.start < $1.start }) {
      if let last = ranges.last, range.start <= last.end {
        ranges[ranges.count - 1].end = max(last.end, range.end)
      } else {
        ranges.append(range)
      }
    }
  }

  func contains(_ address: UInt64) -> Bool {
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    return behind > 0 && address <= ranges[behind - 1].end
  }
}

extension [ListedRange] {
  /// The memory that the process can execute: programs that compile while they run have functions where no module is, and return
  /// addresses in them.
  var executable: [(address: UInt64, size: UInt64)] {
    filter { $0.protection.contains(.execute) }.map { ($0.address, $0.size) }
  }
}
