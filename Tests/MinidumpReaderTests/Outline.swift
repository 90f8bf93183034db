// SPDX-License-Identifier: Apache-2.0
import CrashpadMinidump
import CrashpadSnapshot

/// A snapshot as names with texts, so that two of them can be compared part by part. Places in the file are left out.
struct Outline: Equatable {
  private(set) var parts: [String: String] = [:]
  private let reading: Reading

  static func == (a: Outline, b: Outline) -> Bool { a.parts == b.parts }

  /// The names of the parts that differ, sorted.
  func differences(from other: Outline) -> [String] {
    Set(parts.keys).union(other.parts.keys).filter { parts[$0] != other.parts[$0] }.sorted()
  }

  init(_ reading: Reading) {
    self.reading = reading
    guard let snapshot = reading.snapshot else { return }
    for stream in reading.streams { parts["streams.\(stream.type.name)"] = "" }
    addProcess(snapshot)
    addSystem(snapshot.system)
    for (index, thread) in snapshot.threads.enumerated() { add(thread, "threads[\(index)]") }
    for (index, module) in snapshot.modules.enumerated() { add(module, "modules[\(index)]") }
    for (index, module) in snapshot.unloadedModules.enumerated() {
      parts["unloaded[\(index)]"] = "\(text(module.name)) \(module.address) \(module.size) \(module.timestamp)"
    }
    for (index, region) in snapshot.extraMemory.enumerated() { parts["memory[\(index)]"] = text(region) }
    for (index, region) in snapshot.memoryMap.enumerated() { parts["map[\(index)]"] = "\(region)" }
    guard let exception = snapshot.exception else { return }
    parts["exception"] =
      "\(exception.kind) \(exception.threadID) \(exception.code) \(exception.info) \(exception.address) \(exception.codes)"
    parts["exception.context"] = text(exception.context)
  }

  private mutating func addProcess(_ snapshot: ProcessSnapshot) {
    parts["process"] = "\(snapshot.processID ?? -1)"
    parts["process.times"] =
      "\(String(describing: snapshot.startTime)) \(String(describing: snapshot.userTime)) "
      + "\(String(describing: snapshot.systemTime))"
    parts["header.time"] = "\(String(describing: snapshot.snapshotTime))"
    parts["crashpad"] = "\(snapshot.isComplete) \(snapshot.reportID.text) \(snapshot.clientID.text)"
    for (index, annotation) in snapshot.annotations.enumerated() { parts["annotations[\(index)]"] = text(annotation) }
    guard let linux = snapshot.linux else { return }
    let files = [
      ("CPUInfo", linux.cpuInfo), ("ProcStatus", linux.processStatus), ("LSBRelease", linux.release),
      ("CommandLine", linux.commandLine), ("Environment", linux.environment),
      ("AuxiliaryVector", linux.auxiliaryVector), ("Maps", linux.maps),
    ]
    for (name, content) in files { parts["linux\(name)"] = text(content) }
  }

  private mutating func addSystem(_ system: SystemSnapshot) {
    parts["system"] =
      "\(system.architecture) \(system.operatingSystem) \(system.osMajor ?? -1) \(system.osMinor ?? -1) "
      + "\(system.osBugfix ?? -1) \(system.cpuCount ?? -1) \(text(system.cpuVendor))"
    parts["system.build"] = text(system.osBuild)
    parts["crashpad.system"] = "\(system.addressMask ?? 0) \(system.crashpadUptime ?? 0)"
    let zone = system.timeZone
    parts["process.zone"] =
      "\(String(describing: zone.daylightSaving)) \(zone.standardOffset ?? -1) \(zone.daylightOffset ?? -1) "
      + "\(text(zone.standardName)) \(text(zone.daylightName)) \(text(system.machine))"
  }

  private mutating func add(_ thread: ThreadSnapshot, _ path: String) {
    parts[path] =
      "\(thread.id ?? 0) \(thread.suspendCount ?? -1) \(thread.priority ?? -1) \(thread.dataAddress ?? 0)"
    parts[path + ".name"] = text(thread.name)
    parts[path + ".stack"] = thread.stack.map { text($0.region) } ?? "none"
    parts[path + ".context"] = text(thread.context)
  }

  private mutating func add(_ module: ModuleSnapshot, _ path: String) {
    parts[path] =
      "\(module.address ?? 0) \(module.size ?? 0) \(module.timestamp ?? 0) \(module.dylibVersion ?? 0) "
      + "\(module.sourceVersion ?? 0) \(String(describing: module.fileType))"
    parts[path + ".name"] = text(module.name)
    parts[path + ".debugName"] = text(module.debugName)
    switch module.identity {
    case .uuid(let uuid, let age): parts[path + ".identity"] = "\(uuid.text) \(age)"
    case .buildID(let content): parts[path + ".identity"] = text(content)
    case nil: break
    }
    let annotations =
      module.messages.map { text($0) } + module.simpleAnnotations.map { text($0) }
      + module.annotationObjects.map { "\(text($0.name)) \($0.type) \(text($0.value))" }
    for (index, annotation) in annotations.enumerated() { parts["\(path).annotations[\(index)]"] = annotation }
  }

  private func text(_ content: SnapshotBytes?) -> String { reading.data(content).map { "\($0)" } ?? "none" }
  private func text(_ region: MemoryRegion) -> String { "\(region.address) \(text(region.content))" }
  private func text(_ annotation: Annotation) -> String { "\(text(annotation.name)) \(text(annotation.value))" }

  private func text(_ context: CPUContext?) -> String {
    guard let context else { return "none" }
    var result = context.generalRegisters.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    if case .arm64(let context) = context { result += " \(context.fpsr) \(context.fpcr) \(text(context.vectors))" }
    if case .x86_64(let context) = context { result += " \(text(context.fxsave))" }
    return result
  }
}
