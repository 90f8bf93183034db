// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadDatabase
package import CrashpadFiles
package import CrashpadSnapshot
package import SystemPackage

// One crash may lie there in several files: the dump of the handler, the minidump or the JSON that it was converted to, Apple's
// report and its text. A digest of their bytes would make a crash of each.

extension Dump {
  /// The id of the crash, the same for each of its files; without anything that tells crashes apart, a digest of the bytes.
  package func crashID(_ path: FilePath?) -> UUIDBytes {
    sharedCrashID(path) ?? file.withBytes { ContentID.of($0) }
  }

  /// The id of the crash by what each of its files holds: the id of its report, or the one that its dump's report will have;
  /// the incident of Apple's reports; else a digest of the process and the place of its crash. Nil if the file has none of these.
  package func sharedCrashID(_ path: FilePath?) -> UUIDBytes? {
    guard let snapshot else { return nil }
    if snapshot.reportID != .zero { return snapshot.reportID }
    if let id = file.reportID(path, format) { return id }
    if let incident = snapshot.report?.knownIncident {
      if let id = UUIDBytes(text: incident) { return id }
      let bytes = Array(incident.utf8)
      return unsafe ContentID.of(bytes.span.bytes)
    }
    return snapshot.report == nil ? file.withBytes { snapshot.crashDigest(in: $0) } : nil
  }
}

extension InputFile {
  /// The id that the report of a dump gets, or has got, by the dump's name, or by its content if it is pending without one.
  /// `convert` keeps the name. Nil for other files.
  package func reportID(_ path: FilePath?, _ format: InputFormat) -> UUIDBytes? {
    guard let path, let name = path.lastComponent.flatMap({ FileName($0) }) else { return nil }
    let stem = name.removing(suffix: ".dmp") ?? name.removing(suffix: ".json") ?? name
    if format == .intermediateDump || stem.bytes.contains(UInt8(ascii: "@")),
      let id = PendingDump(name: stem, size: 0, modified: 0, isOwned: false).uuid
    {
      return id
    }
    guard format == .intermediateDump,
      path.bytes.split(separator: UInt8(ascii: "/")).dropLast().last.map(Array.init)
        == DatabaseLayout.pendingDumps.bytes
    else { return nil }
    return withBytes { ContentID.of($0) }
  }
}

extension ProcessSnapshot {
  /// A digest of facts that differ between crashes and are the same in each form of one: the process with its times, the builds
  /// and addresses of its modules, its version, and the exception. Minidumps have no thread ids of 64 bits and no microseconds,
  /// not all have the memory, and registers need an architecture, so none of these is in it.
  ///
  /// Nil if the dump has too little of these.
  fileprivate func crashDigest(in input: RawSpan) -> UUIDBytes? {
    let addresses = modules.compactMap(\.address).sorted()
    let process = processID ?? 0
    let times = [startTime, snapshotTime].map { $0?.seconds ?? 0 }
    // Minidumps have zeros where an intermediate dump has nothing.
    let isKnown = process != 0 && times[1] != 0
    guard isKnown || !addresses.isEmpty && (process != 0 || times[1] != 0) else { return nil }
    var facts = ["crash", "\(process)", "\(exception?.code ?? 0)", "\(exception?.address ?? 0)"]
    facts += times.map { String($0) } + addresses.map { String($0) }
    facts += modules.compactMap { identity($0, in: input) }.sorted()
    // Users count the crashes of two versions apart, even of a program whose builds have no ids.
    facts.append(annotation(named: Self.versionAnnotations, in: input).map { text($0, in: input) } ?? "")
    let bytes = Array(facts.joined(separator: " ").utf8)
    return unsafe ContentID.of(bytes.span.bytes)
  }

  private func identity(_ module: ModuleSnapshot, in input: RawSpan) -> String? {
    switch module.identity {
    case .uuid(let uuid, _): uuid == .zero ? nil : uuid.text
    case .buildID(let content):
      content.isEmpty ? nil : bytes(of: content, in: input).map { hexadecimal(UInt64($0), width: 2) }.joined()
    case nil: nil
    }
  }
}
