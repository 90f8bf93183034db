// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// Reads MetricKit's JSON: a payload of diagnostics, an array of payloads, a single diagnostic, or only a call tree.
///
/// The first crash in a payload is read, or its first diagnostic if it has no crash; the others are counted. `ReportParts` takes
/// out each of them.
enum MetricKitReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) {
    let tree = JSONTree(bytes)
    guard let root = builder.readJSON(tree), let found = diagnostics(root).min(by: { $0.rank < $1.rank }) else {
      return builder.refuseEmpty(tree)
    }
    var reader = MetricKitDiagnostic(builder: builder)
    reader.read(found, in: found.payload)
    reader.countOthers(diagnostics(root))
    builder = reader.builder
  }

  /// One diagnostic in a payload.
  struct Diagnostic {
    let kind: ReportSnapshot.Kind
    /// The name of its list, such as "crash" or "hang".
    let name: String
    let value: JSONValue
    /// The payload that contains the diagnostic.
    let payload: JSONValue
    /// Diagnostics with a lower rank are read first.
    let rank: Int

    /// Whether it stands in a payload's list of its kind.
    var isListed: Bool { value.offset != payload.offset }
  }

  private static let kinds: [(name: String, kind: ReportSnapshot.Kind)] = [
    ("crash", .crash), ("hang", .hang), ("cpuException", .resource), ("diskWriteException", .resource),
    ("memoryException", .resource), ("appLaunch", .hang),
  ]

  /// The diagnostics in the lists of a payload ("crashDiagnostics"), the one in a report of iOS 27
  /// ("crashDiagnostic"), or `root` itself.
  static func diagnostics(_ root: JSONValue) -> [Diagnostic] {
    if root.kind == .array { return root.elements.flatMap { $0.kind == .object ? diagnostics($0) : [] } }
    var found: [Diagnostic] = []
    for (rank, value) in lists(root) {
      let values = value.kind == .array ? value.elements : [value]
      for value in values where value.kind == .object {
        found.append(
          Diagnostic(kind: kinds[rank].kind, name: kinds[rank].name, value: value, payload: root, rank: rank))
      }
    }
    if found.isEmpty, root["callStackTree"] != nil || root["callStacks"] != nil {
      let metadata = root["diagnosticMetaData"]
      // Since iOS 27 the measures stand beside the tree.
      let isHang = (["hangDuration", "launchDuration"] as [StaticString]).contains {
        (metadata?[$0] ?? root[$0]) != nil
      }
      let isResource = (["totalCPUTime", "writesCaused", "totalBytesWritten"] as [StaticString]).contains {
        (metadata?[$0] ?? root[$0]) != nil
      }
      let kind: ReportSnapshot.Kind = isHang ? .hang : isResource ? .resource : .crash
      found = [Diagnostic(kind: kind, name: kind.rawValue, value: root, payload: root, rank: 0)]
    }
    return found
  }

  /// The members of a payload that hold diagnostics, with their ranks.
  static func lists(_ payload: JSONValue) -> [(rank: Int, value: JSONValue)] {
    payload.members.compactMap { key, value in
      kinds.firstIndex { key == $0.name + "Diagnostics" || key == $0.name + "Diagnostic" }.map { ($0, value) }
    }
  }
}

/// The state while one diagnostic is read.
struct MetricKitDiagnostic {
  var builder: ReportBuilder
  /// The index of each image by UUID, or by name if it has no UUID.
  private var images: [String: Int] = [:]
  /// Image names by UUID, for trees that list their images separately.
  private var names: [String: String] = [:]

  init(builder: ReportBuilder) { self.builder = builder }

  mutating func read(_ diagnostic: MetricKitReader.Diagnostic, in root: JSONValue) {
    builder.report.kind = diagnostic.kind
    builder.report.endedForMemory = diagnostic.name == "memoryException"
    // The list says it, whatever is left of the diagnostic.
    builder.report.statesCrash = diagnostic.kind == .crash && diagnostic.isListed
    // Before iOS 27 the facts are in the diagnostic, from then on in the report and its environment.
    let sources = [diagnostic.value["diagnosticMetaData"], root["environment"], diagnostic.value].compactMap { $0 }
    readIdentity(sources, root)
    let tree = diagnostic.value["callStackTree"] ?? (diagnostic.value["callStacks"] == nil ? nil : diagnostic.value)
    if let tree { readTree(tree) }
    if builder.snapshot.threads.isEmpty { builder.note(ReportRules.noThreads, at: diagnostic.value.offset) }
    readException(sources)
  }

  mutating func countOthers(_ all: [MetricKitReader.Diagnostic]) {
    guard all.count > 1 else { return }
    var counts: [(name: String, count: Int)] = []
    for diagnostic in all {
      if let index = counts.firstIndex(where: { $0.name == diagnostic.name }) {
        counts[index].count += 1
      } else {
        counts.append((diagnostic.name, 1))
      }
    }
    let text = counts.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
    builder.addField("Diagnostics", text)
    builder.note(ReportRules.moreDiagnostics, found: .number(UInt64(all.count - 1)))
  }

