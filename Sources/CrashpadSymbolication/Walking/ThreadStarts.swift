// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization

/// The places on the stacks of threads where their outermost frames return to.
///
/// Windows starts all threads by one function, whose frame is at the top of each stack: the address that is the outermost one on
/// several stacks is that of this function. Above it there may be other words that look like one. On x86-64 the function calls
/// `BaseThreadInitThunk` of kernel32, whose frame has 40 bytes: two words at this distance, one in each of the libraries, are the ends
/// of a stack, too.
package final class ThreadStarts: Sendable {
  /// The captured part of a stack.
  struct Stack: Sendable {
    let start: UInt64
    /// The address behind the last byte.
    let end: UInt64
  }

  /// A word on a stack.
  struct Word {
    let place: UInt64
    let address: UInt64
    /// The index of its module in the snapshot.
    let module: Int?
  }

  /// In the order of their addresses.
  private let stacks: [Stack]
  private struct Places {
    /// One for each stack, nil if its outermost frame is not known.
    var list: [UInt64?]
  }
  /// Nil until a place is asked for: most walks need none.
  private let known = Mutex<Places?>(nil)

  /// The indices of the libraries that start threads.
  private let (kernel, system): (Int?, Int?)

  /// The bytes between the return addresses of the two functions on x86-64.
  private static let distance: UInt64 = 48
  /// The fewest stacks that have one address as their outermost.
  private static let least = 2

  package init(_ snapshot: ProcessSnapshot, _ file: InputFile) {
    guard snapshot.system.operatingSystem == .windows, [.x86_64, .arm64].contains(snapshot.system.architecture) else {
      (stacks, kernel, system) = ([], nil, nil)
      return
    }
    func index(_ name: String) -> Int? {
      guard snapshot.system.architecture == .x86_64 else { return nil }
      return snapshot.modules.firstIndex { module in
        guard let path = module.name else { return false }
        return lastPathComponent(file.withBytes { snapshot.text(path, in: $0) }).lowercased() == name
      }
    }
    (kernel, system) = (index("kernel32.dll"), index("ntdll.dll"))
    stacks = snapshot.threads.compactMap { thread in
      guard let region = thread.stack?.region, thread.stack?.isSynthetic == false else { return nil }
      let (end, overflow) = region.address.addingReportingOverflow(UInt64(region.content.count))
      return overflow || region.content.isEmpty ? nil : Stack(start: region.address, end: end)
    }.sorted { $0.start < $1.start }
  }

  /// The place of the outermost return address of the stack that has an address; nil if it is not known.
  ///
  /// - Parameter outermost: finds the outermost words of a stack that may be return addresses, the outermost one first.
  func place(onStackOf address: UInt64, _ outermost: (Stack) -> [Word]) -> UInt64? {
    let behind = stacks.indices.partitioningIndex { stacks[$0].start > address }
    guard behind > 0, address < stacks[behind - 1].end else { return nil }
    if let places = known.withLock({ $0 }) { return places.list[behind - 1] }
    let words = stacks.map(outermost)
    var counts: [UInt64: Int] = [:]
    for words in words { for address in Set(words.map(\.address)) { counts[address, default: 0] += 1 } }
    // Not all stacks were captured up to their tops.
    let places = Places(
      list: words.map { words in
        if let pair = pair(words) { return pair }
        let most = words.map { counts[$0.address]! }.max() ?? 0
        guard most >= Self.least else { return nil }
        return words.first { max(Self.least, (most + 1) / 2) <= counts[$0.address]! }?.place
      })
    known.withLock { $0 = places }
    return places.list[behind - 1]
  }

  /// The place of the outer one of two words of the functions that start a thread.
  private func pair(_ words: [Word]) -> UInt64? {
    guard let kernel, let system else { return nil }
    return words.first { outer in
      outer.module == system
        && words.contains { $0.module == kernel && $0.place &+ Self.distance == outer.place }
    }?.place
  }
}
