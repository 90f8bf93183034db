// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

extension DumpInterpreter {
  /// Crashpad's limits for a typed annotation, in bytes (`client/annotation.h`).
  private static var nameLengths: ClosedRange<Int> { 1...256 }
  private static var valueLengths: ClosedRange<Int> { 1...20480 }

  mutating func readModules(_ array: DumpNode, _ bytes: RawSpan) {
    snapshot.modules.reserveCapacity(min(tree.countIfMany(of: array, in: bytes), maximumEntries))
    readEntries(of: array, bytes) { interpreter, node in
      // In two steps, as reading a module also adds memory to the snapshot.
      let module = interpreter.readModule(node, bytes)
      interpreter.snapshot.modules.append(module)
    }
  }

  private mutating func readModule(_ node: DumpNode, _ bytes: RawSpan) -> ModuleSnapshot {
    var module = ModuleSnapshot()
    var buildID = DumpField()
    var objects = DumpField()
    var simpleMap = DumpField()
    var crashInfo = DumpField()
    var dyldError = DumpField()
    var extraMemory = DumpField()
    var intermediateDumpMemory = DumpField()
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      let field = DumpField(record)
      switch record.key {
      case .name: module.name = field.content()
      case .address: module.address = field.uint64(in: bytes)
      case .size: module.size = field.uint64(in: bytes)
      case .fileType: module.fileType = field.uint32(in: bytes).map(ModuleSnapshot.FileType.init(machO:))
      case .timestamp: module.timestamp = field.uint64(in: bytes)
      case .dylibCurrentVersion: module.dylibVersion = field.uint32(in: bytes)
      case .sourceVersion: module.sourceVersion = field.uint64(in: bytes)
      case .uuid: module.identity = field.value(ofSize: 16).map { identity(at: $0.offset, bytes) }
      case .buildID: buildID = field
      case .annotationObjects: objects = field
      case .annotationsSimpleMap: simpleMap = field
      case .annotationsCrashInfo: crashInfo = field
      case .annotationsDyldErrorString: dyldError = field
      case .moduleExtraMemoryRegions: extraMemory = field
      case .moduleIntermediateDumpExtraMemoryRegions: intermediateDumpMemory = field
      default: break
      }
    }
    // Only dylibs have a dylib version.
    if module.fileType != .sharedLibrary { module.dylibVersion = nil }
    module.debugName = module.name.map { Self.baseName($0, bytes) }
    if isLinux { identify(&module, buildID) }
    if let objects = objects.array { module.annotationObjects = annotationObjects(of: objects, bytes) }
    if let simpleMap = simpleMap.array {
      tree.appendSimpleAnnotations(of: simpleMap, to: &module.simpleAnnotations, bytes)
      sortAnnotations(&module.simpleAnnotations, bytes)
    }
    module.messages = messages(crashInfo: crashInfo.map, dyldError: dyldError, bytes)
    if let regions = extraMemory.array {
      tree.appendMemory(
        of: regions, .moduleExtraMemoryRegionAddress, .moduleExtraMemoryRegionData, to: &snapshot.extraMemory, bytes)
    }
    if let regions = intermediateDumpMemory.array {
      tree.appendMemory(
        of: regions, .moduleIntermediateDumpExtraMemoryRegionAddress, .moduleIntermediateDumpExtraMemoryRegionData,
        to: &snapshot.intermediateDumpExtraMemory, bytes)
    }
    return module
  }

  private func identity(at offset: Int, _ bytes: RawSpan) -> ModuleSnapshot.Identity {
    .uuid(UUIDBytes(high: bytes.uint64(at: offset).byteSwapped, low: bytes.uint64(at: offset + 8).byteSwapped), age: 0)
  }

  private func messages(crashInfo: DumpNode?, dyldError: DumpField, _ bytes: RawSpan) -> [SnapshotBytes] {
    let (first, second) =
      crashInfo.map {
        tree.fields(.annotationsCrashInfoMessage1, .annotationsCrashInfoMessage2, of: $0, in: bytes)
      } ?? (DumpField(), DumpField())
    var messages: [SnapshotBytes] = []
    func add(_ field: DumpField) {
      if let content = field.content(), !content.isEmpty { messages.append(content) }
    }
    add(first)
    add(second)
    add(dyldError)
    return messages
  }

  private mutating func annotationObjects(of array: DumpNode, _ bytes: RawSpan) -> [AnnotationObject] {
    var objects: [AnnotationObject] = []
    var elements = tree.elements(of: array)
    while let offset = elements.next(of: tree, in: bytes) {
      var (name, type, value) = (DumpField(), DumpField(), DumpField())
      while let record = elements.nextRecord(of: tree, in: bytes) {
        switch record.key {
        case .annotationName: name.record = record
        case .annotationType: type.record = record
        case .annotationValue: value.record = record
        default: break
        }
      }
      if let name = name.content(), Self.nameLengths.contains(name.count), let type = type.uint16(in: bytes),
        let value = value.content(), Self.valueLengths.contains(value.count)
      {
        objects.append(AnnotationObject(name: name, type: type, value: value))
      } else {
        let path = DumpPath().appending(.modules).appending(index: snapshot.modules.count).appending(.annotationObjects)
        findings.append(Finding(InterpretationRules.badAnnotation, at: offset, path: path.text))
      }
    }
    return objects
  }

  /// The last component of a path, computed like `base::FilePath::BaseName`: the path ends at its first NUL, trailing
  /// slashes are ignored, and a path of only slashes is one slash; but two slashes stay two.
  static func baseName(_ path: SnapshotBytes, _ bytes: RawSpan) -> SnapshotBytes {
    let slash = UInt8(ascii: "/")
    func byte(_ index: Int) -> UInt8 { bytes.uint8(at: path.offset + index) }
    var end = bytes.firstZero(in: ByteRange(offset: path.offset, count: path.count)) - path.offset
    guard end > 0 else { return path.prefix(0) }
    if end == 2, byte(0) == slash, byte(1) == slash { return path.prefix(2) }
    while end > 1, byte(end - 1) == slash { end -= 1 }
    if end == 1 { return path.prefix(1) }
    let start = bytes.endOfLast(slash, in: ByteRange(offset: path.offset, count: end)) - path.offset
    return path.part(at: start, count: end - start)
  }
}

extension ModuleSnapshot.FileType {
  /// Converts Mach-O file types (`mach-o/loader.h`).
  init(machO fileType: UInt32) {
    switch fileType {
    case 2: self = .executable  // MH_EXECUTE
    case 6: self = .sharedLibrary  // MH_DYLIB
    case 7: self = .dynamicLoader  // MH_DYLINKER
    case 8: self = .loadableModule  // MH_BUNDLE
    default: self = .other
    }
  }
}