  private func first(_ sources: [JSONValue], _ key: StaticString) -> JSONValue? {
    for source in sources {
      if let value = source[key], value.kind != .null { return value }
    }
    return nil
  }

  // MARK: Identity

  private mutating func readIdentity(_ sources: [JSONValue], _ root: JSONValue) {
    builder.report.bundleID = first(sources, "bundleIdentifier")?.string
    builder.report.version = (first(sources, "appVersion") ?? first(sources, "applicationVersion"))?.display
    builder.report.build = (first(sources, "appBuildVersion") ?? first(sources, "applicationBuildVersion"))?.display
    builder.snapshot.processID = first(sources, "pid")?.int32
    builder.snapshot.system.machine = builder.content(first(sources, "deviceType")?.string)
    if let text = first(sources, "platformArchitecture")?.string {
      builder.report.codeType = text
      builder.snapshot.system.architecture = ReportNames.architecture(text)
    }
    let system = first(sources, "osVersion")
    if let platform = system?["platform"]?.string, let number = system?["number"]?.string {
      builder.setSystem("\(platform) \(number)" + (system?["buildNumber"]?.string.map { " (\($0))" } ?? ""))
    } else {
      builder.setSystem(system?.string)
    }
    builder.report.captureTime = (root["timeStampEnd"] ?? root["timeStampBegin"])?.string
    builder.snapshot.snapshotTime = ReportTime.timestamp(builder.report.captureTime)
    builder.report.periodStart = ReportTime.timestamp(root["timeStampBegin"]?.string)
    let fields: [(String, JSONValue?)] = [
      ("Region Format", first(sources, "regionFormat")), ("Low Power Mode", first(sources, "lowPowerModeEnabled")),
      ("TestFlight", first(sources, "isTestFlightApp")), ("Hang Duration", first(sources, "hangDuration")),
      ("Launch Duration", first(sources, "launchDuration")), ("Total CPU Time", first(sources, "totalCPUTime")),
      ("Total Sampled Time", first(sources, "totalSampledTime")),
      ("Writes Caused", first(sources, "writesCaused") ?? first(sources, "totalBytesWritten")),
      ("Termination Category", first(sources, "terminationCategory")),
    ]
    for (name, value) in fields { builder.addField(name, value.flatMap(Self.measure)) }
  }

  /// The text of a measure: "160 sec", or since iOS 27 a value and its unit.
  private static func measure(_ value: JSONValue) -> String? {
    guard value.kind == .object else { return value.display }
    let unit = value["unit"]?["symbol"]?.string ?? value["unit"]?.string
    return value["value"]?.display.map { number in unit.map { "\(number) \($0)" } ?? number }
  }

  // MARK: Exception

  private mutating func readException(_ sources: [JSONValue]) {
    let region = first(sources, "virtualMemoryRegionInfo")?.string
    builder.report.vmRegionInfo = region
    var codes: [UInt64] = []
    if let code = first(sources, "exceptionCode")?.uint64 { codes = [code] }
    let type = first(sources, "exceptionType").flatMap { value in
      MeaningTable.machExceptions.first { UInt64($0.value) == value.uint64 }?.key ?? value.display
    }
    let signal = first(sources, "signal").flatMap { value in
      MeaningTable.darwinSignals.first { UInt64($0.value) == value.uint64 }?.key ?? value.string
    }
    // The codes do not contain the address, but the text about the region begins with it.
    if type == "EXC_BAD_ACCESS", let address = Self.address(region) {
      codes = [codes.first ?? 0, address]
      builder.report.faultAddress = address
    }
    builder.setException(type: type, signal: signal, codes: codes)
    if !codes.isEmpty { builder.setCodesText(codes) }
    readReason(first(sources, "terminationReason")?.string)
    readObjectiveC(first(sources, "objectiveCexceptionReason") ?? first(sources, "objectiveCExceptionReason"))
  }

  /// Parses "0x10201ddf8 is in …", "0 is not in any region."
  private static func address(_ text: String?) -> UInt64? {
    guard let text else { return nil }
    var rest = Array(text.utf8)[...]
    let word = rest.takeWord()
    return rest.has(prefix: " is ") ? word.address ?? word.hexadecimal : nil
  }

  private mutating func readReason(_ text: String?) {
    guard let text else { return }
    var termination = ReportSnapshot.Termination()
    let lines = text.split(separator: "\n").map { Array($0.utf8)[...].trimmed }
    for (index, line) in lines.enumerated() {
      if line.has(prefix: "<RBSTerminateContext|") {
        readContext(line, &termination)
      } else if line.has(prefix: "Terminating Process:") {
        (termination.byProcess, termination.byProcessID) = line.dropFirst(20).nameAndNumber
      } else if index == 0 {
        termination.read(reason: line)
      } else {
        termination.reasons.append(line.string)
      }
    }
    builder.report.termination = termination
  }

