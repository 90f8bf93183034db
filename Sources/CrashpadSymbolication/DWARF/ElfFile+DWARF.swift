// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import SystemPackage

extension ElfFile: DwarfContainer {
  /// The path and the build id of the file that dwz created for the common data of several files.
  private var alternateLink: (name: String, id: [UInt8])? {
    guard let link = section(".gnu_debugaltlink") else { return nil }
    let (name, id) = bytes(link).withBytes { bytes in
      let end = bytes.firstZero(in: ByteRange(offset: 0, count: bytes.byteCount))
      let rest = min(end + 1, bytes.byteCount)
      return (
        bytes.text(in: ByteRange(offset: 0, count: end)),
        bytes.array(in: ByteRange(offset: rest, count: bytes.byteCount - rest))
      )
    }
    return name.isEmpty ? nil : (name, id)
  }

  var alternateName: String? { alternateLink?.name }

  func alternate(_ places: DebugPlaces) -> (any DwarfContainer)? {
    guard let (name, id) = alternateLink else { return nil }
    let link = FilePath(name)
    // Its own path, relative to the folder of this file; then, for each place, by build id, the place itself, and by
    // name.
    var paths = [folder.map { $0.pushing(link) } ?? link]
    for place in places.named + [FilePath("/usr/lib/debug")] {
      if let path = buildIDPath(id) { paths.append(place.pushing(FilePath("\(path).debug"))) }
      paths.append(place)
      if let last = link.lastComponent { paths.append(place.appending(last)) }
    }
    var tried = TriedFiles()
    for path in paths {
      guard let file = tried.open(path, places.inputs) else { continue }
      if id.isEmpty || file.buildID == id { return file }
    }
    if let file = downloadedAlternate(name, id, places, &tried) { return file }
    places.inputs.add(unopened: tried.failures)
    return nil
  }

  /// The file with the common data from a server, which has it by its own build id.
  private func downloadedAlternate(
    _ name: String, _ id: [UInt8], _ places: DebugPlaces, _ tried: inout TriedFiles
  ) -> ElfFile? {
    guard let servers = places.servers else { return nil }
    let identity = ModuleIdentity(path: name, debugID: nil, buildID: id)
    // It is no program, and there are no names of functions alone in it.
    let requests = servers.requests(for: identity).filter { $0.part == .names && $0.path.last != "breakpad" }
    for request in requests {
      guard let kept = servers.kept(request, identity) else { continue }
      if let file = tried.open(kept.path, places.inputs), file.buildID == id { return file }
    }
    for request in requests {
      guard let answer = servers.get(request, identity) else { continue }
      if let path = answer.path, let file = tried.open(path, places.inputs), file.buildID == id { return file }
      if answer.isOpen { places.inputs.addOpenQuestion() }
    }
    return nil
  }
}

// MARK: Keeping

extension ElfFile {
  /// Keeps what was read for later runs, if the file is large and nothing is kept of it yet. Returns whether that was done.
  @discardableResult
  func keep(_ info: DwarfInfo) -> Bool {
    guard lacksIndex, let indexes, info.sections.info.count >= indexes.thresholds.information,
      let tables = info.parts
    else { return false }
    return keep(
      unpackedParts + tables
        + [IndexPart(name: ElfSymbolTable.partName, bytes: SharedBytes(ElfSymbolTable(self).bytes))])
  }

  func keepSections() {
    let parts = unpackedParts
    guard lacksIndex, let indexes,
      parts.reduce(0, { $0 + $1.bytes.count }) >= indexes.thresholds.information
    else { return }
    _ = keep(parts)
  }

  private var unpackedParts: [IndexPart] {
    unpacked.sorted { $0.key < $1.key }.map { IndexPart(name: $0.key, bytes: $0.value) }
  }
}
