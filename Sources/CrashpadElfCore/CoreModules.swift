// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Modules: mapped ELF files, and the kernel's vDSO, which is not backed by a file.
extension CoreReader {
  /// The name by which readers of minidumps recognize the vDSO; Breakpad's writer uses it.
  static let vdsoName = "linux-gate.so"

  mutating func readModules(_ bytes: RawSpan) {
    mappings = readMappings(bytes)
    let pageSize = pageSize
    var budget = bytes.byteCount + 1 << 20
    var index = 0
    var modules: [(module: ModuleSnapshot, isFixed: Bool)] = []
    while index < mappings.count {
      let first = mappings[index]
      // A file is a module only if its beginning is mapped and is an ELF header, or is missing from the core.
      let image =
        first.offset == 0 ? ElfImage(at: first.start, in: space, pageSize: pageSize, budget: &budget, bytes) : nil
      let isModule = first.offset == 0 && (image != nil || space.bytes(at: first.start, count: 4) == nil)
      var end = first.end
      // Whether each mapping may run; nil of one that the core does not list.
      var canRun = [isExecutable(first)]
      var next = index + 1
      while next < mappings.count, case let mapping = mappings[next],
        bytes.compare(mapping.name, first.name, in: bytes) == 0
      {
        // Two mappings of a file's beginning may belong to one module whose segments share a page of the file. Elsewhere a
        // program mapped a part of the file beside the module, to read it.
        if let image, let size = image.size {
          let distance = mapping.start - first.start
          if distance >= size || mapping.offset == 0 && !image.beginnings.contains(distance) { break }
        } else if mapping.offset == 0, first.offset != 0 || mapping.start != end {
          break
        }
        end = max(end, mapping.end)
        canRun.append(isExecutable(mapping))
        next += 1
      }
      // Code that is mapped without the right to run is only read.
      let isRead = image?.hasCode == true && canRun.allSatisfy { $0 == false }
      if isModule, image != nil || canRun.contains(true), !isRead {
        guard spend(Price.module, at: first.name.offset, path: "NT_FILE") else { break }
        var module = ModuleSnapshot()
        module.name = withoutDeletionMark(first.name, bytes)
        module.address = first.start
        module.size = max(image?.size ?? 0, end - first.start)
        module.identity = image?.buildID.map { .buildID($0) }
        modules.append((module, image?.isFixed ?? false))
      }
      index = next
    }
    addVDSO(to: &modules, &budget, bytes)
    snapshot.modules = arranged(modules, bytes)
  }

  private var pageSize: UInt64 {
    let size = notes.auxiliaryValues[CoreFormat.auxPageSize] ?? 0
    return size.nonzeroBitCount == 1 && (4096...1 << 20).contains(size) ? size : 4096
  }

  // MARK: NT_FILE

  private mutating func readMappings(_ bytes: RawSpan) -> [FileMapping] {
    guard let note = notes.files else {
      if notes.hasNotes { findings.append(Finding(CoreRules.noFileNote)) }
      return []
    }
    let size = layout.wordSize
    let count = Int(clamping: layout.word(bytes, at: note.offset))
    let unit = layout.word(bytes, at: note.offset + size)
    // Each entry takes three words, plus at least a NUL for its name.
    let (header, entrySize) = (2 * size, 3 * size)
    let fitting = (note.count - header) / (entrySize + 1)
    if count > fitting {
      findings.append(
        Finding(
          CoreRules.fileCount, at: note.offset, path: "NT_FILE", expected: .number(UInt64(fitting)),
          found: .number(UInt64(count))))
    }
    var mappings: [FileMapping] = []
    mappings.reserveCapacity(min(count, fitting, memoryBudget / Price.mapping))
    // If the count is too large, the start of the names is unknown.
    var name = note.offset + header + entrySize * min(count, note.count / entrySize)
    for index in 0..<min(count, fitting) {
      let entry = note.offset + header + entrySize * index
      guard spend(Price.mapping, at: entry, path: "NT_FILE") else { break }
      let rest = ByteRange(offset: min(name, note.end), count: max(0, note.end - name))
      let range = text(rest, bytes)
      name = range.end + 1
      let (start, end) = (layout.word(bytes, at: entry), layout.word(bytes, at: entry + size))
      let offset = layout.word(bytes, at: entry + 2 * size).multipliedReportingOverflow(by: unit)
      guard start < end, !offset.overflow else { continue }
      mappings.append(FileMapping(start: start, end: end, offset: offset.partialValue, name: range))
    }
    return mappings.sorted { $0.start < $1.start }
  }

