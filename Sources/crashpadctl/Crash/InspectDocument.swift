// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadMeaning
import CrashpadMinidump
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadView

/// The document of `inspect`: all that the view of a crash has.
struct InspectDocument {
  /// The argument that names the input.
  let input: String
  let content: Content
  /// The place of the memory to print, and its size; nil for none.
  var memory: (address: UInt64, count: Int)?

  enum Content {
    case dump(Dump, CrashView?)
    case failure(FailureText)
  }

  private var dump: Dump? { if case .dump(let dump, _) = content { dump } else { nil } }
  private var view: CrashView? { if case .dump(_, let view) = content { view } else { nil } }
  private var failure: FailureText? { if case .failure(let failure) = content { failure } else { nil } }

  static let document = Document<InspectDocument>(
    "crashpadctl-inspect/1", "Output of `crashpadctl inspect --format json`.",
    .argument("input", "The name of the input; `<standard input>` for `-`.") { $0.input },
    .text(
      "format",
      "`intermediate-dump`, `minidump`, `microdump`, `json`, `core`, or a format of crashpadctl-reports(5). "
        + "Null if the input cannot be read; then only `error` and `status` follow."
    ) { $0.dump?.format.rawValue },
    .text("error", "The reason why the input cannot be read.", .omittable) { $0.failure?.text },
    .number("status", "The exit status for this input alone, if it cannot be read.", .omittable) {
      $0.failure?.status.rawValue
    },
    .members(ifAny: file) { $0.dump },
    .members(ifAny: crash) { $0.view },
    .members(ifAny: requested) { document in document.memory.map { (document.view, $0.address, $0.count) } })

  private static let requested = Record<(view: CrashView?, address: UInt64, count: Int)>(
    .object("memory_at", memoryPart, "Only with `--memory`: the memory there; null if it was not captured.") { part in
      part.view.flatMap { view in
        view.memory(at: part.address, count: part.count).map { (view, part.address, $0) }
      }
    })

  private typealias MemoryPart = (view: CrashView, address: UInt64, bytes: [UInt8])

  private static let memoryPart = Record<MemoryPart>(
    .addressText("address", "The address of the first byte.", .always) { $0.view.fullAddress($0.address) },
    .digits("hex", "The bytes, which are fewer than were requested where the captured memory ends.", .always) {
      $0.bytes
    },
    .list(
      "words", PlaceRecord.word, "The aligned words with an address in a module, and what is there.", .always
    ) { part in part.view.pointers(in: part.bytes, at: part.address).map { (part.view, $0) } })

  private static let file = Record<Dump>(
    .number("bytes", "The size of the dump; of a JSON form, that of the intermediate dump that it describes.", .always)
    {
      $0.file.byteCount
    },
    .flag("complete", "Whether the dump is complete.") { $0.isWhole },
    .members(of: FindingRecord.list) { $0.findings },
    .list("streams", stream, "The streams of a minidump.", .omittable) { $0.streams.isEmpty ? nil : $0.streams })

  private static let stream = Record<MinidumpReader.Stream>(
    .text("type", "The stream's name.", .always) { $0.type.name },
    .number("offset", "Its offset in the dump.", .always) { $0.range.offset },
    .number("bytes", "Its size.", .always) { $0.range.count })

