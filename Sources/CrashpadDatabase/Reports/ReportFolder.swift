// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// The contents of one directory of reports, by names without extensions.
struct ReportFolder {
  /// The kinds of files that belong to one report.
  struct Parts: OptionSet {
    let rawValue: UInt8
    static let report = Parts(rawValue: 1)
    static let metadata = Parts(rawValue: 2)
    static let lock = Parts(rawValue: 4)
  }

  /// The stems of the reports: UUIDs, in any case.
  private(set) var reports = NameList()
  private var metadata = NameList()
  private var locks = NameList()
  /// The names that AppleDouble files belong to.
  private(set) var sides: [FileName] = []
  private(set) var others: [FileName] = []

  init(_ folder: any FolderView) throws(FileFailure) {
    try folder.forEachName { add($0) }
    reports.sort()
    metadata.sort()
    locks.sort()
  }

  private mutating func add(_ name: FileName) {
    if let main = name.mainOfAppleDouble { return sides.append(main) }
    guard let (stem, part) = Self.split(name), stem.uuid != nil else { return others.append(name) }
    switch part {
    case .report: reports.append(stem)
    case .metadata: metadata.append(stem)
    default: locks.append(stem)
    }
  }

  /// Calls `body` for each stem, in order.
  func forEach(_ body: (FileName, Parts) throws(FileFailure) -> Void) throws(FileFailure) {
    var (reports, metadata, locks) = (reports.makeIterator(), metadata.makeIterator(), locks.makeIterator())
    var heads = [reports.next(), metadata.next(), locks.next()]
    while let stem = heads.compactMap(\.self).min() {
      var parts: Parts = []
      // A name that comes twice, because the directory changed while it was read, is one.
      while heads[0] == stem { (heads[0], parts) = (reports.next(), parts.union(.report)) }
      while heads[1] == stem { (heads[1], parts) = (metadata.next(), parts.union(.metadata)) }
      while heads[2] == stem { (heads[2], parts) = (locks.next(), parts.union(.lock)) }
      try body(stem, parts)
    }
  }

  private static func split(_ name: FileName) -> (FileName, Parts)? {
    for (suffix, part) in [
      (DatabaseLayout.reportExtension, Parts.report), (DatabaseLayout.metadataExtension, .metadata),
      (DatabaseLayout.lockExtension, .lock),
    ] {
      if let stem = name.removing(suffix: suffix) { return (stem, part) }
    }
    return nil
  }
}

extension CrashDatabase {
  /// The directories of reports, in the order in which reports move through them; and once more `pending/`, to which
  /// they return when their upload is requested. A search in this order misses no report that moves meanwhile.
  static let reportPlaces = [
    DatabaseLayout.new, DatabaseLayout.pending, DatabaseLayout.completed, DatabaseLayout.pending,
  ]

  /// Whether there is a report with this id, or with this exact name, even if it is being written.
  func isAnywhere(_ id: UUIDBytes, _ stem: FileName) throws(FileFailure) -> Bool {
    for place in Self.reportPlaces {
      guard let folder = try folder(place) else { continue }
      if try folder.status(DatabaseLayout.report(id)) != nil { return true }
      if try folder.status(stem.reportName) != nil { return true }
    }
    return false
  }

  /// Whether there is a report with this id, whatever the case of its name.
  func hasReport(_ id: UUIDBytes) throws(FileFailure) -> Bool {
    if try report(id) != nil { return true }
    for state in ReportState.allCases {
      guard let folder = try folder(state.folderName) else { continue }
      if try ReportFolder(folder).reports.name(of: id) != nil { return true }
    }
    return false
  }
}