  /// Nil if the core does not list the mapping.
  private func isExecutable(_ mapping: FileMapping) -> Bool? {
    space.segment(at: mapping.start).map { space.segments[$0].isExecutable }
  }

  /// The name without " (deleted)", which the kernel appends if the file was deleted after it was mapped.
  private func withoutDeletionMark(_ name: ByteRange, _ bytes: RawSpan) -> SnapshotBytes {
    let mark = Array(" (deleted)".utf8)
    let start = name.count - mark.count
    if start > 0, bytes.array(in: ByteRange(offset: name.offset + start, count: mark.count)) == mark {
      return SnapshotBytes(inputOffset: name.offset, count: start)
    }
    return SnapshotBytes(inputOffset: name.offset, count: name.count)
  }

  // MARK: Roles

  private mutating func addVDSO(
    to modules: inout [(module: ModuleSnapshot, isFixed: Bool)], _ budget: inout Int, _ bytes: RawSpan
  ) {
    guard let address = notes.auxiliaryValues[CoreFormat.auxVDSO], let index = space.segment(at: address),
      let image = ElfImage(at: address, in: space, pageSize: pageSize, budget: &budget, bytes)
    else { return }
    let segment = space.segments[index]
    var module = ModuleSnapshot()
    module.name = snapshot.store(Self.vdsoName)
    module.address = address
    module.size = min(image.size ?? .max, segment.memorySize - (address - segment.address))
    module.identity = image.buildID.map { .buildID($0) }
    module.fileType = .other
    modules.append((module, false))
    // The kernel's version is not in a note of the core, but in the vDSO.
    guard let version = image.kernelVersion else { return }
    let parts = [version >> 16, version >> 8 & 0xff, version & 0xff].map { Int32(truncatingIfNeeded: $0) }
    snapshot.system.osMajor = parts[0]
    snapshot.system.osMinor = parts[1]
    snapshot.system.osBugfix = parts[2]
    // The form of uname(1), which Breakpad also writes.
    let text = "Linux \(parts[0]).\(parts[1]).\(parts[2]) \(layout.machineName)"
    snapshot.system.osBuild = snapshot.store(text)
  }

  /// Sorts modules by address, with the program first, where readers of minidumps expect it. Cuts sizes so that no
  /// module overlaps the next.
  private func arranged(_ found: [(module: ModuleSnapshot, isFixed: Bool)], _ bytes: RawSpan) -> [ModuleSnapshot] {
    var modules = found.map(\.module)
    let entry = notes.auxiliaryValues[CoreFormat.auxEntry]
    let base = notes.auxiliaryValues[CoreFormat.auxBase] ?? 0
    var program = entry.flatMap { entry in
      modules.firstIndex { module in
        guard let address = module.address, let size = module.size else { return false }
        return entry >= address && entry - address < size
      }
    }
    if program == nil { program = found.firstIndex { $0.isFixed } }
    for index in modules.indices where modules[index].fileType == nil {
      modules[index].fileType =
        index == program ? .executable : base != 0 && modules[index].address == base ? .dynamicLoader : .sharedLibrary
    }
    modules.sort { ($0.address ?? 0) < ($1.address ?? 0) }
    for index in modules.indices.dropLast() {
      guard let address = modules[index].address, let next = modules[index + 1].address, next > address,
        let size = modules[index].size
      else { continue }
      modules[index].size = min(size, next - address)
    }
    if let first = modules.firstIndex(where: { $0.fileType == .executable }) {
      modules.insert(modules.remove(at: first), at: 0)
    }
    return modules
  }
}
