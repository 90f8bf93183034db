// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads the processes of a JetsamEvent and the threads of a stackshot.
extension ReportBuilder {
  mutating func readJetsam(_ body: JSONValue) {
    report.incident = body["incident"]?.string ?? report.incident
    report.reporterKey = body["crashReporterKey"]?.string ?? report.reporterKey
    report.captureTime = body["date"]?.string ?? report.captureTime
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime) ?? snapshot.snapshotTime
    setSystem(body["build"]?.string)
    snapshot.system.machine = content(body["product"]?.string)
    let memory = body["memoryStatus"]
    var jetsam = ReportSnapshot.Jetsam()
    jetsam.pageSize = memory?["pageSize"]?.uint64 ?? body["pageSize"]?.uint64
    jetsam.freePages = memory?["memoryPages"]?["free"]?.uint64
    jetsam.largestProcess = body["largestProcess"]?.string
    snapshot.system.pageSize = jetsam.pageSize
    snapshot.system.memory = systemMemory(memory?["memoryPages"])
    for (index, value) in (body["processes"]?.elements ?? []).enumerated() {
      guard value.kind == .object else {
        note(ReportRules.badThread, at: value.offset, path: "processes[\(index)]")
        continue
      }
      jetsam.processes.append(process(value))
    }
    report.jetsam = jetsam
    assumeDevice()
    readOwnFacts(body[OwnFacts.key])
  }

  /// Reads the processes behind the place from where on the text is not JSON: people leave out some of the hundreds, and write dots.
  mutating func recoverProcesses(_ bytes: RawSpan, from start: Int) {
    var offset = start
    var found: [ReportSnapshot.JetsamProcess] = []
    while offset < bytes.byteCount, found.count < Self.mostProcesses {
      guard bytes.uint8(at: offset) == UInt8(ascii: "{") else {
        offset += 1
        continue
      }
      let tree = JSONTree(bytes, from: offset, limit: Self.valuesOfProcess)
      offset += 1
      guard let root = tree.root, tree.failure == nil, root["pid"] != nil,
        root["rpages"] != nil || root["reason"] != nil
      else { continue }
      found.append(process(root))
      offset = max(offset, tree.end)
    }
    report.jetsam?.processes += found
  }

  private static let mostProcesses = 4096
  /// A process has some twenty members; more values end the search for its end.
  private static let valuesOfProcess = 256

  /// These reports do not state the processor. That of a device is one of ARM; a Mac may have another.
  private mutating func assumeDevice() {
    guard snapshot.system.architecture == .unknown, snapshot.system.operatingSystem != .macos else { return }
    snapshot.system.architecture = .arm64
    report.isArchitectureInferred = true
  }

  private func systemMemory(_ pages: JSONValue?) -> SystemMemory? {
    guard let pages else { return nil }
    return SystemMemory(
      active: pages["active"]?.uint32, inactive: pages["inactive"]?.uint32, wired: pages["wired"]?.uint32,
      free: pages["free"]?.uint32)
  }

  private func process(_ value: JSONValue) -> ReportSnapshot.JetsamProcess {
    var process = ReportSnapshot.JetsamProcess(name: value["name"]?.string ?? "???")
    process.processID = value["pid"]?.int64
    process.uuid = value["uuid"]?.string.flatMap { UUIDBytes(text: $0) }
    process.states = value["states"]?.strings ?? value["state"]?.strings ?? []
    process.priority = value["priority"]?.int64
    process.residentPages = value["rpages"]?.uint64
    process.lifetimeMaximumPages = value["lifetimeMax"]?.uint64
    process.reason = value["reason"]?.string
    return process
  }

  // MARK: Stackshot

  /// Reads the threads of the process that the report names, or of the first process.
  mutating func readStackshot(_ body: JSONValue) {
    readIdentity(body)
    readStackshotImages(body["binaryImages"] ?? body["stackshot"]?["binaryImages"])
    let processes = (body["processByPid"] ?? body["stackshot"]?["processByPid"])?.members ?? []
    report.captureTime = body["date"]?.string ?? report.captureTime
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime) ?? snapshot.snapshotTime
    addField("Exception Code", body["exception"]?.string)
    addField("Reason", body["reason"]?.string)
    setSystem(body["build"]?.string ?? report.osText)
    if let product = body["product"]?.string { snapshot.system.machine = content(product) }
    let wanted = snapshot.processID.map { String($0) }
    let chosen =
      processes.first { $0.key == wanted } ?? processes.first { $0.value["procname"]?.string == report.processName }
    guard let process = chosen ?? processes.first else { return note(ReportRules.noThreads) }
    report.processName = process.value["procname"]?.string ?? report.processName
    snapshot.processID = Int32(process.key)
    for (id, thread) in process.value["threadById"]?.members ?? [] { readStackshotThread(id, thread) }
    assumeDevice()
  }

  /// Reads rows of UUID, address and kind.
  private mutating func readStackshotImages(_ images: JSONValue?) {
    for image in images?.elements ?? [] {
      let parts = image.elements
      var module = ModuleSnapshot()
      if let uuid = parts.first?.string.flatMap({ UUIDBytes(text: $0) }) { module.identity = .uuid(uuid, age: 0) }
      module.address = parts.count > 1 ? parts[1].uint64 : nil
      snapshot.modules.append(module)
    }
  }

  private mutating func readStackshotThread(_ id: String, _ value: JSONValue) {
    var thread = ThreadSnapshot()
    thread.id = UInt64(id) ?? value["id"]?.uint64
    thread.name = content(value["name"]?.string)
    thread.queue = content(value["dispatch_queue_label"]?.string)
    thread.frames = (value["userFrames"]?.elements ?? []).compactMap { row in
      let parts = row.elements
      guard parts.count == 2, let offset = parts[1].uint64 else { return nil }
      let image = parts[0].int64.flatMap { Int(exactly: $0) } ?? -1
      guard snapshot.modules.indices.contains(image) else { return RecordedFrame(address: offset) }
      var frame = RecordedFrame(address: (snapshot.modules[image].address ?? 0) &+ offset)
      frame.module = image
      frame.moduleOffset = offset
      return frame
    }
    snapshot.threads.append(thread)
  }
}
