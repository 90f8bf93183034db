// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Writes ModuleList and CrashpadInfo. Source: Crashpad, `minidump/minidump_{module,crashpad_info,module_crashpad_info,
/// simple_string_dictionary,annotation,rva_list}_writer.cc`.
extension MinidumpWriter {
  func writeModuleList(to writer: inout ByteWriter, _ input: RawSpan) {
    let modules = snapshot.modules.span
    var placement = Placement(at: writer.position + 4 + MinidumpFormat.moduleSize * modules.count)
    writer.uint32(UInt32(modules.count))
    if writer.isMeasuring {
      writer.skip(MinidumpFormat.moduleSize * modules.count)
    } else {
      for index in modules.indices {
        let module = ModuleEntry(modules, index)
        let nameRVA = placement.place(snapshot.withBytes(of: module.name, in: input) { ByteWriter.utf16StringSize($0) })
        let recordSize = codeViewSize(module)
        writeModule(
          module, nameRVA: nameRVA,
          codeView: recordSize == 0
            ? .none : LocationDescriptor(size: recordSize, rva: placement.place(recordSize)),
          to: &writer)
      }
    }
    for index in modules.indices {
      let module = ModuleEntry(modules, index)
      snapshot.withBytes(of: module.name, in: input) { writer.utf16String($0) }
      writeCodeView(module, to: &writer, input)
    }
  }

  /// The members of a module that its entry in the list needs. A copy of the module itself would count references to its
  /// lists, and each function that takes one makes a copy.
  private struct ModuleEntry {
    let name: SnapshotBytes
    let debugName: SnapshotBytes
    let identity: ModuleSnapshot.Identity?
    let fileType: ModuleSnapshot.FileType?
    let address: UInt64?
    let size: UInt64?
    let timestamp: UInt64?
    let dylibVersion: UInt32?
    let sourceVersion: UInt64?

    init(_ modules: Span<ModuleSnapshot>, _ index: Int) {
      name = modules[index].name ?? .empty
      debugName = modules[index].debugName ?? .empty
      identity = modules[index].identity
      fileType = modules[index].fileType
      address = modules[index].address
      size = modules[index].size
      timestamp = modules[index].timestamp
      dylibVersion = modules[index].dylibVersion
      sourceVersion = modules[index].sourceVersion
    }
  }

  private func writeModule(
    _ module: ModuleEntry, nameRVA: Int, codeView: LocationDescriptor, to writer: inout ByteWriter
  ) {
    let start = writer.position
    writer.uint64(module.address ?? 0)
    writer.uint32(UInt32(clamping: module.size ?? 0))
    writer.uint32(0)  // CheckSum
    writer.uint32(UInt32(truncatingIfNeeded: module.timestamp ?? 0))
    writer.uint32(UInt32(truncatingIfNeeded: nameRVA))
    writer.uint32(MinidumpFormat.fixedFileInfoSignature)
    writer.uint32(0x0001_0000)  // StrucVersion
    writeVersion(module, to: &writer)
    writer.zeros(3 * 4)  // FileFlagsMask, FileFlags, FileOS
    switch module.fileType {
    case .executable: writer.uint32(1)  // VFT_APP
    case .sharedLibrary, .loadableModule: writer.uint32(2)  // VFT_DLL
    default: writer.uint32(0)
    }
    writer.zeros(3 * 4)  // FileSubtype, FileDate
    writer.location(codeView)
    writer.fill(from: start, to: MinidumpFormat.moduleSize)  // MiscRecord and reserved
  }

  /// Writes the versions of file and product, two words each.
  private func writeVersion(_ module: ModuleEntry, to writer: inout ByteWriter) {
    let version = module.dylibVersion ?? 0
    if snapshot.system.isLinux {
      let numbers = ModuleSnapshot.FileVersion(packed: version)
      for part in 0..<4 { writer.uint32(numbers[part]) }
      return
    }
    writer.uint32(version & 0xffff_0000 | version >> 8 & 0xff)
    writer.uint32(version << 16 & 0x00ff_0000)
    writer.uint32(UInt32(truncatingIfNeeded: (module.sourceVersion ?? 0) >> 32))
    writer.uint32(UInt32(truncatingIfNeeded: module.sourceVersion ?? 0))
  }

