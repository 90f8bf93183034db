internal import BinaryFormat
internal import Snapshot

/// Crashpad's own stream: ids and annotations.
extension MinidumpReader {
  mutating func readCrashpadInfo(_ range: ByteRange, _ bytes: RawSpan) {
    // The address mask came later than the rest.
    guard check(range, has: 52, "CrashpadInfo") else { return }
    let offset = range.offset
    snapshot.reportID = guid(at: offset + 4, bytes)
    snapshot.clientID = guid(at: offset + 20, bytes)
    snapshot.annotations = dictionary(location(at: offset + 36, bytes), "CrashpadInfo.SimpleAnnotations", bytes)
    if range.count >= 64 { snapshot.system.addressMask = bytes.uint64(at: offset + 56) }
    readModuleList(location(at: offset + 44, bytes), bytes)
    if let uptime = snapshot.annotations.first(where: { snapshot.text($0.name, in: bytes) == "crashpad_uptime_ns" }) {
      snapshot.system.crashpadUptime = UInt64(snapshot.text(uptime.value, in: bytes))
    }
    snapshot.isComplete = !snapshot.annotations.contains {
      snapshot.text($0.name, in: bytes) == "crashpad_intermediate_dump_incomplete"
    }
  }

  private mutating func list(_ place: LocationDescriptor, size: Int, _ path: String, _ bytes: RawSpan) -> [Int] {
    if place.size == 0 { return [] }
    guard let range = range(rva: place.rva, count: place.size, bytes) else {
      findings.append(Finding(MinidumpRules.annotationOutside, at: place.rva, path: path))
      return []
    }
    return entries(of: range, size: size, path, bytes)
  }

  private mutating func dictionary(_ place: LocationDescriptor, _ path: String, _ bytes: RawSpan) -> [Annotation] {
    var annotations: [Annotation] = []
    for offset in list(place, size: 8, path, bytes) {
      guard let name = byteArray(at: Int(bytes.uint32(at: offset)), path, bytes),
        let value = byteArray(at: Int(bytes.uint32(at: offset + 4)), path, bytes)
      else { continue }
      annotations.append(Annotation(name: name, value: value))
    }
    return annotations
  }

  private mutating func readModuleList(_ place: LocationDescriptor, _ bytes: RawSpan) {
    for entry in list(place, size: 12, "CrashpadInfo.ModuleList", bytes) {
      let index = Int(bytes.uint32(at: entry))
      let path = "CrashpadInfo.ModuleList[\(index)]"
      guard snapshot.modules.indices.contains(index) else {
        findings.append(Finding(MinidumpRules.moduleIndex, at: entry, path: path))
        continue
      }
      let info = location(at: entry + 4, bytes)
      guard info.size >= MinidumpFormat.moduleCrashpadInfoSize,
        let range = range(rva: info.rva, count: info.size, bytes)
      else {
        findings.append(Finding(MinidumpRules.annotationOutside, at: info.rva, path: path))
        continue
      }
      readModuleInfo(range.offset, into: index, path, bytes)
    }
  }

  private mutating func readModuleInfo(_ offset: Int, into index: Int, _ path: String, _ bytes: RawSpan) {
    var messages: [Content] = []
    for entry in list(location(at: offset + 4, bytes), size: 4, path + ".ListAnnotations", bytes) {
      if let message = byteArray(at: Int(bytes.uint32(at: entry)), path, bytes) { messages.append(message) }
    }
    snapshot.modules[index].messages = messages
    snapshot.modules[index].simpleAnnotations = dictionary(
      location(at: offset + 12, bytes), path + ".SimpleAnnotations", bytes)
    var objects: [AnnotationObject] = []
    for entry in list(location(at: offset + 20, bytes), size: 12, path + ".AnnotationObjects", bytes) {
      guard let name = byteArray(at: Int(bytes.uint32(at: entry)), path, bytes),
        let value = byteArray(at: Int(bytes.uint32(at: entry + 8)), path, bytes)
      else { continue }
      objects.append(AnnotationObject(name: name, type: bytes.uint16(at: entry + 4), value: value))
    }
    snapshot.modules[index].annotationObjects = objects
  }
}
