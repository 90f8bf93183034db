// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads Crashpad's own stream: ids and annotations.
extension MinidumpReader {
  mutating func readCrashpadInfo(_ range: ByteRange, _ bytes: RawSpan) {
    // The address mask was added later and is optional.
    guard check(range, has: 52, "CrashpadInfo") else { return }
    let offset = range.offset
    snapshot.reportID = guid(at: offset + 4, bytes)
    snapshot.clientID = guid(at: offset + 20, bytes)
    snapshot.annotations = dictionary(at: offset + 36, "CrashpadInfo.SimpleAnnotations", bytes)
    if range.count >= 64 { snapshot.system.addressMask = bytes.uint64(at: offset + 56) }
    readModuleList(at: offset + 44, bytes)
    for annotation in snapshot.annotations {
      if isNamed(annotation, "crashpad_uptime_ns", bytes), annotation.value.count <= 20 {
        snapshot.system.crashpadUptime = UInt64(snapshot.text(annotation.value, in: bytes))
      }
      if isNamed(annotation, "crashpad_intermediate_dump_incomplete", bytes) { snapshot.isComplete = false }
      if isNamed(annotation, Annotation.raisedAgain, bytes) { isRaisedAgain = true }
    }
  }

  /// Compares lengths first, because many annotations may share one long name.
  private func isNamed(_ annotation: Annotation, _ name: String, _ bytes: RawSpan) -> Bool {
    annotation.name.count == name.utf8.count && snapshot.text(annotation.name, in: bytes) == name
  }

  private mutating func list(at field: Int, size: Int, _ path: String, _ bytes: RawSpan) -> [Int] {
    let place = location(at: field, bytes)
    if place.size == 0 { return [] }
    guard let range = range(rva: place.rva, count: place.size, bytes) else {
      findings.append(Finding(MinidumpRules.annotationOutside, at: field, path: path))
      return []
    }
    return entries(of: range, size: size, price: Price.annotation, path, bytes)
  }

  private mutating func dictionary(at field: Int, _ path: String, _ bytes: RawSpan) -> [Annotation] {
    var annotations: [Annotation] = []
    for offset in list(at: field, size: 8, path, bytes) {
      guard let name = byteArray(field: offset, path, bytes),
        let value = byteArray(field: offset + 4, path, bytes)
      else { continue }
      annotations.append(Annotation(name: name, value: value))
    }
    return annotations
  }

  private mutating func readModuleList(at field: Int, _ bytes: RawSpan) {
    for entry in list(at: field, size: 12, "CrashpadInfo.ModuleList", bytes) {
      let index = Int(bytes.uint32(at: entry))
      let path = "CrashpadInfo.ModuleList[\(index)]"
      guard snapshot.modules.indices.contains(index) else {
        findings.append(Finding(MinidumpRules.moduleIndex, at: entry, path: path))
        continue
      }
      let info = location(at: entry + 4, bytes)
      guard info.size >= MinidumpFormat.oldModuleCrashpadInfoSize,
        let range = range(rva: info.rva, count: info.size, bytes)
      else {
        findings.append(Finding(MinidumpRules.annotationOutside, at: entry + 4, path: path))
        continue
      }
      readModuleInfo(range, into: index, path, bytes)
    }
  }

  private mutating func readModuleInfo(_ range: ByteRange, into index: Int, _ path: String, _ bytes: RawSpan) {
    let offset = range.offset
    var messages: [SnapshotBytes] = []
    for entry in list(at: offset + 4, size: 4, path + ".ListAnnotations", bytes) {
      if let message = byteArray(field: entry, path, bytes) { messages.append(message) }
    }
    snapshot.modules[index].messages = messages
    snapshot.modules[index].simpleAnnotations = dictionary(
      at: offset + 12, path + ".SimpleAnnotations", bytes)
    guard range.count >= MinidumpFormat.moduleCrashpadInfoSize else { return }
    var objects: [AnnotationObject] = []
    for entry in list(at: offset + 20, size: 12, path + ".AnnotationObjects", bytes) {
      guard let name = byteArray(field: entry, path, bytes),
        let value = byteArray(field: entry + 8, path, bytes)
      else { continue }
      objects.append(AnnotationObject(name: name, type: bytes.uint16(at: entry + 4), value: value))
    }
    snapshot.modules[index].annotationObjects = objects
  }
}
