import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import IntermediateDump
import CrashpadJSON
import CrashpadMeaning
import CrashpadMinidump
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication

/// Writes one inspection as a JSON document with the schema in crashpadctl-json(5). Within a version, members are
/// added but never changed. Addresses are strings "0x…", because JavaScript's numbers can't hold 64 bits.
struct InspectionJSON {
  private static let schema = "crashpadctl-inspect/1"

  private let view: DumpView
  private let signature: Signature?

  private var snapshot: ProcessSnapshot { view.snapshot }

  /// - Parameter view: nil of an input without a snapshot.
  static func write(
    _ dump: Dump, _ view: DumpView?, signature: Signature?, input: String, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("schema", schema)
      json.member("input", argument: input)
      json.member("format", dump.format.rawValue)
      json.member("bytes", dump.file.byteCount)
      json.member("complete", dump.isWhole)
      FindingJSON.write(dump.findings, to: &json)
      if !dump.streams.isEmpty {
        json.objects("streams", dump.streams) { stream, json in
          json.member("type", stream.type.name)
          json.member("offset", stream.range.offset)
          json.member("bytes", stream.range.count)
        }
      }
      if let view { InspectionJSON(view: view, signature: signature).write(to: &json) }
    }
  }

  /// Writes the failure for an input that could not be read.
  static func writeFailure(_ input: String, _ failure: FailureText, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", schema)
      json.member("input", argument: input)
      json.member("format", nil as String?)
      json.member("error", failure.text)
      json.member("status", failure.status.rawValue)
    }
  }

  private func write(to json: inout JSONWriter) {
    writeException(to: &json)
    if let signature {
      json.key("signature")
      SignatureJSON.write(signature, to: &json)
    }
    writeProcess(to: &json)
    writeSystem(to: &json)
    if let report = snapshot.report {
      json.object("report") { CrashReportJSON.write(report, to: &$0) }
      if !report.lastException.isEmpty { write("last_exception", report.lastException, to: &json) }
    }
    writeCapture(to: &json)
    write("annotations", snapshot.annotations, to: &json)
    json.objects("threads", snapshot.threads, write)
    json.objects("modules", snapshot.modules, write)
    json.objects("memory", snapshot.capturedMemory) { region, json in
      json.member("address", Wording.hex(region.address))
      json.member("bytes", region.content.count)
    }
  }

  // MARK: Exception and registers

  private func writeException(to json: inout JSONWriter) {
    json.object("exception", of: snapshot.exception) { exception, json in
      let description = ExceptionDescription(exception, snapshot.system)
      json.member("kind", Self.name(of: exception.kind))
      json.member("description", description.title)
      json.member("explanation", description.explanation)
      json.member("code", Wording.hex(UInt64(exception.code)))
      json.member("info", Wording.hex(UInt64(exception.info)))
      json.member("address", Wording.hex(exception.address))
      json.member("codes", exception.codes.map(Wording.hex))
      let index = view.dump.crashedThread
      json.member("thread_id", index.map { snapshot.threads[$0].id } ?? exception.threadID)
      json.member("thread_index", index)
      write(exception.context, to: &json)
    }
  }

  private static func name(of kind: ExceptionSnapshot.Kind) -> String {
    switch kind {
    case .mach: "mach"
    case .softSignal, .linuxSignal: "signal"
    case .nsException: "nsexception"
    case .windows: "windows"
    }
  }

  private func write(_ context: CPUContext?, to json: inout JSONWriter) {
    json.object("registers", of: context) { context, json in
      for register in context.generalRegisters { json.member(register.name, Wording.hex(register.value)) }
    }
    if let context { writeLocation(of: context.instructionPointer, to: &json) }
  }

  private func writeLocation(of address: UInt64, to json: inout JSONWriter) {
    guard let (module, offset) = view.lookup(address) else {
      json.member("module", nil as String?)
      return
    }
    json.member("module", view.moduleName(module))
    json.member("module_index", module)
    json.member("module_offset", Wording.hex(offset))
    guard let names = view.names else { return }
    let function = names.name(module: module, offset: offset)?.frames.first
    json.member("function", function.flatMap { $0.name ?? $0.function })
    SymbolizationJSON.write(function?.location, hasColumn: false, to: &json)
  }

  // MARK: Process and system

  private func writeProcess(to json: inout JSONWriter) {
    json.object("process") { json in
      json.member("pid", snapshot.processID)
      json.member("parent_pid", snapshot.parentProcessID)
      if let path = view.executablePath { json.member("executable", path) }
      if let commandLine = view.commandLine { json.member("command_line", commandLine) }
      json.member("start_time", snapshot.startTime.flatMap(Wording.rfc3339))
      json.member("snapshot_time", snapshot.snapshotTime.flatMap(Wording.rfc3339))
      json.member("user_time_us", snapshot.userTime.map(Self.microseconds))
      json.member("system_time_us", snapshot.systemTime.map(Self.microseconds))
      json.member("report_id", snapshot.reportID == .zero ? nil : snapshot.reportID.text)
      json.member("client_id", snapshot.clientID == .zero ? nil : snapshot.clientID.text)
    }
  }

  private static func microseconds(_ time: Timestamp) -> Int64 {
    time.seconds.multipliedReportingOverflow(by: 1_000_000).partialValue &+ Int64(time.microseconds)
  }

  private func writeSystem(to json: inout JSONWriter) {
    let system = snapshot.system
    json.object("system") { json in
      json.member("os", system.operatingSystem.rawValue)
      json.member("os_version", view.osVersion)
      json.member("os_build", text(system.osBuild))
      if let distribution = view.distribution { json.member("distribution", distribution) }
      json.member("machine", text(system.machine))
      json.member("architecture", system.architecture.rawValue)
      json.member("cpu_count", system.cpuCount)
      json.member("cpu_vendor", text(system.cpuVendor))
      if let model = view.cpuModel { json.member("cpu_model", model) }
      json.member("page_size", system.pageSize)
      json.member("address_mask", system.addressMask.map(Wording.hex))
      json.member("crashpad_uptime_ns", system.crashpadUptime)
      let zone = system.timeZone
      json.object("time_zone") { json in
        json.member("daylight_saving", Self.name(of: zone.daylightSaving))
        json.member("standard_offset_s", zone.standardOffset)
        json.member("standard_name", text(zone.standardName))
        json.member("daylight_offset_s", zone.daylightOffset)
        json.member("daylight_name", text(zone.daylightName))
      }
    }
  }

  /// Writes the capture data, which only a Linux process with an in-process handler has.
  private func writeCapture(to json: inout JSONWriter) {
    guard let duration = view.captureDuration else { return }
    json.object("capture") { json in
      json.member("duration_ns", duration)
      json.member("notes", view.captureNotes)
    }
  }

  private static func name(of saving: TimeZoneSnapshot.DaylightSaving?) -> String? {
    switch saving {
    case .doesNotObserve: "none"
    case .standardTime: "standard"
    case .daylightTime: "daylight"
    case nil: nil
    }
  }

  /// The text without escapes for the terminal, because JSON does its own quoting.
  private func text(_ content: Content?) -> String? {
    content.map { content in view.input.withBytes { snapshot.text(content, in: $0) } }
  }

  // MARK: Lists

  private func write(_ thread: ThreadSnapshot, to json: inout JSONWriter) {
    json.member("id", thread.id)
    json.member("name", text(thread.name))
    json.member("priority", thread.priority)
    json.member("suspend_count", thread.suspendCount)
    json.member("data_address", thread.dataAddress.map(Wording.hex))
    if let capture = thread.capture { json.member("capture", DumpView.name(of: capture)) }
    json.object("stack", of: thread.stack) { stack, json in
      json.member("address", Wording.hex(stack.region.address))
      json.member("bytes", stack.region.content.count)
      json.member("synthetic", stack.isSynthetic)
    }
    if let queue = thread.queue { json.member("queue", text(queue)) }
    write(thread.context, to: &json)
    if let frames = thread.frames { write("frames", frames, to: &json) }
  }

  /// Writes the frames that the input lists, for a thread or for the exception that led to a crash.
  private func write(_ key: String, _ frames: [RecordedFrame], to json: inout JSONWriter) {
    json.objects(key, frames) { frame, json in
      json.member("address", Wording.hex(frame.address))
      json.member("module", frame.module.map(view.moduleName))
      json.member("module_index", frame.module)
      json.member("module_offset", frame.moduleOffset.map(Wording.hex))
      json.member("function", frame.function)
      json.member("function_offset", frame.functionOffset)
      json.member("file", frame.file)
      json.member("line", frame.line)
      json.member("inlined", frame.isInlined)
    }
  }

  private func write(_ module: ModuleSnapshot, to json: inout JSONWriter) {
    json.member("name", text(module.name))
    json.member("address", module.address.map(Wording.hex))
    json.member("size", module.size)
    json.member("identity", view.identity(module))
    json.member("version", view.version(module))
    json.member("timestamp", module.timestamp)
    if !module.messages.isEmpty { json.member("messages", module.messages.map { text($0) ?? "" }) }
    if !module.simpleAnnotations.isEmpty { write("annotations", module.simpleAnnotations, to: &json) }
    if !module.annotationObjects.isEmpty { json.objects("annotation_objects", module.annotationObjects, write) }
  }

  private func write(_ key: String, _ annotations: [Annotation], to json: inout JSONWriter) {
    json.objects(key, annotations) { annotation, json in
      json.member("name", text(annotation.name))
      json.member("value", text(annotation.value))
    }
  }

  private func write(_ object: AnnotationObject, to json: inout JSONWriter) {
    json.member("name", text(object.name))
    json.member("type", object.type)
    if object.type == 1 {
      json.member("value", text(object.value))
    } else {
      json.key("hex")
      view.input.withBytes { bytes in snapshot.withBytes(of: object.value, in: bytes) { json.hex($0) } }
    }
  }
}