  private static let crash = Record<CrashView>(
    .object(
      "exception", exception, "The exception; null if the process did not crash, or if the exception is lost."
    ) { view in view.exception.map { (view, $0) } },
    .flag(
      "exception_lost", "True if the dump's exception can't be read: then it is not known whether the process crashed.",
      .omittable
    ) { $0.hasLostException ? true : nil },
    .object(
      "signature", SignatureRecord.record,
      "The signature; see crashpadctl-group(5). Omitted for the dumps of a directory without `--symbols`, because their "
        + "stacks are not walked; reports list theirs.", .omittable
    ) { $0.signature },
    .object("process", process, "The process.", .always) { $0 },
    .object("system", system, "The system.", .always) { $0 },
    .object("report", ReportRecord.record, "The facts that only a crash report has.", .omittable) { $0.report },
    .list(
      "last_exception", recorded,
      "The stack of the exception that led to the crash, as a crash report lists it.", .omittable
    ) { $0.recordedLastException.isEmpty ? nil : $0.recordedLastException },
    .object(
      "capture", capture, "How a handler inside of a Linux process captured it.", .omittable
    ) { view in view.captureDuration.map { ($0, view.captureNotes) } },
    .list("annotations", annotation, "The annotations of the process.") { $0.annotations },
    .list("threads", thread, "The threads.") { view in view.threads.map { (view, $0) } },
    .list("modules", module, "The modules.") { $0.moduleList },
    .list("unloaded_modules", unloaded, "The modules that were unloaded before.", .omittable) {
      $0.unloadedModules.isEmpty ? nil : $0.unloadedModules
    },
    .members(of: ExtraRecords.members) { $0 },
    .text("assertion", "The assertion that ended the process, in words.", .omittable) { $0.assertion },
    .list("memory", memory, "The captured ranges, the stacks first.") { $0.capturedMemory },
    .list(
      "intermediate_dump_memory", memory, "The captured ranges that a minidump does not get.", .omittable
    ) { $0.intermediateDumpMemory.isEmpty ? nil : $0.intermediateDumpMemory },
    .list("memory_map", mapping, "The regions of the address space.", .omittable) {
      $0.memoryMap.isEmpty ? nil : $0.memoryMap
    },
    .number(
      "made_function_count", "The functions that the program made while it ran, and registered with Windows.",
      .omittable
    ) { $0.madeFunctionCount == 0 ? nil : $0.madeFunctionCount },
    .list("linux_files", linuxFile, "The files of a Linux process and its system that the dump has.", .omittable) {
      $0.linuxFiles.isEmpty ? nil : $0.linuxFiles
    })

  // MARK: Exception and registers

  private static let exception = Record<(view: CrashView, exception: CrashView.Exception)>(
    .word("kind", of: ["mach", "signal", "nsexception", "windows"], "The kind.", .always) {
      name(of: $0.exception.kind)
    },
    .text("description", "The exception in words.", .always) { $0.exception.title },
    .text("explanation", "The meaning; null if the description contains it.") { $0.exception.explanation },
    .address(
      "code",
      "The exception's type, EXC_*; 0x10003 for a signal and 0x43506e78 for an NSException of Apple's systems; on Linux the "
        + "signal; on Windows the exception code.", .always
    ) { UInt64($0.exception.code) },
    .address(
      "info",
      "The low 32 bits of the first code of a Mach exception; the signal's number; on Linux si_code; on Windows the flags. "
        + "Null of a microdump, which does not have si_code."
    ) { $0.exception.info.map { UInt64($0) } },
    .address("address", "The address that was accessed, or the instruction. Null if the input has a signal alone.") {
      $0.exception.address
    },
    .flag("simulated", "True if the program asked for the dump, and did not crash.", .omittable) {
      $0.exception.isSimulated ? true : nil
    },
    .number("signal", "The signal that it became.", .omittable) { $0.exception.signal },
    .object("sender", sender, "The process that sent the signal, if the dump has it.", .omittable) {
      $0.exception.sender
    },
    .flag(
      "raised_again",
      "True if the process sent itself the signal, as a handler of the program does that raises it again, and this is the fault before "
        + "it, by a record of it with the same registers.", .omittable
    ) { $0.exception.isRaisedAgain ? true : nil },
    .texts("codes", of: .word, "All parameters.") { $0.exception.codes.map { TextFormat.hex($0) } },
    .number("thread_id", "The thread.") { owner in
      owner.view.crashedThread.map { owner.view.thread($0).id } ?? owner.exception.threadID
    },
    .number("thread_index", "Its index in `threads`; null if it is not in the list.") { $0.view.crashedThread },
    .members(of: registers) { ($0.view, $0.exception.context, $0.exception.location) },
    .text(
      "thrown_type", "The type of the C++ object that a program of Windows threw, if the dump or a file has it.",
      .omittable
    ) { $0.view.thrownType },
    .members(of: InstructionRecord.members) { $0.view })

  private static let sender = Record<SignalSender>(
    .number("pid", "Its id.", .always) { $0.processID },
    .number("uid", "The id of its user.", .always) { $0.userID },
    .flag("is_itself", "Whether it is the process itself; null if that is not known.", .nullable) { $0.isItself })

