// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization

/// The ranges of a process's memory with their protection, as its dump lists them.
package final class ListedMemory: Sendable {
  package typealias Protection = MemoryProtection

  package struct Range: Sendable, Hashable {
    package let start: UInt64
    /// The last address, because a range may end with the address space.
    package let last: UInt64
    package let protection: Protection
    /// Whether nothing is mapped there.
    package var isFree = false
  }

  /// The answer of the dump on whether code at one address can be executed: compilers that run in a program put code where
  /// no module is.
  package enum Answer: Sendable {
    case executable
    case notExecutable
    /// The address is in no range of the list.
    case unlisted
    /// The dump does not list the memory of the process.
    case unknown
  }

  private struct Ranges {
    var list: [Range]?
    /// Sorted by address.
    var functions: [MadeFunction]
  }

  private let snapshot: ProcessSnapshot
  private let file: InputFile
  /// Nil until one is looked for: most walks need none.
  private let known = Mutex<Ranges?>(nil)

  package init(_ snapshot: ProcessSnapshot, _ file: InputFile) { (self.snapshot, self.file) = (snapshot, file) }

  /// By their starts; nil if the dump does not list its memory.
  package var ranges: [Range]? { all.list }

  private var all: Ranges {
    known.withLock { known in
      let ranges =
        known ?? Ranges(list: read(), functions: snapshot.madeFunctions.sorted { $0.address < $1.address })
      known = ranges
      return ranges
    }
  }

  package func contains(_ address: UInt64) -> Answer {
    let all = all
    guard let ranges = all.list else { return isInMadeFunction(address) ? .executable : .unknown }
    guard let index = Self.index(of: address, in: ranges) else { return .unlisted }
    return ranges[index].protection.contains(.execute) ? .executable : .notExecutable
  }

  /// Whether an address is in a function that the program made, and told the system of.
  func isInMadeFunction(_ address: UInt64) -> Bool {
    let functions = all.functions
    let behind = functions.indices.partitioningIndex { functions[$0].address > address }
    return behind > 0 && address < functions[behind - 1].end
  }

  /// The range with an address; nil if none is listed.
  package static func index(of address: UInt64, in ranges: [Range]) -> Int? {
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    return behind > 0 && address <= ranges[behind - 1].last ? behind - 1 : nil
  }

  private func read() -> [Range]? {
    file.withBytes { ListedRange.all(snapshot, in: $0) }?
      .map { Range(start: $0.address, last: $0.last, protection: $0.protection, isFree: $0.isFree) }
      .sorted { $0.start < $1.start }
  }
}