  private func codeViewSize(_ module: ModuleEntry) -> Int {
    if case .buildID(let id)? = module.identity { return 4 + id.count }
    // For a module without identity, Crashpad writes a record of zeros; Breakpad writes none.
    if module.identity == nil, snapshot.system.isLinux { return 0 }
    return 24 + module.debugName.count + 1
  }

  private func writeCodeView(_ module: ModuleEntry, to writer: inout ByteWriter, _ input: RawSpan) {
    if codeViewSize(module) == 0 { return }
    writer.align(to: 4)
    if writer.isMeasuring {
      writer.skip(codeViewSize(module))
      return
    }
    switch module.identity {
    case .buildID(let id):
      writer.uint32(MinidumpFormat.codeViewELFBuildID)
      append(id, to: &writer, input)
      return
    case .uuid(let uuid, let age):
      writer.uint32(MinidumpFormat.codeViewPDB70)
      writer.guid(uuid)
      writer.uint32(age)
    case nil:
      writer.uint32(MinidumpFormat.codeViewPDB70)
      writer.zeros(20)
    }
    append(module.debugName, to: &writer, input)
    writer.uint8(0)
  }

  // MARK: CrashpadInfo

  func writeCrashpadInfo(to writer: inout ByteWriter, _ input: RawSpan) {
    let start = writer.position
    let dictionary = dictionarySize(snapshot.annotations)
    var placement = Placement(at: start + MinidumpFormat.crashpadInfoSize)
    var annotations = LocationDescriptor.none
    if !snapshot.annotations.isEmpty {
      annotations = LocationDescriptor(size: dictionary, rva: placement.place(dictionary))
      placeEntries(of: snapshot.annotations, &placement)
    }
    let allModules = snapshot.modules.span
    let useful = allModules.indices.filter { allModules[$0].hasAnnotations }
    var modules = LocationDescriptor.none
    if !useful.isEmpty {
      modules = LocationDescriptor(size: 4 + 12 * useful.count, rva: placement.place(4 + 12 * useful.count))
    }
    writer.uint32(1)  // Version
    writer.guid(snapshot.reportID)
    writer.guid(snapshot.clientID)
    writer.location(annotations)
    writer.location(modules)
    writer.uint32(0)
    writer.uint64(snapshot.system.addressMask ?? 0)
    if !snapshot.annotations.isEmpty { writeDictionary(snapshot.annotations, to: &writer, input) }
    if !useful.isEmpty { writeModuleInfos(useful, to: &writer, input) }
  }

  private func writeModuleInfos(_ useful: [Int], to writer: inout ByteWriter, _ input: RawSpan) {
    let modules = snapshot.modules.span
    writer.align(to: 4)
    writer.uint32(UInt32(useful.count))
    var placement = Placement(at: writer.position + 12 * useful.count)
    for index in useful {
      writer.uint32(UInt32(index))
      let rva = placement.place(MinidumpFormat.moduleCrashpadInfoSize)
      writer.location(LocationDescriptor(size: MinidumpFormat.moduleCrashpadInfoSize, rva: rva))
      _ = placeAnnotations(of: modules[index], &placement)
    }
    for index in useful {
      writeModuleInfo(modules[index], to: &writer, input)
    }
  }

  private func writeModuleInfo(_ module: borrowing ModuleSnapshot, to writer: inout ByteWriter, _ input: RawSpan) {
    writer.align(to: 4)
    var placement = Placement(at: writer.position + MinidumpFormat.moduleCrashpadInfoSize)
    let places = placeAnnotations(of: module, &placement)
    if writer.isMeasuring {
      writer.skip(placement.end - writer.position)
      return
    }
    writer.uint32(1)  // Version
    writer.location(places.messages)
    writer.location(places.simple)
    writer.location(places.objects)
    if !module.messages.isEmpty { writeMessages(module.messages, to: &writer, input) }
    if !module.simpleAnnotations.isEmpty { writeDictionary(module.simpleAnnotations, to: &writer, input) }
    if !module.annotationObjects.isEmpty { writeObjects(module.annotationObjects, to: &writer, input) }
  }

  private typealias AnnotationPlaces = (
    messages: LocationDescriptor, simple: LocationDescriptor, objects: LocationDescriptor
  )

