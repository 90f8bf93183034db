internal import CrashpadFiles
internal import CrashpadSnapshot

/// The changes that a dry run has planned so far, so that later plans fit them. A real repair plans no changes, and
/// then each answer is the state on the disk.
///
/// Paths are relative to the database.
struct RepairPlan {
  /// New paths by present ones; nil for removed files.
  private var places: [String: String?] = [:]
  /// Present paths by new ones.
  private var sources: [String: String] = [:]
  /// New metadata, by the present path of their report.
  private var metadata: [String: ReportMetadata] = [:]
  private var asides: Set<FileName> = []

  /// Plans to move the file at `path` to `target`, or to remove it if that is nil.
  mutating func move(_ path: String, to target: String?) {
    if let old = place(of: path) { sources[old] = nil }
    places[path] = .some(target)
    if let target { sources[target] = path }
  }

  mutating func set(_ new: ReportMetadata, of path: String) { metadata[path] = new }

  /// Plans a file in `rejected/`.
  mutating func keepAside(as name: FileName) { asides.insert(name) }

  /// The planned path of the file that is at `path` now; nil if it would be removed.
  func place(of path: String) -> String? {
    if let place = places[path] { place } else { path }
  }

  func isMoved(_ path: String) -> Bool { places[path] != nil }

  /// The present path of the file that would be at `path`, if it comes from elsewhere.
  func source(of path: String) -> String? { sources[path] }

  func metadata(of path: String) -> ReportMetadata? { metadata[path] }

  func hasAside(_ name: FileName) -> Bool { asides.contains(name) }
}

// The planned state, for the next steps of a repair.
extension RepairPass {
  func move(_ path: String, to target: String?) {
    if session == nil { plan.move(path, to: target) }
  }

  func set(_ metadata: ReportMetadata, of stem: FileName, _ state: ReportState) {
    if session == nil { plan.set(metadata, of: Self.reportPath(stem, state)) }
  }

  static func path(_ name: FileName, _ state: ReportState) -> String { state.rawValue + "/" + name.escaped }

  static func reportPath(_ stem: FileName, _ state: ReportState) -> String {
    path(stem.appending(DatabaseLayout.reportExtension), state)
  }

  /// The planned name, without its extension, of the report in the file `stem`; nil if it would no longer be in
  /// `state`.
  func plannedStem(_ stem: FileName, _ state: ReportState) -> FileName? {
    let path = Self.reportPath(stem, state)
    guard plan.isMoved(path) else { return stem }
    return plan.place(of: path).flatMap { Self.stem($0, in: state) }
  }

  /// The name of a report without its extension; nil for a path in another directory.
  private static func stem(_ path: String, in state: ReportState) -> FileName? {
    let prefix = state.rawValue + "/"
    guard path.hasPrefix(prefix) else { return nil }
    return FileName(String(path.dropFirst(prefix.count)))?.removing(suffix: DatabaseLayout.reportExtension)
  }

  /// The present name of the file that would be the report `stem`; nil if there would be none.
  func presentStem(_ stem: FileName, in listing: ReportFolder) throws(FileFailure) -> FileName? {
    let path = Self.reportPath(stem, listing.state)
    if let source = plan.source(of: path) { return Self.stem(source, in: listing.state) }
    if plan.isMoved(path) { return nil }
    return try listing.folder.status(stem.appending(DatabaseLayout.reportExtension)) == nil ? nil : stem
  }

  /// The planned metadata of the report in the file `stem`.
  func metadata(_ stem: FileName, _ state: ReportState, in folder: Folder) throws(FileFailure) -> Examination.Metadata {
    if let planned = plan.metadata(of: Self.reportPath(stem, state)) {
      return .found(planned, byteCount: planned.bytes.count)
    }
    return try examination.metadata(stem, in: folder)
  }

  /// The planned metadata of the report `id`, in any directory.
  func metadata(ofReport id: UUIDBytes) throws(FileFailure) -> [ReportMetadata] {
    var found: [ReportMetadata] = []
    for state in ReportState.allCases {
      guard let listing = try ReportFolder(state, database) else { continue }
      for stem in listing.stems where listing.parts[stem]?.contains(.report) == true {
        let place = plan.place(of: Self.reportPath(stem, state))
        guard ReportState.allCases.contains(where: { place == Self.path(DatabaseLayout.report(id), $0) }),
          case .found(let value, _) = try metadata(stem, state, in: listing.folder)
        else { continue }
        found.append(value)
      }
    }
    return found
  }

  /// The planned reports of `listing`: their present names and their planned ones.
  func reports(_ listing: ReportFolder) -> [(stem: FileName, planned: FileName)] {
    listing.stems.compactMap { stem in
      guard listing.parts[stem]?.contains(.report) == true, let planned = plannedStem(stem, listing.state) else {
        return nil
      }
      return (stem, planned)
    }
  }
}
