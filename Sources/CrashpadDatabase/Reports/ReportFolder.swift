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

  /// The keys are UUIDs, in any case.
  private(set) var parts: [FileName: Parts] = [:]
  /// The names that AppleDouble files belong to.
  private(set) var sides: [FileName] = []
  private(set) var others: [FileName] = []

  init(_ folder: any FolderView) throws(FileFailure) {
    for name in try folder.names() {
      if let main = name.mainOfAppleDouble {
        sides.append(main)
      } else if let (stem, part) = Self.split(name), stem.uuid != nil {
        parts[stem, default: []].insert(part)
      } else {
        others.append(name)
      }
    }
  }

  var stems: [FileName] { parts.keys.sorted() }
  /// The reports among them.
  var reports: [FileName] { stems.filter { parts[$0]?.contains(.report) == true } }

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
      if try ReportFolder(folder).parts.contains(where: { $0.value.contains(.report) && $0.key.uuid == id }) {
        return true
      }
    }
    return false
  }
}