  private static func name(of kind: ExceptionSnapshot.Kind) -> String {
    switch kind {
    case .mach: "mach"
    case .softSignal, .linuxSignal: "signal"
    case .nsException: "nsexception"
    case .windows: "windows"
    }
  }

  private typealias Registers = (view: CrashView, context: CPUContext?, location: CrashView.Location?)

  private static let registers = Record<Registers>(
    .map("registers", of: .word, "The general registers.", .nullable) { owner in
      owner.context.map { $0.generalRegisters.map { ($0.name, TextFormat.hex($0.value)) } }
    },
    .list("register_places", PlaceRecord.pointer, PlaceRecord.registersMeaning, .omittable) { owner in
      owner.context.map { owner.view.pointers(in: $0).map { (owner.view, $0) } }
    },
    .members(ifAny: place) { owner in owner.context.map { _ in owner.location } })

  private static let place = Record<CrashView.Location?>(
    .text(
      "module",
      "The module that contains the program counter: its name without directories; null outside of modules, and then without "
        + "the members that follow."
    ) { $0?.moduleName },
    .members(ifAny: PlaceRecord.place) { $0 })

  // MARK: Process and system

  private static let process = Record<CrashView>(
    .number("pid", "The process id.") { $0.processID },
    .number("parent_pid", "The id of its parent.") { $0.parentProcessID },
    .text("executable", "The path of a Linux process's program.", .omittable) { $0.executablePath },
    .text("command_line", "A Linux process's arguments, separated by spaces.", .omittable) { $0.commandLine },
    .timestamp("start_time", "The time of the start of the process.") { $0.startTime },
    .timestamp("snapshot_time", "The time of the capture.") { $0.snapshotTime },
    .number("user_time_us", "CPU time of the program in microseconds.") { $0.userTime.map(microseconds) },
    .number("system_time_us", "CPU time of the system in microseconds.") { $0.systemTime.map(microseconds) },
    .uuid("report_id", "The report's UUID; null if it is zero.") { $0.reportID == .zero ? nil : $0.reportID },
    .uuid("client_id", "The installation's UUID; null if it is zero.") { $0.clientID == .zero ? nil : $0.clientID })

  private static func microseconds(_ time: Timestamp) -> Int64 {
    time.seconds.multipliedReportingOverflow(by: 1_000_000).partialValue &+ Int64(time.microseconds)
  }

  private static let system = Record<CrashView>(
    .text(
      "os",
      "`iOS`, `iPadOS`, `macOS`, `watchOS`, `tvOS`, `visionOS`, `bridgeOS`, `audioOS`, `Linux`, `Android`, `Windows`, "
        + "`Fuchsia` or `unknown`.", .always
    ) { $0.system.name },
    .object("platform", platform, "The platform of Apple's that the process ran on, if it is known.", .omittable) {
      $0.system.platform
    },
    .text("os_version", "Three numbers with dots; a question mark for an unknown one.") { $0.osVersion },
    .text(
      "os_build", "The build, such as 21E236; on Linux name, release, version and machine, as in uname."
    ) { $0.osBuild?.text },
    .text("distribution", "The distribution's name and version of a Linux system.", .omittable) { $0.distribution },
    .text("machine", "The model, such as iPhone14,2.") { $0.machine?.text },
    .text("architecture", "`arm64`, `x86_64`, `x86`, `arm` or `unknown`.", .always) {
      $0.system.architecture.rawValue
    },
    .number("cpu_count", "The number of processors.") { $0.system.cpuCount },
    .text("cpu_vendor", "Their vendor.") { $0.cpuVendor?.text },
    .text("cpu_info", "Family, model and stepping of x86, or version, maker, part and features of ARM.", .omittable) {
      $0.processorText
    },
    .text("cpu_model", "Their model, which is known only for Linux processes.", .omittable) { $0.cpuModel },
    .number("page_size", "The size of a page in bytes.") { $0.system.pageSize },
    .address("address_mask", "The bits of a pointer that are not part of the address.") { $0.system.addressMask },
    .number("crashpad_uptime_ns", "Nanoseconds since the handler was started.") { $0.system.crashpadUptime },
    .object("memory", memoryPages, "The system's memory, in pages.", .omittable) { $0.system.memory },
    .object("time_zone", zone, "The local time zone.", .always) { $0 })

