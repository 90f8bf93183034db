// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot

/// Names of a directory, sorted. There may be millions, and nearly all are ids: these take 16 bytes each.
struct NameList {
  private var ids: [UUIDBytes] = []
  /// All other names, such as ids with upper-case letters.
  private var others: [FileName] = []
  private var otherIDs: [UUIDBytes: FileName] = [:]

  init() {}

  /// The names of `folder`.
  init(_ folder: Folder) throws(FileFailure) {
    try folder.forEachName { append($0) }
    sort()
  }

  /// To be followed by `sort()`.
  mutating func append(_ name: FileName) {
    if let id = name.uuid, !name.hasUpperCase { ids.append(id) } else { others.append(name) }
  }

  mutating func sort() {
    ids.sort { $0.precedes($1) }
    others.sort()
    for name in others { if let id = name.uuid { otherIDs[id] = name } }
  }

  /// How many ids there are, in whatever spelling.
  var idCount: Int { ids.count + otherIDs.keys.count { !contains($0) } }

  /// The name with this id; the usual one if there are several.
  func name(of id: UUIDBytes) -> FileName? { contains(id) ? id.stem : otherIDs[id] }

  private func contains(_ id: UUIDBytes) -> Bool {
    var range = 0..<ids.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if ids[middle] == id { return true }
      range = ids[middle].precedes(id) ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }
}

extension NameList: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate let list: NameList
    private var place = 0
    private var otherPlace = 0

    fileprivate init(_ list: NameList) { self.list = list }

    mutating func next() -> FileName? {
      let id = place < list.ids.count ? list.ids[place].stem : nil
      let other = otherPlace < list.others.count ? list.others[otherPlace] : nil
      if let other, id.map({ other < $0 }) ?? true {
        otherPlace += 1
        return other
      }
      place += 1
      return id
    }
  }

  func makeIterator() -> Iterator { Iterator(self) }
}

extension UUIDBytes {
  /// Whether its text comes first.
  func precedes(_ other: UUIDBytes) -> Bool { (high, low) < (other.high, other.low) }
}