  /// Assigns the places of a module's three kinds of annotations; advances `placement`.
  private func placeAnnotations(of module: borrowing ModuleSnapshot, _ placement: inout Placement) -> AnnotationPlaces {
    var places: AnnotationPlaces = (.none, .none, .none)
    if !module.messages.isEmpty {
      let size = 4 + 4 * module.messages.count
      places.messages = LocationDescriptor(size: size, rva: placement.place(size))
      for message in module.messages { _ = placement.place(ByteWriter.utf8StringSize(message.count)) }
    }
    if !module.simpleAnnotations.isEmpty {
      let size = dictionarySize(module.simpleAnnotations)
      places.simple = LocationDescriptor(size: size, rva: placement.place(size))
      placeEntries(of: module.simpleAnnotations, &placement)
    }
    if !module.annotationObjects.isEmpty {
      let size = 4 + 12 * module.annotationObjects.count
      places.objects = LocationDescriptor(size: size, rva: placement.place(size))
      for object in module.annotationObjects {
        _ = placement.place(ByteWriter.utf8StringSize(object.name.count))
        _ = placement.place(4 + object.value.count)
      }
    }
    return places
  }

  private func dictionarySize(_ annotations: [Annotation]) -> Int { 4 + 8 * annotations.count }

  private func placeEntries(of annotations: [Annotation], _ placement: inout Placement) {
    for annotation in annotations {
      _ = placement.place(ByteWriter.utf8StringSize(annotation.name.count))
      _ = placement.place(ByteWriter.utf8StringSize(annotation.value.count))
    }
  }

  /// Writes a MinidumpSimpleStringDictionary.
  private func writeDictionary(_ annotations: [Annotation], to writer: inout ByteWriter, _ input: RawSpan) {
    writer.align(to: 4)
    writer.uint32(UInt32(annotations.count))
    var placement = Placement(at: writer.position + 8 * annotations.count)
    for annotation in annotations {
      writer.uint32(UInt32(truncatingIfNeeded: placement.place(ByteWriter.utf8StringSize(annotation.name.count))))
      writer.uint32(UInt32(truncatingIfNeeded: placement.place(ByteWriter.utf8StringSize(annotation.value.count))))
    }
    for annotation in annotations {
      snapshot.withBytes(of: annotation.name, in: input) { writer.utf8String($0) }
      snapshot.withBytes(of: annotation.value, in: input) { writer.utf8String($0) }
    }
  }

  /// Writes a MinidumpRVAList of MinidumpUTF8Strings.
  private func writeMessages(_ messages: [SnapshotBytes], to writer: inout ByteWriter, _ input: RawSpan) {
    writer.align(to: 4)
    writer.uint32(UInt32(messages.count))
    var placement = Placement(at: writer.position + 4 * messages.count)
    for message in messages {
      writer.uint32(UInt32(truncatingIfNeeded: placement.place(ByteWriter.utf8StringSize(message.count))))
    }
    for message in messages { snapshot.withBytes(of: message, in: input) { writer.utf8String($0) } }
  }

  /// Writes a MinidumpAnnotationList.
  private func writeObjects(_ objects: [AnnotationObject], to writer: inout ByteWriter, _ input: RawSpan) {
    writer.align(to: 4)
    writer.uint32(UInt32(objects.count))
    var placement = Placement(at: writer.position + 12 * objects.count)
    for object in objects {
      writer.uint32(UInt32(truncatingIfNeeded: placement.place(ByteWriter.utf8StringSize(object.name.count))))
      writer.uint16(object.type)
      writer.uint16(0)
      writer.uint32(UInt32(truncatingIfNeeded: placement.place(4 + object.value.count)))
    }
    for object in objects {
      snapshot.withBytes(of: object.name, in: input) { writer.utf8String($0) }
      writer.align(to: 4)
      snapshot.withBytes(of: object.value, in: input) { writer.counted($0) }  // MinidumpByteArray
    }
  }
}

extension ModuleSnapshot {
  var hasAnnotations: Bool { !messages.isEmpty || !simpleAnnotations.isEmpty || !annotationObjects.isEmpty }
}

extension ByteWriter {
  /// Writes a GUID: the first three groups are little-endian.
  mutating func guid(_ uuid: UUIDBytes) {
    uint32(UInt32(truncatingIfNeeded: uuid.high >> 32))
    uint16(UInt16(truncatingIfNeeded: uuid.high >> 16))
    uint16(UInt16(truncatingIfNeeded: uuid.high))
    uint64(uuid.low.byteSwapped)
  }
}
