// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// The differences of dumps written by the handler in a Linux process: the map kLinux, Linux signal numbers, build ids,
/// threads that could not be stopped.
extension DumpInterpreter {
  /// Reads kLinux and kCapture, if present. Returns annotations for data that a minidump has no field for: the duration
  /// of the capture, and the data that is missing.
  mutating func readLinux(_ root: RootFields, _ bytes: RawSpan) -> [String: String] {
    snapshot.system.operatingSystem = .linux
    let machine = snapshot.system.machine
    // A Linux machine has no model name, only that of its architecture.
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
        let field = DumpField(record)
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
    // Parts of two files, in the format of the files that minidumps contain.
    if linux.release == nil, let name = distribution.value, name.count > 0 {
      linux.release = snapshot.store(Array("PRETTY_NAME=\"".utf8) + bytes.array(in: name) + Array("\"\n".utf8))
    }
    if root.linux.map != nil { snapshot.linux = linux }
    nameSystem(kernelRelease.value, kernelVersion.value, machine, bytes)
    if let notes = notes.record, notes.kind == .property { addFindings(ofNotes: notes, bytes) }
    return annotations(duration, notes, bytes)
  }

  /// Stores the system's name in the form of uname(1), which readers of minidumps expect: "Linux 6.1.55-18-amd64 #1 SMP
  /// … x86_64".
  private mutating func nameSystem(
    _ release: ByteRange?, _ version: ByteRange?, _ machine: SnapshotBytes?, _ bytes: RawSpan
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

  // MARK: Capture notes

  /// Adds a finding for each line of the notes.
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

  /// Reads the states that exist: a handler can't read debug registers, and the state of a thread that was read from
  /// /proc is partial.
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

  /// Sets the build id, of which kUUID has only a part. Debug information is found by build id, so there is no debug
  /// name.
  func identify(_ module: inout ModuleSnapshot, _ buildID: DumpField) {
    if let id = buildID.content(), !id.isEmpty { module.identity = .buildID(id) }
    // Without a build id, kUUID is zero.
    if module.identity == .uuid(.zero, age: 0) { module.identity = nil }
    if case .uuid? = module.identity { return }
    module.debugName = nil
  }

  /// Moves the program to the front, where readers of minidumps expect it.
  mutating func arrangeModules(_ linux: DumpNode?, _ bytes: RawSpan) {
    guard let program = snapshot.modules.firstIndex(where: { $0.fileType == .executable }) else { return }
    // The loader's list has no name for the program.
    if (snapshot.modules[program].name ?? .empty).isEmpty, let linux {
      snapshot.modules[program].name = tree.field(.executable, of: linux, in: bytes).content()
    }
    if program > 0 { snapshot.modules.insert(snapshot.modules.remove(at: program), at: 0) }
  }
}