  private static let platform = Record<Platform>(
    .text("name", "Its name; null if only the Simulator is known.") { $0.name?.rawValue },
    .flag("simulator", "Whether the process ran in the Simulator.", .always) { $0.isSimulator },
    .text("simulated_version", "The version of the simulated system.", .omittable) { $0.simulatedVersion },
    .flag("inferred", "Whether it was concluded, as from the model.", .always) { $0.isInferred })

  private static let memoryPages = Record<SystemMemory>(
    .number("active", "The pages that were used recently.") { $0.active },
    .number("inactive", "The pages that were not.") { $0.inactive },
    .number("wired", "The pages that cannot be paged out.") { $0.wired },
    .number("free", "The free pages.") { $0.free })

  private static let zone = Record<CrashView>(
    .word("daylight_saving", of: ["none", "standard", "daylight"], "Whether daylight saving time is observed.") {
      name(of: $0.system.timeZone.daylightSaving)
    },
    .number("standard_offset_s", "The offset of standard time in seconds east of UTC.") {
      $0.system.timeZone.standardOffset
    },
    .text("standard_name", "The name of standard time.") { $0.standardZoneName?.text },
    .number("daylight_offset_s", "The offset of daylight saving time in seconds east of UTC.") {
      $0.system.timeZone.daylightOffset
    },
    .text("daylight_name", "The name of daylight saving time.") { $0.daylightZoneName?.text })

  private static func name(of saving: TimeZoneSnapshot.DaylightSaving?) -> String? {
    switch saving {
    case .doesNotObserve: "none"
    case .standardTime: "standard"
    case .daylightTime: "daylight"
    case nil: nil
    }
  }

  private static let capture = Record<(duration: UInt64, notes: [String])>(
    .number("duration_ns", "Nanoseconds from the signal to the end of the capture.", .always) { $0.duration },
    .texts("notes", "Sentences about what could not be captured.") { $0.notes })

  // MARK: Lists

  private static let thread = Record<(view: CrashView, thread: CrashView.Thread)>(
    .number("id", "The thread's id.") { $0.thread.id },
    .number("number", "The number that the report gives it, if that is not its index.", .omittable) {
      $0.thread.ownNumber
    },
    .list("elided", elided, "Frames that the report left out.", .omittable) {
      $0.thread.elided.isEmpty ? nil : $0.thread.elided
    },
    .text("name", "Its name, which may be empty.") { $0.thread.name?.text },
    .number("priority", "Its priority, as in the kernel.") { $0.thread.priority },
    .number("suspend_count", "How often it was suspended, as in the kernel.") { $0.thread.suspendCount },
    .address("data_address", "The address of thread-local data.") { $0.thread.dataAddress },
    .word(
      "capture", of: ["own", "signal", "ptrace", "proc", "not-stopped"],
      "How a handler inside of a Linux process captured the registers: `own` (the thread crashed, or asked for the dump), "
        + "`signal`, `ptrace`, `proc` (only stack and instruction pointer) or `not-stopped` (none).", .omittable
    ) { $0.thread.capture.map(CrashView.name(of:)) },
    .object("stack", stack, "The captured stack; null if it was not captured.") { $0.thread.stack },
    .text("queue", "The label of the thread's dispatch queue.", .omittable) { $0.thread.queue?.text },
    .members(of: registers) { ($0.view, $0.thread.context, $0.thread.location) },
    .list(
      "frames", recorded,
      "The stack as a crash report lists it. An inlined call precedes the frame that contains it.", .omittable
    ) { $0.thread.recorded })

  private static let elided = Record<ElidedFrames>(
    .number("before", "The index of the frame before which they are missing.", .always) { $0.index },
    .number("frames", "How many are missing.") { $0.frames },
    .number("levels", "The number of calls of the recursion.") { $0.levels })

  private static let stack = Record<ThreadSnapshot.Stack>(
    .address("address", "Its start.", .always) { $0.region.address },
    .number("bytes", "Its captured size.", .always) { $0.region.content.count },
    .flag("synthetic", "Whether it was created from an NSException's return addresses.") { $0.isSynthetic })

