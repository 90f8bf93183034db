// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
package import CrashpadJSON
package import CrashpadSnapshot

/// Writes a report as the body of an `.ips`, one JSON object with Apple's keys, and before it the first line that other
/// programs ask for. `ReportReader` reads both back unchanged.
package struct ReportWriter {
  let snapshot: ProcessSnapshot
  let report: ReportSnapshot
  /// The module of frames without an image.
  private let absoluteModule: Int?

  package static func write(_ snapshot: ProcessSnapshot, _ input: RawSpan, to json: inout JSONWriter) {
    let writer = ReportWriter(
      snapshot: snapshot, report: snapshot.report ?? ReportSnapshot(kind: .crash),
      absoluteModule: snapshot.modules.firstIndex { $0.isAbsolute })
    json.object { writer.writeBody(input, to: &$0) }
  }

  /// The first line of an `.ips`, which names the report and its type.
  package static func header(_ snapshot: ProcessSnapshot, _ input: RawSpan) -> [UInt8] {
    let report = snapshot.report ?? ReportSnapshot(kind: .crash)
    let writer = ReportWriter(snapshot: snapshot, report: report, absoluteModule: nil)
    return JSONWriter.bytes(.compact) { json in json.object { writer.writeHeader(to: &$0) } }
  }

  private func writeHeader(to json: inout JSONWriter) {
    member("app_name", report.processName, &json)
    member("timestamp", report.captureTime, &json)
    member("app_version", report.version, &json)
    member("build_version", report.build, &json)
    member("platform", snapshot.system.platform?.number, &json)
    member("bundleID", report.bundleID, &json)
    json.member("bug_type", report.bugType ?? defaultBugType)
    member("os_version", report.osText, &json)
    member("incident_id", report.incident, &json)
    member("name", report.processName, &json)
  }

  func member(_ key: String, _ value: String?, _ json: inout JSONWriter) {
    if let value { json.member(key, value) }
  }

  func member(_ key: String, _ value: (some BinaryInteger)?, _ json: inout JSONWriter) {
    if let value { json.member(key, value) }
  }

  private func text(_ content: SnapshotBytes?, _ input: RawSpan) -> String? {
    content.map { snapshot.text($0, in: input) }
  }

  private func writeBody(_ input: RawSpan, to json: inout JSONWriter) {
    member("bug_type", report.bugType ?? defaultBugType, &json)
    writeIdentity(input, to: &json)
    writeOwnFacts(to: &json)
    if report.jetsam != nil { return writeJetsam(to: &json) }
    if let panic = report.panic { return json.member("panicString", panic.text) }
    writeException(to: &json)
    writeMessages(to: &json)
    member("faultingThread", report.faultingThread, &json)
    json.array("threads") { json in
      for (index, thread) in snapshot.threads.enumerated() { writeThread(thread, index, input, to: &json) }
    }
    if !report.lastException.isEmpty {
      json.key("lastExceptionBacktrace")
      writeFrames(report.lastException, to: &json)
    }
    json.array("usedImages") { json in
      for module in snapshot.modules { writeImage(module, input, to: &json) }
    }
  }

  /// Whether the report is of the system and not of one process.
  private var isOfSystem: Bool { report.jetsam != nil || report.panic != nil }

  var defaultBugType: String {
    switch report.kind {
    case .panic: "210"
    case .forceReset: "151"
    case .crash, .hang: "309"
    case .osFault: "308"
    case .resource: "385"
    case .jetsam: "298"
    case .stackshot: "288"
    }
  }

  // MARK: Head

  private func writeIdentity(_ input: RawSpan, to json: inout JSONWriter) {
    member("procName", report.processName, &json)
    member("procPath", report.processPath, &json)
    member("pid", snapshot.processID, &json)
    member("parentProc", report.parentName, &json)
    member("parentPid", snapshot.parentProcessID, &json)
    member("responsibleProc", report.responsibleName, &json)
    member("coalitionName", report.coalition, &json)
    member("procRole", report.role, &json)
    member("cpuType", report.codeType, &json)
    if report.isTranslated { json.member("translated", true) }
    if report.bundleID != nil || report.version != nil || report.build != nil {
      json.object("bundleInfo") { json in
        member("CFBundleIdentifier", report.bundleID, &json)
        member("CFBundleShortVersionString", report.version, &json)
        member("CFBundleVersion", report.build, &json)
      }
    }
    member("incident", report.incident, &json)
    member("crashReporterKey", report.reporterKey, &json)
    member(isOfSystem ? "date" : "captureTime", report.captureTime, &json)
    member("procLaunch", report.launchTime, &json)
    member(isOfSystem ? "product" : "modelCode", text(snapshot.system.machine, input), &json)
    writeSystem(input, to: &json)
    writeFields(to: &json)
  }

  private func writeSystem(_ input: RawSpan, to json: inout JSONWriter) {
    if isOfSystem { return member("build", report.osText, &json) }
    let releaseType = listed("Release Type")
    guard report.osText != nil || releaseType != nil else { return }
    json.object("osVersion") { json in
      if let system = report.osText {
        let build = text(snapshot.system.osBuild, input)
        let isLast = build.map { system.hasSuffix(" (\($0))") } ?? false
        let train = isLast ? String(system.dropLast((build ?? "").count + 3)) : system
        json.member("train", train)
        if isLast { member("build", build, &json) }
      }
      member("releaseType", releaseType, &json)
    }
  }

  private func listed(_ name: String) -> String? { report.fields.first { $0.name == name }?.value }

  /// Writes the fields that `readFields` reads.
  private func writeFields(to json: inout JSONWriter) {
    for (name, key) in IPSField.all {
      guard let value = listed(name) else { continue }
      json.key(key)
      if let number = Int64(value), String(number) == value { json.number(number) } else { json.string(value) }
    }
    let others = report.fields.enumerated().filter { index, field in
      // A name that has a member of its own may stand there once.
      isOfSystem || !IPSField.isKnown(field.name)
        || report.fields[..<index].contains { $0.name == field.name }
    }.map(\.element)
    if !others.isEmpty {
      json.object(IPSField.others) { json in for field in others { json.member(field.name, field.value) } }
    }
    let store = [("Beta Identifier", "deviceIdentifierForVendor"), ("AppVariant", "applicationVariant")]
    guard store.contains(where: { listed($0.0) != nil }) else { return }
    json.object("storeInfo") { json in for (name, key) in store { member(key, listed(name), &json) } }
  }

  // MARK: Exception

  private func writeException(to json: inout JSONWriter) {
    if report.exceptionType != nil || report.exceptionCodes != nil {
      json.object("exception") { json in
        member("type", report.exceptionType, &json)
        member("signal", report.exceptionSignal, &json)
        member("codes", report.exceptionCodes, &json)
        // The first codes are the type and, for a signal, its number; they are left out.
        let codes = snapshot.exception.map { $0.codes.dropFirst($0.kind == .softSignal ? 2 : 1) } ?? []
        if !codes.isEmpty { json.array("rawCodes") { json in for code in codes { json.number(code) } } }
        member("subtype", report.exceptionSubtype, &json)
        member("message", report.exceptionMessage, &json)
      }
    }
    if report.exceptionNotes.contains(IPSNotes.corpse) { json.member("isCorpse", true) }
    if !report.codeBefore.isEmpty || !report.codeAt.isEmpty {
      json.object("instructionByteStream") { json in
        json.member("beforePC", Base64.encode(report.codeBefore))
        json.member("atPC", Base64.encode(report.codeAt))
      }
    }
    if report.isNonFatal { json.member("isNonFatal", true) }
    if report.isSimulated { json.member("isSimulated", true) }
    guard let termination = report.termination else { return }
    json.object("termination") { json in
      member("namespace", termination.namespace, &json)
      member("code", termination.code, &json)
      member("flags", termination.flags, &json)
      member("indicator", termination.indicator, &json)
      writeStrings("reasons", termination.reasons, to: &json)
      writeStrings("details", termination.details, to: &json)
      member("byProc", termination.byProcess, &json)
      member("byPid", termination.byProcessID, &json)
    }
  }

  func writeStrings(_ key: String, _ strings: [String], to json: inout JSONWriter) {
    guard !strings.isEmpty else { return }
    json.array(key) { json in for string in strings { json.string(string) } }
  }

  private func writeMessages(to json: inout JSONWriter) {
    if !report.messages.isEmpty {
      json.object("asi") { json in
        var images: [String] = []
        var texts: [String: [String]] = [:]
        for message in report.messages {
          let image = message.image ?? ""
          if texts[image] == nil { images.append(image) }
          texts[image, default: []].append(message.text)
        }
        for image in images { writeStrings(image, texts[image] ?? [], to: &json) }
      }
    }
    if !report.kernelTriage.isEmpty { json.member("ktriageinfo", report.kernelTriage.joined(separator: "\n") + "\n") }
    member("vmRegionInfo", report.vmRegionInfo, &json)
    writeStrings("reportNotes", report.notes, to: &json)
  }

  // MARK: Threads and images

  private func writeThread(_ thread: ThreadSnapshot, _ index: Int, _ input: RawSpan, to json: inout JSONWriter) {
    json.object { json in
      if report.faultingThread == index { json.member("triggered", true) }
      member("id", thread.id, &json)
      member("number", thread.number, &json)
      member("name", text(thread.name, input), &json)
      member("queue", text(thread.queue, input), &json)
      if let context = thread.context {
        writeState(context, isFaulting: report.faultingThread == index, to: &json)
      }
      json.key("frames")
      writeFrames(thread.frames ?? [], to: &json)
      writeElided(thread.elided, to: &json)
    }
  }

  /// Writes where frames are missing. The numbers count those that are missing before.
  private func writeElided(_ elided: [ElidedFrames], to json: inout JSONWriter) {
    guard !elided.isEmpty else { return }
    var missing: UInt64 = 0
    json.array("recursionInfoArray") { json in
      for gap in elided {
        json.object { json in
          let hottest = UInt64(gap.index) &+ missing
          json.member("hottestElided", hottest)
          if let frames = gap.frames, frames > 0 { json.member("coldestElided", hottest &+ (frames - 1)) }
          member("depth", gap.levels, &json)
        }
        missing = missing &+ (gap.frames ?? 0)
      }
    }
  }

  private func writeState(_ context: CPUContext, isFaulting: Bool, to json: inout JSONWriter) {
    func register(_ name: String, _ value: UInt64, _ json: inout JSONWriter) {
      json.object(name) { $0.member("value", value) }
    }
    json.key("threadState")
    json.inline { json in
      json.object { json in
        switch context {
        case .arm64(let context):
          json.array("x") { json in for index in 0..<29 { json.object { $0.member("value", context.x[index]) } } }
          let rest = [("fp", context.fp), ("lr", context.lr), ("sp", context.sp), ("pc", context.pc)]
          for (name, value) in rest { register(name, value, &json) }
          register("cpsr", UInt64(context.cpsr), &json)
          json.member("flavor", "ARM_THREAD_STATE64")
          guard isFaulting else { return }
          if let far = report.faultAddress { register("far", far, &json) }
          if let syndrome = report.syndrome {
            json.object("esr") {
              $0.member("value", syndrome)
              member("description", report.syndromeText, &$0)
            }
          }
        case .named(let architecture, let registers, _, _):
          for value in registers { register(value.name, value.value, &json) }
          json.member("flavor", architecture == .arm ? "ARM_THREAD_STATE" : "x86_THREAD_STATE32")
        case .x86_64:
          for value in context.generalRegisters { register(value.name, value.value, &json) }
          json.member("flavor", "x86_THREAD_STATE")
          guard isFaulting else { return }
          if let address = report.faultAddress { register("cr2", address, &json) }
          if let error = report.syndrome { register("err", error, &json) }
        }
      }
    }
  }

  private func writeFrames(_ frames: [RecordedFrame], to json: inout JSONWriter) {
    json.array { json in
      for frame in frames {
        json.inline { json in json.object { writeFrame(frame, to: &$0) } }
      }
    }
  }

  private func writeFrame(_ frame: RecordedFrame, to json: inout JSONWriter) {
    // For a frame without an image, the offset is the address.
    member("imageIndex", frame.module ?? absoluteModule, &json)
    let base = frame.module.flatMap { snapshot.modules[$0].address } ?? 0
    json.member("imageOffset", frame.moduleOffset ?? frame.address &- base)
    // Apple's offsets are those from a known base.
    let hasBase = frame.module.map { snapshot.modules[$0].address != nil } ?? false
    if !hasBase { member("crashpadctl_offset", frame.moduleOffset, &json) }
    if hasBase, frame.moduleOffset == nil { json.member("crashpadctl_unplaced", true) }
    member("symbol", frame.function, &json)
    member("symbolLocation", frame.functionOffset, &json)
    member("sourceFile", frame.file, &json)
    member("sourceLine", frame.line, &json)
    if frame.isInlined { json.member("inline", true) }
  }

  private func writeImage(_ module: ModuleSnapshot, _ input: RawSpan, to json: inout JSONWriter) {
    json.inline { json in
      json.object { json in
        json.member("source", "P")
        member("arch", module.architecture, &json)
        member("base", module.address, &json)
        member("size", module.size, &json)
        switch module.identity {
        case .uuid(let uuid, _): json.member("uuid", uuid.text)
        case .buildID(let content):
          let digits = snapshot.bytes(of: content, in: input).map { hexadecimal(UInt64($0), width: 2) }
          json.member("buildID", digits.joined())
        case nil: break
        }
        member("path", text(module.name, input), &json)
        member("name", text(module.debugName, input), &json)
        member("CFBundleIdentifier", module.bundleID, &json)
        member("CFBundleShortVersionString", module.bundleVersion, &json)
      }
    }
  }

  // MARK: Jetsam

  private func writeJetsam(to json: inout JSONWriter) {
    guard let jetsam = report.jetsam else { return }
    member("largestProcess", jetsam.largestProcess, &json)
    json.object("memoryStatus") { json in
      member("pageSize", jetsam.pageSize, &json)
      if let free = jetsam.freePages, snapshot.system.memory?.free == nil {
        json.object("memoryPages") { $0.member("free", free) }
      } else if let memory = snapshot.system.memory {
        json.object("memoryPages") { json in
          member("active", memory.active, &json)
          member("inactive", memory.inactive, &json)
          member("wired", memory.wired, &json)
          member("free", memory.free, &json)
        }
      }
    }
    json.array("processes") { json in
      for process in jetsam.processes { json.inline { json in json.object { writeProcess(process, to: &$0) } } }
    }
  }

  private func writeProcess(_ process: ReportSnapshot.JetsamProcess, to json: inout JSONWriter) {
    json.member("name", process.name)
    member("pid", process.processID, &json)
    member("uuid", process.uuid?.text, &json)
    writeStrings("states", process.states, to: &json)
    member("priority", process.priority, &json)
    member("rpages", process.residentPages, &json)
    member("lifetimeMax", process.lifetimeMaximumPages, &json)
    member("reason", process.reason, &json)
  }
}
