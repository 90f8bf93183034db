// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import Synchronization

/// The symbols of all images of a shared cache, by the addresses that these have in it.
package final class SharedCacheSymbols: SymbolFile {
  private let cache: SharedCache
  /// The addresses and the numbers of the images, sorted.
  private let order: [(address: UInt64, image: Int)]
  private struct Known {
    var images: [Int: MachOSymbols] = [:]
    var findings = FindingList()
  }
  private let known = Mutex(Known())

  package init(_ cache: SharedCache) {
    self.cache = cache
    order = cache.imageAddresses.enumerated().map { ($0.element, $0.offset) }.sorted { $0 < $1 }
    known.withLock { known in
      for problem in cache.problems { known.findings.append(problem.finding(named: true)) }
    }
  }

  package var imageBase: UInt64 { 0 }
  package var isEmpty: Bool { order.isEmpty }
  package var hasDebugInfo: Bool { false }
  package var findings: FindingList { known.withLock { $0.findings } }

  /// The image that may contain an address, and the address there.
  private func place(_ address: UInt64) -> (symbols: MachOSymbols, offset: UInt64)? {
    let next = order.indices.partitioningIndex { order[$0].address > address }
    guard next > 0, let symbols = symbols(order[next - 1].image) else { return nil }
    return (symbols, address &- symbols.imageBase)
  }

  private func symbols(_ image: Int) -> MachOSymbols? {
    known.withLock { known in
      if let symbols = known.images[image] { return symbols }
      switch cache.extract(image) {
      case .file(let file), .incomplete(let file):
        let symbols = MachOSymbols(loaded: file, companion: nil)
        known.images[image] = symbols
        return symbols
      // The part that is not there was said when the cache was opened.
      case .absent: return nil
      case .damaged:
        known.findings.append(Finding(SharedCacheRules.damaged, found: .text(cache.imagePath(image))))
        return nil
      }
    }
  }

  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    place(offset).flatMap { symbols, own in
      symbols.symbolize(own).map { $0.relative(to: 0 &- symbols.imageBase) }
    }
  }

  package func functionAddress(_ offset: UInt64) -> UInt64? {
    place(offset).flatMap { symbols, own in symbols.functionAddress(own).map { $0 &+ symbols.imageBase } }
  }

  package func isInFunction(_ offset: UInt64) -> Bool {
    place(offset).map { $0.symbols.isInFunction($0.offset) } ?? false
  }

  package func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? { nil }
}
