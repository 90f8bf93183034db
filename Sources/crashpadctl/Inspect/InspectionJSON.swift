import CrashpadBytes
import CrashpadCore
import CrashpadFiles
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
  static let schema = "crashpadctl-inspect/1"

  private let inspection: Inspection
  private let view: InspectionView?
  private let signature: Signature?

  static func write(
    _ inspection: Inspection, _ view: InspectionView?, signature: Signature? = nil, input: String,
    to json: inout JSONWriter
  ) {
    InspectionJSON(inspection: inspection, view: view, signature: signature).writeDocument(input, to: &json)
  }

  /// Writes the failure for an input that could not be read.
  static func writeFailure(_ input: String, _ text: String, _ status: ExitStatus, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", Self.schema)
      json.member("input", argument: input)
      json.member("format", nil as String?)
      json.member("error", text)
      json.member("status", status.rawValue)
    }
  }

  private func writeDocument(_ input: String, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", Self.schema)
      json.member("input", argument: input)
      json.member("format", inspection.format.rawValue)
      json.member("bytes", inspection.file.byteCount)
      let isComplete = inspection.tree?.incomplete == nil && view?.snapshot.isComplete != false
      json.member("complete", isComplete && view != nil)
      FindingJSON.write(inspection.findings, to: &json)
      if !inspection.streams.isEmpty {
        json.array("streams") { json in
          for stream in inspection.streams {
            json.object {
              $0.member("type", stream.type.name)
              $0.member("offset", stream.range.offset)
              $0.member("bytes", stream.range.count)
            }
          }
        }
      }
      if let view { write(view, to: &json) }
    }
  }

  private func write(_ view: InspectionView, to json: inout JSONWriter) {
    writeException(view, to: &json)
    if let signature {
      json.key("signature")
      SignatureJSON.write(signature, to: &json)
    }
    writeProcess(view, to: &json)
    writeSystem(view, to: &json)
    if let report = view.snapshot.report {
      json.key("report")
      CrashReportJSON.write(report, to: &json)
      if !report.lastException.isEmpty {
        json.key("last_exception")
        CrashReportJSON.write(report.lastException, view, to: &json)
      }
    }
    writeCapture(view, to: &json)
    json.key("annotations")
    write(view.snapshot.annotations, view, to: &json)
    json.array("threads") { json in
      for thread in view.snapshot.threads { write(thread, view, to: &json) }
    }
    json.array("modules") { json in
      for module in view.snapshot.modules { write(module, view, to: &json) }
    }
    json.array("memory") { json in
      for region in view.snapshot.capturedMemory {
        json.object {
          $0.member("address", Wording.hex(region.address))
          $0.member("bytes", region.content.count)
        }
      }
    }
  }

  // MARK: Exception and registers

  private func writeException(_ view: InspectionView, to json: inout JSONWriter) {
    json.key("exception")
    guard let exception = view.snapshot.exception else {
      json.null()
      return
    }
    let description = ExceptionDescription(exception, view.snapshot.system)
    json.object { json in
      json.member("kind", Self.name(of: exception.kind))
      json.member("description", description.title)
      json.member("explanation", description.explanation)
      json.member("code", Wording.hex(UInt64(exception.code)))
      json.member("info", Wording.hex(UInt64(exception.info)))
      json.member("address", Wording.hex(exception.address))
      json.array("codes") { json in
        for code in exception.codes { json.string(Wording.hex(code)) }
      }
      let index = inspection.crashedThread
      json.member("thread_id", index.map { view.snapshot.threads[$0].id } ?? exception.threadID)
      json.member("thread_index", inspection.crashedThread)
      write(exception.context, view, to: &json)
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

  private func write(_ context: CPUContext?, _ view: InspectionView, to json: inout JSONWriter) {
    guard let context else {
      json.member("registers", nil as String?)
      return
    }
    json.object("registers") { json in
      for register in context.generalRegisters { json.member(register.name, Wording.hex(register.value)) }
    }
    writeLocation(of: context.instructionPointer, view, to: &json)
  }

  private func writeLocation(of address: UInt64, _ view: InspectionView, to json: inout JSONWriter) {
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
    json.member("file", function?.location?.file)
    json.member("line", function?.location.flatMap { $0.line > 0 ? $0.line : nil })
  }

  // MARK: Process and system

  private func writeProcess(_ view: InspectionView, to json: inout JSONWriter) {
    let snapshot = view.snapshot
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

  private func writeSystem(_ view: InspectionView, to json: inout JSONWriter) {
    let system = view.snapshot.system
    json.object("system") { json in
      json.member("os", system.operatingSystem.rawValue)
      json.member("os_version", view.osVersion)
      json.member("os_build", rawText(system.osBuild, view))
      if let distribution = view.distribution { json.member("distribution", distribution) }
      json.member("machine", rawText(system.machine, view))
      json.member("architecture", system.architecture.rawValue)
      json.member("cpu_count", system.cpuCount)
      json.member("cpu_vendor", rawText(system.cpuVendor, view))
      if let model = view.cpuModel { json.member("cpu_model", model) }
      json.member("page_size", system.pageSize)
      json.member("address_mask", system.addressMask.map(Wording.hex))
      json.member("crashpad_uptime_ns", system.crashpadUptime)
      let zone = system.timeZone
      json.object("time_zone") { json in
        json.member("daylight_saving", Self.name(of: zone.daylightSaving))
        json.member("standard_offset_s", zone.standardOffset)
        json.member("standard_name", rawText(zone.standardName, view))
        json.member("daylight_offset_s", zone.daylightOffset)
        json.member("daylight_name", rawText(zone.daylightName, view))
      }
    }
  }

  /// Writes the capture data, which only a Linux process with an in-process handler has.
  private func writeCapture(_ view: InspectionView, to json: inout JSONWriter) {
    guard let duration = view.captureDuration else { return }
    json.object("capture") { json in
      json.member("duration_ns", duration)
      json.array("notes") { json in
        for note in view.captureNotes { json.string(note) }
      }
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
  private func rawText(_ content: Content?, _ view: InspectionView) -> String? {
    guard let content else { return nil }
    return view.input.withBytes { view.snapshot.text(content, in: $0) }
  }

  // MARK: Lists

  private func write(_ thread: ThreadSnapshot, _ view: InspectionView, to json: inout JSONWriter) {
    json.object { json in
      json.member("id", thread.id)
      json.member("name", rawText(thread.name, view))
      json.member("priority", thread.priority)
      json.member("suspend_count", thread.suspendCount)
      json.member("data_address", thread.dataAddress.map(Wording.hex))
      if let capture = thread.capture { json.member("capture", InspectionView.name(of: capture)) }
      json.key("stack")
      if let stack = thread.stack {
        json.object {
          $0.member("address", Wording.hex(stack.region.address))
          $0.member("bytes", stack.region.content.count)
          $0.member("synthetic", stack.isSynthetic)
        }
      } else {
        json.null()
      }
      if let queue = thread.queue { json.member("queue", rawText(queue, view)) }
      write(thread.context, view, to: &json)
      if let frames = thread.frames {
        json.key("frames")
        CrashReportJSON.write(frames, view, to: &json)
      }
    }
  }

  private func write(_ module: ModuleSnapshot, _ view: InspectionView, to json: inout JSONWriter) {
    json.object { json in
      json.member("name", rawText(module.name, view))
      json.member("address", module.address.map(Wording.hex))
      json.member("size", module.size)
      json.member("identity", view.identity(module))
      json.member("version", view.version(module))
      json.member("timestamp", module.timestamp)
      if !module.messages.isEmpty {
        json.array("messages") { json in
          for message in module.messages { json.string(rawText(message, view) ?? "") }
        }
      }
      if !module.simpleAnnotations.isEmpty {
        json.key("annotations")
        write(module.simpleAnnotations, view, to: &json)
      }
      if !module.annotationObjects.isEmpty {
        json.array("annotation_objects") { json in
          for object in module.annotationObjects { write(object, view, to: &json) }
        }
      }
    }
  }

  private func write(_ annotations: [Annotation], _ view: InspectionView, to json: inout JSONWriter) {
    json.array { json in
      for annotation in annotations {
        json.object {
          $0.member("name", rawText(annotation.name, view))
          $0.member("value", rawText(annotation.value, view))
        }
      }
    }
  }

  private func write(_ object: AnnotationObject, _ view: InspectionView, to json: inout JSONWriter) {
    json.object { json in
      json.member("name", rawText(object.name, view))
      json.member("type", object.type)
      if object.type == 1 {
        json.member("value", rawText(object.value, view))
      } else {
        json.key("hex")
        view.input.withBytes { bytes in
          view.snapshot.withBytes(of: object.value, in: bytes) { json.hex($0) }
        }
      }
    }
  }
}
