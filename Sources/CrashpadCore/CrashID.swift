internal import CrashpadDatabase
internal import CrashpadFiles
package import CrashpadSnapshot
package import SystemPackage

extension Dump {
  /// The id of the crash, the same for each of its files: the id of its report, or the one that its dump's report will have;
  /// the incident of Apple's reports; else a digest of the bytes.
  package func crashID(_ path: FilePath?) -> UUIDBytes {
    if let snapshot, snapshot.reportID != .zero { return snapshot.reportID }
    if format == .intermediateDump, let name = path?.lastComponent.flatMap({ FileName($0) }),
      let id = PendingDump(name: name, size: 0, modified: 0, isOwned: false).uuid
    {
      return id
    }
    if let incident = snapshot?.report?.incident, !incident.isEmpty {
      if let id = UUIDBytes(text: incident) { return id }
      let bytes = Array(incident.utf8)
      return unsafe ContentID.of(bytes.span.bytes)
    }
    return file.withBytes { ContentID.of($0) }
  }
}
