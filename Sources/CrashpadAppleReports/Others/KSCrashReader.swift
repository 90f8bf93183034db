// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// Reads the JSON of KSCrash's reports, versions 2 and 3.
enum KSCrashReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) {
    let tree = JSONTree(bytes)
    guard let root = builder.readJSON(tree),
      root["crash"] != nil || root["binary_images"] != nil || root["report"] != nil
    else { return builder.refuseEmpty(tree) }
    let isInner = holdsWhole(root)
    let other = root["recrash_report"]
    builder.readKSCrash(isInner ? other ?? root : root)
    if let other { builder.addRecrash((isInner ? root : other)["crash"]) }
  }

  /// Whether the report of the crash itself stands within that of a crash of the reporter; else it is the other way round.
  private static func holdsWhole(_ root: JSONValue) -> Bool {
    root["crash"]?["threads"] == nil && root["recrash_report"]?["crash"]?["threads"] != nil
  }
}

extension ReportBuilder {
  fileprivate mutating func readKSCrash(_ root: JSONValue) {
    readSystem(root["system"])
    readReport(root["report"])
    for image in root["binary_images"]?.elements ?? [] { readImage(image) }
    let images = TextImageIndex(snapshot)
    for (index, thread) in (root["crash"]?["threads"]?.elements ?? []).enumerated() {
      readThread(thread, index, images)
    }
    if snapshot.threads.isEmpty { note(ReportRules.noThreads, at: root["crash"]?.offset) }
    readError(root["crash"]?["error"])
    // Without what went wrong, the mark of a thread still says that it did.
    if root["crash"]?["error"] == nil, report.faultingThread != nil { report.statesCrash = true }
    report.diagnosis = root["crash"]?["diagnosis"]?.string
    if root["incomplete"]?.bool == true { snapshot.isComplete = false }
  }

  /// Tells of the crash of the reporter itself, which has its own error and thread.
  fileprivate mutating func addRecrash(_ crash: JSONValue?) {
    let error = crash?["error"]
    let signal = error?["signal"]
    let names = [
      error?["mach"]?["exception_name"]?.string, signal?["name"]?.string, signal?["code_name"]?.string,
    ].compactMap { $0 }
    let place = crash?["crashed_thread"]?["backtrace"]?["contents"]?.elements.first?["symbol_name"]?.string
    let words = (names.isEmpty ? "" : ": " + names.joined(separator: " / ")) + (place.map { ", in \($0)" } ?? "")
    report.notes.append("The crash reporter crashed as well while it wrote the report\(words).")
    addField("Crash of the reporter", words.isEmpty ? "yes" : String(words.dropFirst(2)))
  }

  // MARK: Head

  private mutating func readSystem(_ system: JSONValue?) {
    guard let system else { return }
    report.processName = system["process_name"]?.string
    report.processPath = system["CFBundleExecutablePath"]?.string
    report.bundleID = system["CFBundleIdentifier"]?.string
    report.version = system["CFBundleShortVersionString"]?.display
    report.build = system["CFBundleVersion"]?.display
    report.parentName = system["parent_process_name"]?.string
    report.reporterKey = system["device_app_hash"]?.string
    report.codeType = system["cpu_arch"]?.string
    snapshot.system.architecture = report.codeType.map { ReportNames.architecture($0) } ?? .unknown
    snapshot.system.machine = content(system["machine"]?.string)
    snapshot.processID = system["process_id"]?.int32
    snapshot.parentProcessID = system["parent_process_id"]?.int32
    snapshot.startTime = time(system["app_start_time"])
    report.launchTime = timeText(system["app_start_time"], snapshot.startTime)
    if let name = system["system_name"]?.string {
      let version = system["system_version"]?.display.map { " \($0)" } ?? ""
      setSystem(name + version + (system["os_version"]?.display.map { " (\($0))" } ?? ""))
    }
    if system["build_type"]?.string == "simulator" {
      snapshot.system.platform = snapshot.system.platform ?? Platform(nil)
      snapshot.system.platform?.isSimulator = true
    }
    if let memory = system["app_memory"] { report.memory = readMemory(memory) }
    let fields: [(String, JSONValue?)] = [
      ("Boot Time", system["boot_time"]), ("Jailbroken", system["jailbroken"]), ("Build Type", system["build_type"]),
      ("Kernel Version", system["kernel_version"]), ("Free Memory", system["memory"]?["free"]),
      ("Foreground", system["application_stats"]?["application_in_foreground"]),
    ]
    for (name, value) in fields { addField(name, value?.display) }
  }

  private mutating func readReport(_ value: JSONValue?) {
    report.incident = value?["id"]?.string
    report.processName = report.processName ?? value?["process_name"]?.string
    snapshot.snapshotTime = time(value?["timestamp"])
    report.captureTime = timeText(value?["timestamp"], snapshot.snapshotTime)
  }

  /// The time as in the report, or as text if it is a number, which the writers of other formats do not take.
  private func timeText(_ value: JSONValue?, _ time: Timestamp?) -> String? {
    guard value?.kind == .number, let time else { return value?.display }
    return ReportTime.text(time)
  }

  /// Parses a time given as text, or as a number of seconds, milliseconds or microseconds since 1970.
  private func time(_ value: JSONValue?) -> Timestamp? {
    guard value?.kind == .number else { return ReportTime.timestamp(value?.string) }
    guard let number = value?.int64, number >= 0 else { return nil }
    // As milliseconds, numbers up to 2^36 lie in 1972; as microseconds, numbers up to 2^46 do.
    if number < 1 << 36 { return Timestamp(seconds: number) }
    let scale: Int64 = number < 1 << 46 ? 1000 : 1_000_000
    return Timestamp(seconds: number / scale, microseconds: Int32(number % scale * (1_000_000 / scale)))
  }

