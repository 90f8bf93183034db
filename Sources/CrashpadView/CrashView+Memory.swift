// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadFiles
package import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText

/// The captured memory.
extension CrashView {
  /// A captured range of memory.
  package struct MemoryRange: Sendable {
    let region: MemoryRegion
    /// Such as "stack of thread 0", or the place of a range inside of a module; empty if neither is known.
    package let owner: String

    package var address: UInt64 { region.address }
    /// The byte after the last one; nil if that is beyond the address space.
    package var end: UInt64? { region.end }
    package var count: Int { region.content.count }

    /// Whether the byte at `address` was captured.
    package func contains(_ address: UInt64) -> Bool { region.contains(address) }
  }

  /// The number of captured ranges and of their bytes, without those for the intermediate dump alone.
  package var memorySize: (ranges: Int, bytes: Int) {
    // Added up without building the list, which may have a million entries.
    var ranges = snapshot.extraMemory.count
    var bytes = snapshot.extraMemory.reduce(0) { $0 + $1.content.count }
    for stack in snapshot.threads.compactMap(\.stack) where !stack.isSynthetic && !stack.region.content.isEmpty {
      ranges += 1
      bytes += stack.region.content.count
    }
    return (ranges, bytes)
  }

  /// The ranges that a minidump has too, in the order of the dump.
  package var capturedMemory: [MemoryRegion] { snapshot.capturedMemory }

  /// The ranges that a minidump does not get.
  package var intermediateDumpMemory: [MemoryRegion] { snapshot.intermediateDumpExtraMemory }

  /// The regions of the address space, captured or not.
  package var memoryMap: [MemoryMapRegion] { snapshot.memoryMap }
  /// The number of functions that the program made while it ran, and told the system of.
  package var madeFunctionCount: Int { snapshot.madeFunctions.count }

  /// All captured ranges, by address.
  package var memory: [MemoryRange] {
    var ranges: [MemoryRange] = []
    for (index, thread) in snapshot.threads.enumerated() {
      guard let stack = thread.stack, !stack.isSynthetic, !stack.region.content.isEmpty else { continue }
      ranges.append(MemoryRange(region: stack.region, owner: "stack of thread \(index)"))
    }
    ranges += snapshot.extraMemory.map { MemoryRange(region: $0, owner: location($0.address)?.line ?? "") }
    ranges += snapshot.intermediateDumpExtraMemory.map {
      MemoryRange(region: $0, owner: "for the intermediate dump only")
    }
    ranges.sort { $0.address < $1.address }
    return ranges
  }

  /// Up to `count` bytes of captured memory from `address` on; nil if the first of them was not captured.
  package func memory(at address: UInt64, count: Int) -> [UInt8]? {
    let regions = snapshot.capturedMemory + snapshot.intermediateDumpExtraMemory
    return regions.first { $0.contains(address) }.map { bytes(of: $0, at: address, count: count) }
  }

  /// The aligned words of captured memory that point into a module, a line for each.
  package func pointerText(_ bytes: [UInt8], at address: UInt64) -> String {
    pointers(in: bytes, at: address).map { "\($0.name) = \($0.location.line)\n" }.joined()
  }

  /// The aligned words of captured memory that point into a module.
  package func pointers(in bytes: [UInt8], at address: UInt64) -> [Pointer] {
    let size = snapshot.system.architecture.hasNarrowAddresses ? 4 : 8
    return stride(from: Int((0 &- address) % UInt64(size)), through: bytes.count - size, by: size).compactMap { start in
      let value = bytes[start..<start + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      return Pointer(fullAddress(address &+ UInt64(start)), value, self)
    }
  }

  package func bytes(of range: MemoryRange, at address: UInt64, count: Int) -> [UInt8] {
    bytes(of: range.region, at: address, count: count)
  }

  private func bytes(of region: MemoryRegion, at address: UInt64, count: Int) -> [UInt8] {
    let start = Int(address - region.address)
    let part = region.content.part(at: start, count: min(count, region.content.count - start))
    return dump.file.withBytes { snapshot.bytes(of: part, in: $0) }
  }

  /// The same, or what the module's file loads there.
  private func memoryOrFile(at address: UInt64, count: Int) -> [UInt8]? {
    if let bytes = memory(at: address, count: count) { return bytes }
    guard let place = lookup(address) else { return nil }
    return names?.data(module: place.module, offset: place.offset, count: count)
      ?? symbolization?.modules[place.module].symbols?.data(at: place.offset, count: count)
  }

  /// The type of the C++ object that was thrown, such as "std::runtime_error"; nil if neither the dump nor a file has it.
  package var thrownType: String? {
    snapshot.exception.flatMap { exception in
      ThrownType.name(exception, snapshot.system.architecture) { self.memoryOrFile(at: $0, count: $1) }
        .map { TextFormat.printable($0) }
    }
  }

  // MARK: Code

  /// The bytes of the program around an address.
  package struct Code: Sendable {
    package let bytes: [UInt8]
    /// The number of bytes before the address.
    package let before: Int
    /// "the dump", "the report" or "the program's file".
    package let origin: String
  }

  /// - Parameters:
  ///   - reach: the number of bytes before and after the address.
  ///   - ranges: all captured memory.
  package func code(around address: UInt64, reach: Int, in ranges: [MemoryRange]) -> Code? {
    if let range = ranges.first(where: { $0.contains(address) }) {
      let before = min(UInt64(reach), address - range.address)
      return Code(
        bytes: bytes(of: range, at: address - before, count: Int(before) + reach), before: Int(before),
        origin: "the dump")
    }
    if let report = snapshot.report, !report.codeAt.isEmpty {
      let before = report.codeBefore.suffix(reach)
      return Code(bytes: Array(before) + report.codeAt.prefix(reach), before: before.count, origin: "the report")
    }
    guard let place = lookup(address),
      let code = symbolization?.modules[place.module].symbols?.code(around: place.offset, before: reach, after: reach)
    else { return nil }
    return Code(bytes: code.bytes, before: code.before, origin: "the program's file")
  }
}

extension MemoryRegion {
  /// Whether the byte at `address` was captured.
  fileprivate func contains(_ address: UInt64) -> Bool {
    self.address <= address && address - self.address < UInt64(content.count)
  }
}