  private static let recorded = Record<CrashView.Recorded>(
    .address("address", "The address.", .always) { $0.frame.address },
    .text("module", "The module's name without directories.") { $0.moduleName },
    .number("module_index", "Its index in `modules`.") { $0.frame.module },
    .address("module_offset", "The offset in it.") { $0.frame.moduleOffset },
    .text("function", "The function.") { $0.frame.function },
    .number("function_offset", "The offset from its start in bytes.") { $0.frame.functionOffset },
    .text("file", "The source file.") { $0.frame.file },
    .number("line", "The line, from 1.") { $0.frame.line },
    .flag("inlined", "Whether the call was inlined into the next frame.") { $0.frame.isInlined })

  private static let module = Record<CrashView.Module>(
    .text("name", "The path.") { $0.path?.text },
    .address("address", "The load address.") { $0.address },
    .number("size", "The size in bytes.") { $0.size },
    .text(
      "identity",
      "The UUID, with `age` and a number appended if that is not 0; or the build id; or the time in an old PDB, and its age."
    ) { $0.identity },
    .text("version", "Numbers with dots.") { $0.version },
    .text(
      "code_id", "The id by which servers have the file of a module of Windows: its time stamp and its size in memory.",
      .omittable
    ) { $0.isOfWindows ? $0.codeID : nil },
    .word(
      "type", of: ["executable", "library", "bundle", "loader", "other"],
      "`executable`, `library`, `bundle`, `loader` or `other`.", .omittable
    ) { $0.typeName },
    .text("debug_name", "The name of the file with debug information, if it differs.", .omittable) { module in
      module.debugName.flatMap { $0.text == module.path?.text ? nil : $0.text }
    },
    .text("bundle_id", "The bundle id, in a crash report.", .omittable) { $0.bundleID },
    .text("bundle_version", "The bundle's version, in a crash report.", .omittable) { $0.bundleVersion },
    .text("architecture", "The machine that the code is for, in a crash report.", .omittable) { $0.architecture },
    .number("timestamp", "Seconds since 1970.") { $0.timestamp },
    .texts("messages", "The messages that the module left.", .omittable) {
      $0.messages.isEmpty ? nil : $0.messages.map(\.text)
    },
    .list("annotations", annotation, "The module's simple annotations.", .omittable) {
      $0.simpleAnnotations.isEmpty ? nil : $0.simpleAnnotations
    },
    .list("annotation_objects", annotationObject, "The module's annotation objects.", .omittable) {
      $0.annotationObjects.isEmpty ? nil : $0.annotationObjects
    })

  private static let unloaded = Record<CrashView.UnloadedModule>(
    .text("name", "The path.") { $0.name?.text },
    .address("address", "The load address.", .always) { $0.address },
    .number("size", "The size in bytes.", .always) { $0.size },
    .number("timestamp", "Seconds since 1970.", .always) { $0.timestamp })

  private static let annotation = Record<CrashView.NamedText>(
    .text("name", "The name.", .always) { $0.name.text },
    .text("value", "The value.", .always) { $0.value.text })

  private static let annotationObject = Record<CrashView.AnnotationValue>(
    .text("name", "The name.", .always) { $0.name.text },
    .number("type", "The type; 1 is text.", .always) { $0.type },
    .text("value", "The value of type 1.", .omittable) { $0.text?.text },
    .digits("hex", "The bytes of other types.", .omittable) { $0.text == nil ? $0.bytes : nil })

  private static let mapping = Record<MemoryMapRegion>(
    .address("address", "The start of the region.", .always) { $0.address },
    .number("bytes", "Its size.", .always) { $0.size },
    .address("state", "Its state, as Windows has it.", .always) { UInt64($0.state) },
    .address("protection", "Its protection, as Windows has it.", .always) { UInt64($0.protection) })

  private static let linuxFile = Record<CrashView.LinuxFile>(
    .text("name", "The file.", .always) { $0.name },
    .number("bytes", "Its size in the dump.", .always) { $0.count })

  private static let memory = Record<MemoryRegion>(
    .address("address", "The start of the range.", .always) { $0.address },
    .number("bytes", "Its size.", .always) { $0.content.count })
}