  // MARK: Images and threads

  private mutating func readImage(_ image: JSONValue) {
    guard image.kind == .object, let address = image["image_addr"]?.uint64 else {
      return note(ReportRules.badImage, at: image.offset)
    }
    let path = image["name"]?.string ?? ""
    let file = path.split(separator: "/").last.map(String.init)
    snapshot.modules.append(
      module(
        path, file: file ?? path, address: address, size: image["image_size"]?.uint64, uuid: image["uuid"]?.string))
    for message in [image["crash_info_message"], image["crash_info_message2"]] {
      if let text = message?.string, !text.isEmpty { addMessage(text, image: file) }
    }
  }

  private mutating func readThread(_ value: JSONValue, _ index: Int, _ images: TextImageIndex) {
    guard value.kind == .object else {
      note(ReportRules.badThread, at: value.offset)
      return snapshot.threads.append(ThreadSnapshot())
    }
    var thread = ThreadSnapshot()
    thread.name = content(value["name"]?.string)
    thread.queue = content(value["dispatch_queue"]?.string)
    thread.frames = []
    for frame in value["backtrace"]?["contents"]?.elements ?? [] {
      if let frame = readFrame(frame, images) { thread.frames?.append(frame) }
    }
    thread.context = context(value["registers"]?["basic"])
    if value["crashed"]?.bool == true, report.faultingThread == nil {
      report.faultingThread = index
      report.faultAddress = value["registers"]?["exception"]?["far"]?.uint64
      report.syndrome = value["registers"]?["exception"]?["esr"]?.uint64
      report.hasStackOverflow = value["stack"]?["overflow"]?.bool ?? false
      for (_, address) in value["notable_addresses"]?.members ?? [] {
        guard let name = address["last_deallocated_obj"]?.string, !report.deallocatedObjects.contains(name) else {
          continue
        }
        report.deallocatedObjects.append(name)
      }
    }
    snapshot.threads.append(thread)
  }

  private mutating func readFrame(_ value: JSONValue, _ images: TextImageIndex) -> RecordedFrame? {
    guard value.kind == .object, let address = value["instruction_addr"]?.uint64 else {
      note(ReportRules.badFrame, at: value.offset)
      return nil
    }
    var frame = RecordedFrame(address: address)
    let base = value["object_addr"]?.uint64
    frame.module = images.index(containing: base ?? address) ?? images.index(containing: address)
    if let module = frame.module, let start = snapshot.modules[module].address, start <= address {
      frame.moduleOffset = address - start
    }
    if let name = value["symbol_name"]?.string, !name.isEmpty, name != "<redacted>" {
      frame.function = name
      frame.functionOffset = value["symbol_addr"]?.uint64.flatMap { $0 <= address ? address - $0 : nil }
    }
    return frame
  }

  // MARK: Error

  private mutating func readError(_ error: JSONValue?) {
    guard let error else { return }
    let (mach, signal) = (error["mach"], error["signal"])
    let type =
      mach?["exception_name"]?.string
      ?? mach?["exception"]?.uint64.flatMap { number in
        MeaningTable.machExceptions.first { UInt64($0.value) == number }?.key
      }
    let address = error["address"]?.uint64 ?? 0
    let subcode = mach?["subcode"]?.uint64 ?? 0
    var codes = [mach?["code"]?.uint64 ?? 0, subcode == 0 ? address : subcode]
    // Versions that took the kernel's 64-bit codes for 32-bit ones have a half of the address in the code's place.
    if codes[0] > 0x1000, codes[0] == address & 0xffff_ffff { codes = [0, address] }
    let kind = error["type"]?.string
    addField("Crash Type", kind)
    readTermination(error)
    // The program reported an error of its own, and its signal is that of the reporter.
    if kind == "user", error["is_fatal"]?.bool != true { return readReported(error) }
    setException(type: type ?? signal?["name"]?.string, signal: signal?["name"]?.string, codes: codes)
    snapshot.exception?.address = address
    if let name = mach?["code_name"]?.string {
      report.exceptionSubtype = "\(name) at 0x\(hexadecimal(address, width: 16))"
    }
    if snapshot.exception != nil { setCodesText(codes) }
    if kind == "hang" || kind == "deadlock" { report.kind = .hang }
    report.isDeadlock = kind == "deadlock"
    if let memory = error["memory_termination"] { report.memory = readMemory(memory) }
    addMessages(error)
  }

  /// Reads what KSCrash concluded when the program started again.
  private mutating func readTermination(_ error: JSONValue) {
    let reason = error["termination_reason"]?.string
    addField("Conclusion", reason)
    report.endedForMemory = error["type"]?.string == "memory_termination" || reason == "memory_limit"
  }

  private mutating func readReported(_ error: JSONValue) {
    report.isNonFatal = error["is_fatal"]?.bool == false
    let name = error["user_reported"]?["name"]?.string
    let text = [name, error["reason"]?.string].compactMap { $0 }.joined(separator: ": ")
    if !text.isEmpty { addMessage(text) }
  }

  private mutating func addMessages(_ error: JSONValue) {
    let reason = error["nsexception"]?["reason"]?.string ?? error["reason"]?.string
    if let name = error["nsexception"]?["name"]?.string {
      addUncaught(name, reason: reason)
    } else if let name = error["cpp_exception"]?["name"]?.string {
      addMessage("terminating due to uncaught exception of type \(name)" + (reason.map { ": \($0)" } ?? ""))
    } else if let text = reason ?? error["user_reported"]?["name"]?.string {
      addMessage(text)
    }
  }
}
