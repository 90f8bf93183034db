// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization
package import SystemPackage

/// The names of code that a program made while it ran, as perf-PID.map of `perf` has them: V8, the JVM and others write it.
///
/// The file only has the process id in its name, which another process may have had before, and code that was moved: a name
/// from it is inferred.
package struct PerfMap: Sendable {
  private struct Entry {
    let start: UInt64
    let end: UInt64
    /// The furthest end of all entries up to this one, by address.
    var reach: UInt64 = 0
    /// The place in the file: a later entry replaces earlier ones at its addresses.
    let line: Int
    let name: ByteRange
  }

  private let file: InputFile
  private let entries: [Entry]
  private static let most = 4_000_000
  /// A hostile file may have millions of entries at one place.
  private static let mostAtOnePlace = 256

  /// The process id in the name of a file; nil for other names.
  package static func processID(_ path: FilePath) -> Int32? {
    guard let name = path.lastComponent?.string, name.hasPrefix("perf-"), name.hasSuffix(".map") else { return nil }
    return Int32(name.dropFirst(5).dropLast(4)).flatMap { $0 > 0 && "perf-\($0).map" == name ? $0 : nil }
  }

  static func name(_ processID: Int32) -> String { "perf-\(processID).map" }

  init(_ path: FilePath) throws {
    file = try InputFile(regular: path)
    var entries = file.withBytes { Self.lines($0) }
    try file.checkReading()
    entries.sort { ($0.start, $0.line) < ($1.start, $1.line) }
    var reach: UInt64 = 0
    for index in entries.indices {
      reach = max(reach, entries[index].end)
      entries[index].reach = reach
    }
    self.entries = entries
  }

  /// Lines such as "7f2b4c0 1f LazyCompile:*main /srv/app.js:1:1": start and size in hexadecimal digits, and a name with blanks.
  private static func lines(_ bytes: RawSpan) -> [Entry] {
    var entries: [Entry] = []
    var place = 0
    while place < bytes.byteCount, entries.count < most {
      var line = TextLineReader(at: place, in: bytes)
      let number = entries.count
      place = bytes.lineEnd(from: place) + 1
      _ = line.skip("0x", in: bytes)
      guard let start = line.hexadecimal(in: bytes) else { continue }
      _ = line.skip("0x", in: bytes)
      guard let size = line.hexadecimal(in: bytes), size > 0, line.offset < line.end,
        case let (end, isBeyond) = start.addingReportingOverflow(size), !isBeyond
      else { continue }
      let name = ByteRange(offset: line.offset, count: min(line.end - line.offset, 4096))
      entries.append(Entry(start: start, end: end, line: number, name: name))
    }
    return entries
  }

  /// The code at an address, whose start is that of its entry; nil if none is listed.
  func symbolize(_ address: UInt64) -> SymbolizedAddress? {
    var index = entries.indices.partitioningIndex { entries[$0].start > address }
    var best: Entry?
    var looked = 0
    while index > 0, looked < Self.mostAtOnePlace, entries[index - 1].reach > address {
      index -= 1
      looked += 1
      if entries[index].end > address, best.map({ $0.line < entries[index].line }) ?? true { best = entries[index] }
    }
    return best.map { entry in
      let name = file.withBytes { $0.text(in: entry.name) }
      return SymbolizedAddress(
        frames: [SymbolizedAddress.Frame(function: name, location: nil)], functionAddress: entry.start, isNearest: false
      )
    }
  }
}

/// The maps of the processes whose dumps are read, each opened once.
final class PerfMaps: Sendable {
  /// Files and folders given by the user.
  private let places: [FilePath]
  private let faults: SymbolFaults
  private struct Known {
    var maps: [Int32: PerfMap?] = [:]
  }
  private let known = Mutex(Known())

  init(_ places: [FilePath], _ faults: SymbolFaults) { (self.places, self.faults) = (places, faults) }

  func map(_ processID: Int32) -> PerfMap? {
    if places.isEmpty { return nil }
    return known.withLock { known in
      if let map = known.maps[processID] { return map }
      let map = open(processID)
      known.maps[processID] = .some(map)
      return map
    }
  }

  private func open(_ processID: Int32) -> PerfMap? {
    for place in places {
      let isNamed = PerfMap.processID(place) != nil
      if isNamed, PerfMap.processID(place) != processID { continue }
      let path = isNamed ? place : place.appending(PerfMap.name(processID))
      do { return try PerfMap(path) } catch {
        // A directory that can't be searched is a finding of the search for symbols.
        let isThere = hint({ try FileKind(at: path, followingLink: false) }) != nil
        if isNamed || isThere { faults.add(path, SymbolRefusal.Reason(error)) }
      }
    }
    return nil
  }
}
