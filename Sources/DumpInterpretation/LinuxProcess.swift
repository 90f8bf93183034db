internal import BinaryFormat
internal import IntermediateDump
internal import Snapshot

/// What is different in dumps that the handler within a Linux process wrote: the map kLinux, signals as Linux numbers them,
/// build ids, threads that could not be stopped.
extension DumpInterpreter {
  /// Reads kLinux and kCapture, where there are any. Returns annotations of what has no place of its own in a minidump: how long the capture
  /// took, and what is missing.
  mutating func readLinux(_ root: RootFields, _ bytes: RawSpan) -> [String: String] {
    snapshot.system.operatingSystem = .linux
    let machine = snapshot.system.machine
    // It has no other name than that of its architecture.
    snapshot.system.machine = nil
    var linux = LinuxSnapshot()
    var kernelRelease = DumpField()
    var kernelVersion = DumpField()
    var cpuModel = DumpField()
    var distribution = DumpField()
    var notes = DumpField()
    var duration = DumpField()
    for node in [root.linux.map, root.capture.map].compactMap({ $0 }) {
      var records = tree.records(of: node)
      while let record = records.next(of: tree, in: bytes) {
        var field = DumpField()
        field.record = record
        switch record.key {
        case .kernelRelease: kernelRelease = field
        case .kernelVersion: kernelVersion = field
        case .commandLine: linux.commandLine = field.content()
        case .environment: linux.environment = field.content()
        case .auxiliaryVector: linux.auxiliaryVector = field.content()
        case .maps: linux.maps = field.content()
        case .processStatus: linux.processStatus = field.content()
        case .release: linux.release = field.content()
        case .captureNotes: notes = field
        case .captureDuration: duration = field
        case .cpuModel: cpuModel = field
        case .distribution: distribution = field
        default: break
        }
      }
    }
    if let model = cpuModel.value, model.count > 0 {
      linux.cpuInfo = snapshot.store(Array("model name\t: ".utf8) + bytes.array(in: model) + [0x0a])
    }
    // The two that a dump has only in part, in the form of the files that minidumps carry.
    if linux.release == nil, let name = distribution.value, name.count > 0 {
      linux.release = snapshot.store(Array("PRETTY_NAME=\"".utf8) + bytes.array(in: name) + Array("\"\n".utf8))
    }
    if root.linux.map != nil { snapshot.linux = linux }
    nameSystem(kernelRelease.value, kernelVersion.value, machine, bytes)
    if let notes = notes.record, notes.kind == .property { addFindings(ofNotes: notes, bytes) }
    return annotations(duration, notes, bytes)
  }

  /// The form of uname(1), in which readers of minidumps want it: "Linux 6.1.55-18-amd64 #1 SMP … x86_64".
  private mutating func nameSystem(
    _ release: ByteRange?, _ version: ByteRange?, _ machine: Content?, _ bytes: RawSpan
  ) {
    guard let release, release.count > 0 else {
      // kOSVersionBuild begins with the release.
      if let build = snapshot.system.osBuild, !build.isEmpty {
        let text = bytes.array(in: ByteRange(offset: build.offset, count: build.count))
        snapshot.system.osBuild = snapshot.store(Array("Linux ".utf8) + text)
      }
      return
    }
    var text = Array("Linux ".utf8) + bytes.array(in: release)
    if let version, version.count > 0 { text += [0x20] + bytes.array(in: version) }
    if let machine, !machine.isEmpty {
      text += [0x20] + bytes.array(in: ByteRange(offset: machine.offset, count: machine.count))
    }
    snapshot.system.osBuild = snapshot.store(text)
  }

  // MARK: What was captured

  /// One for each line.
  private mutating func addFindings(ofNotes notes: DumpRecord, _ bytes: RawSpan) {
    var start = notes.value.offset
    let rule = InterpretationRules.captureIncomplete
    while start < notes.value.end {
      var end = start
      while end < notes.value.end, bytes.uint8(at: end) != 0x0a { end += 1 }
      if end > start {
        let line = ByteRange(offset: start, count: min(end - start, 1024))
        findings.append(
          findings.hasRoom(for: rule)
            ? Finding(rule, at: notes.offset, path: "kCapture.kCaptureNotes", found: .text(bytes.text(in: line)))
            : Finding(rule))
      }
      start = end + 1
    }
  }

  private func annotations(_ duration: DumpField, _ notes: DumpField, _ bytes: RawSpan) -> [String: String] {
    var annotations: [String: String] = [:]
    if let duration = duration.uint64(in: bytes) { annotations["crashpad_capture_ns"] = String(duration) }
    if let notes = notes.value {
      var text = bytes.array(in: notes)
      while text.last == 0x0a { text.removeLast() }
      if !text.isEmpty { annotations["crashpad_capture_notes"] = String(decoding: text, as: UTF8.self) }
    }
    return annotations
  }

  // MARK: Threads and modules

  /// A handler can't read debug registers, and the state of a thread that another one reads out of /proc is a part of it.
  mutating func readRegisters(of thread: inout ThreadSnapshot, _ fields: ThreadFields, at offset: Int, _ bytes: RawSpan)
  {
    let layout = DarwinStateLayout.of(architecture)
    let state = DarwinState(
      thread: fields.threadState.value(ofSize: layout.threadSize),
      float: fields.floatState.value(ofSize: layout.floatSize),
      debug: fields.debugState.value(ofSize: layout.debugSize))
    switch thread.capture {
    case .notStopped:
      addThreadFinding(InterpretationRules.threadNotStopped, at: offset)
      return
    case .proc: addThreadFinding(InterpretationRules.partialRegisters, at: offset)
    case .own, .signal, .ptrace, nil: break
    }
    if state.thread != nil {
      thread.context = CPUContext(architecture, state, bytes)
    } else {
      addThreadFinding(InterpretationRules.noRegisters, at: offset)
    }
  }

  /// The build id, of which kUUID has only a part. Debug information is found by it, so there is no other name.
  func identify(_ module: inout ModuleSnapshot, _ buildID: DumpField) {
    if let id = buildID.content(), !id.isEmpty { module.identity = .buildID(id) }
    // Where there is none, its beginning is zeros.
    if module.identity == .uuid(.zero, age: 0) { module.identity = nil }
    if case .uuid? = module.identity { return }
    module.debugName = nil
  }

  /// The program itself first, where readers of minidumps look for it.
  mutating func arrangeModules(_ linux: DumpNode?, _ bytes: RawSpan) {
    guard let program = snapshot.modules.firstIndex(where: { $0.fileType == .executable }) else { return }
    // The loader's list has no name for it.
    if (snapshot.modules[program].name ?? .empty).isEmpty, let linux {
      var executable = DumpField()
      var records = tree.records(of: linux)
      while let record = records.next(of: tree, in: bytes) {
        if record.key == .executable { executable.record = record }
      }
      snapshot.modules[program].name = executable.content()
    }
    if program > 0 { snapshot.modules.insert(snapshot.modules.remove(at: program), at: 0) }
  }
}