  /// Parses "<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:…". Domain 10 is
  /// FrontBoard's namespace, 15 RunningBoard's.
  private func readContext(_ line: TextBytes, _ termination: inout ReportSnapshot.Termination) {
    termination.reasons.append(line.string)
    if let place = line.first(of: "domain:") {
      var rest = line[(place + 7)...]
      let domain = rest.takeNumber()
      termination.namespace = domain == 10 ? "FRONTBOARD" : domain == 15 ? "RUNNINGBOARD" : domain.map { "<\($0)>" }
    }
    if let place = line.first(of: "code:") {
      var rest = line[(place + 5)...]
      termination.code = rest.takeWord().number
    }
  }

  private mutating func readObjectiveC(_ value: JSONValue?) {
    guard let value else { return }
    let reason = value["composedMessage"]?.string ?? value["formatString"]?.string ?? value.string
    let name = value["exceptionName"]?.string ?? value["className"]?.string ?? "NSException"
    builder.addUncaught(name, reason: reason)
  }

  // MARK: Stacks

  private mutating func readTree(_ tree: JSONValue) {
    for image in tree["binaryInfo"]?.elements ?? [] {
      if let uuid = image["uuid"]?.string { names[uuid] = image["name"]?.string }
    }
    for (uuid, name) in tree["binaryInfo"]?.members ?? [] { names[uuid] = name.string ?? name["name"]?.string }
    let isPerThread = tree["callStackPerThread"]?.bool ?? true
    for stack in (tree["callStacks"] ?? tree["callStackThreads"])?.elements ?? [] {
      guard stack.kind == .object else {
        builder.note(ReportRules.badThread, at: stack.offset)
        continue
      }
      let index = builder.snapshot.threads.count
      if stack["threadAttributed"]?.bool == true, builder.report.faultingThread == nil {
        builder.report.faultingThread = index
      }
      var thread = ThreadSnapshot()
      thread.frames = frames(stack["callStackRootFrames"] ?? stack["rootFrames"], isPerThread: isPerThread)
      builder.snapshot.threads.append(thread)
    }
    if !isPerThread, builder.report.faultingThread == nil, builder.snapshot.threads.count == 1 {
      builder.report.faultingThread = 0
    }
  }

  /// Reads frames. Those of a thread begin with the innermost. A tree of samples begins with the outermost; its stack
  /// is the path with the most samples.
  private mutating func frames(_ roots: JSONValue?, isPerThread: Bool) -> [RecordedFrame] {
    var frames: [RecordedFrame] = []
    let all = roots?.elements ?? []
    for root in isPerThread ? all : heaviest(all).map({ [$0] }) ?? [] {
      var next: JSONValue? = root
      while let value = next {
        if let frame = frame(value) { frames.append(frame) }
        next = heaviest(value["subFrames"]?.elements ?? [])
      }
    }
    return isPerThread ? frames : frames.reversed()
  }

  private func heaviest(_ values: [JSONValue]) -> JSONValue? {
    values.count < 2
      ? values.first : values.max { ($0["sampleCount"]?.uint64 ?? 0) < ($1["sampleCount"]?.uint64 ?? 0) }
  }

  /// The largest plausible offset. Some versions of iOS write the image's address as the offset, which is larger.
  private static let largestOffset: UInt64 = 1 << 32

  private mutating func frame(_ value: JSONValue) -> RecordedFrame? {
    guard let offset = value["offsetIntoBinaryTextSegment"]?.uint64 ?? value["address"]?.uint64 else {
      builder.note(ReportRules.badFrame, at: value.offset)
      return nil
    }
    let address = value["address"]?.uint64
    var frame = RecordedFrame(address: address ?? offset)
    guard let image = image(value) else { return frame }
    frame.module = image
    frame.moduleOffset = offset
    if let address, offset >= Self.largestOffset, offset <= address {
      frame.moduleOffset = address - offset
    } else if value["offsetIntoBinaryTextSegment"] == nil {
      frame.moduleOffset = nil
    }
    if let address, let inner = frame.moduleOffset, inner <= address, builder.snapshot.modules[image].address == nil {
      builder.snapshot.modules[image].address = address - inner
    }
    return frame
  }

  private mutating func image(_ value: JSONValue) -> Int? {
    let uuid = value["binaryUUID"]?.string
    guard let key = uuid ?? value["binaryName"]?.string else { return nil }
    if let index = images[key] { return index }
    var module = builder.module(value["binaryName"]?.string ?? names[key], file: nil, address: nil, uuid: uuid)
    module.debugName = module.name
    images[key] = builder.snapshot.modules.count
    builder.snapshot.modules.append(module)
    return builder.snapshot.modules.count - 1
  }
}
