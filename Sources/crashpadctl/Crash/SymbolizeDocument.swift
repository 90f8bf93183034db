// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadMeaning
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView

/// One symbolized dump as JSON. Members that rust-minidump has too have the same names and meanings, and addresses have as
/// many digits as there.
struct SymbolizeDocument {
  let head: InputHead
  let part: Part
  /// Nil if the input has no snapshot, or can't be read.
  let view: CrashView?

  /// The requested part of a dump.
  enum Part {
    case stacks
    case modules
    case missing
  }

  /// - Parameter input: the argument that names the input.
  init(_ dump: Dump, _ view: CrashView?, input: String, part: Part) {
    head = InputHead(input: input, content: .dump(dump))
    self.part = part
    self.view = view
  }

  init(_ failure: FailureText, input: String) {
    head = InputHead(input: input, content: .failure(failure))
    part = .stacks
    view = nil
  }

  static let document = Document<SymbolizeDocument>(
    "crashpadctl-symbolize/1",
    "Output of `crashpadctl symbolize --format json`. Members that also exist in rust-minidump's JSON have the same names and "
      + "meanings, and addresses have the same number of digits: sixteen, or eight for a 32-bit process.",
    .members(of: InputHead.recordWithComplete) { $0.head },
    .list(
      "missing", request, "Only with `--missing`, as the last member: the modules that have frames but no symbols.",
      .omittable
    ) { $0.part == .missing ? $0.view?.symbolRequests : nil },
    .members(ifAny: crash) { owner in owner.part == .missing ? nil : owner.view.map { Crash($0, owner.part) } })

  /// The crash, whose stacks are put in order once for all members.
  private final class Crash: Sendable {
    let view: CrashView
    let part: Part
    /// In the order of the dump.
    let stacks: [CrashView.Stack]
    let crashed: Int?
    let exception: CrashView.Exception?
    let lastErrors: [UInt32?]

    init(_ view: CrashView, _ part: Part) {
      self.view = view
      self.part = part
      stacks = view.threadStacksInOrder
      crashed = stacks.firstIndex(where: \.isCrashed)
      exception = view.exception
      lastErrors = view.lastErrors
    }

    func owned(_ index: Int, hasRegisters: Bool = false) -> Owned {
      let stack = stacks[index]
      return Owned(view, stack, hasRegisters: hasRegisters, lastError: stack.thread.flatMap { lastErrors[$0] })
    }
  }

  private static let request = Record<SymbolRequest>(
    .text("debug_file", "The name for symbol servers.", .always) { $0.name },
    .text("debug_id", "The id for symbol servers.") { $0.debugID },
    .text("build_id", "The build id.") { $0.buildID },
    .text("sym_path", "The path in a Breakpad symbol store.") { $0.path })

  // MARK: Process and system

  private static let crash = Record<Crash>(
    .number("pid", "The process id.") { $0.view.processID },
    .number("process_uptime", "Seconds from the start of the process to the crash.") { $0.view.uptime },
    .object("crash_info", crashInfo, "The crash.", .always) { $0 },
    .object("system_info", systemInfo, "The system.", .always) { $0.view },
    .object(
      "signature", SignatureRecord.record,
      "The signature that crashes with the same fault share; see crashpadctl-group(5). Omitted with `--modules`, as all "
        + "members about stacks.", .omittable
    ) { $0.part == .stacks ? $0.view.signature : nil },
    .members(of: ExtraRecords.members) { $0.view },
    .number("main_module", "The index of the executable in `modules`.") { $0.view.mainModule },
    .list("modules", ModuleRecord.record, "The modules.") { owner in
      owner.view.symbolizedModules.map { ModuleRecord($0, owner.view) }
    },
    .list(
      "unloaded_modules", UnloadedModuleRecord.record,
      "The modules that were unloaded before, in the order of the dump; one may be there several times."
    ) { owner in owner.view.unloadedModules.map { UnloadedModuleRecord($0, owner.view) } },
    .members(ifAny: stacks) { $0.part == .stacks ? $0 : nil })

  private static let crashInfo = Record<Crash>(
    .text("type", "The exception's name.") { $0.exception.map { withoutAddress($0.title) } },
    .text("description", "The name with the address, in words.") { $0.exception?.title },
    .addressText("address", "The address that was accessed, or the instruction.") { crash in
      crash.exception?.address.map { crash.view.fullAddress($0) }
    },
    .text(
      "thrown_type", "The type of the C++ object that a program of Windows threw, if the dump or a file has it.",
      .omittable
    ) { $0.view.thrownType },
    .members(of: InstructionRecord.members) { $0.view },
    .number("crashing_thread", "Its index in `threads`.") { $0.crashed },
    .text("assertion", "The assertion that failed, in words.") { $0.view.assertion })

  /// The title without the address: "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS".
  private static func withoutAddress(_ title: String) -> String {
    title.firstRange(of: " at 0x").map { String(title[..<$0.lowerBound]) } ?? title
  }

  private static let systemInfo = Record<CrashView>(
    .text("os", "`iOS`, `Mac OS X`, `Linux`, `Android`, `Windows NT`, `Fuchsia` or `unknown`.", .always) {
      name(of: $0.system.operatingSystem)
    },
    .text("os_ver", "The version and the build.") { $0.osVersionText },
    .text("cpu_arch", "`arm64`, `amd64`, `x86`, `arm` or `unknown`.", .always) {
      $0.system.architecture == .x86_64 ? "amd64" : $0.system.architecture.rawValue
    },
    .text("cpu_info", "Family, model and stepping of an x86 processor, or version, maker, part and features of ARM.") {
      $0.processorText
    },
    .text("cpu_microcode_version", "The version of the processor's microcode on Linux.") { $0.microcode },
    .number("cpu_count", "The number of processors.") { $0.system.cpuCount },
    .text("machine", "The model.") { $0.machine?.line })

  private static func name(of system: OperatingSystem) -> String {
    switch system {
    case .macos: "Mac OS X"
    case .windows: "Windows NT"
    default: system.rawValue
    }
  }

  // MARK: Threads

  private static let stacks = Record<Crash>(
    .object(
      "last_exception", frameList,
      "The stack of the exception that was not caught, where the input has it beside the threads.", .omittable
    ) { crash in crash.view.lastException.map { Owned(crash.view, $0) } },
    .number("thread_count", "The number of objects in `threads`.", .always) { $0.stacks.count },
    .list("threads", thread, "The threads with the requested stacks, in the order of the dump.") { crash in
      crash.stacks.indices.map { crash.owned($0) }
    },
    .object("crashing_thread", crashingThread, "A copy of the crashed thread.") { crash in
      crash.crashed.map { ($0, crash.owned($0, hasRegisters: true)) }
    })

  /// A stack of a view.
  private final class Owned: Sendable {
    let view: CrashView
    let stack: CrashView.Stack
    let hasRegisters: Bool
    let lastError: UInt32?

    init(_ view: CrashView, _ stack: CrashView.Stack, hasRegisters: Bool = false, lastError: UInt32? = nil) {
      self.lastError = lastError
      self.view = view
      self.stack = stack
      self.hasRegisters = hasRegisters
    }
  }

  private static let crashingThread = Record<(index: Int, owned: Owned)>(
    .number("threads_index", "Its index in `threads`.", .always) { $0.index },
    .members(of: thread) { $0.owned })

  private static let thread = Record<Owned>(
    .number("thread_id", "The id, as in the system.") { $0.stack.id },
    .text("thread_name", "The name, as in the system.") { $0.stack.name },
    .number(
      "thread_index", "The index in the dump's list of threads; null if the exception's thread is not in it."
    ) { $0.stack.thread },
    .text("last_error_value", "The name of the value that GetLastError() returns in it, on Windows.", .omittable) {
      $0.lastError.map(CrashView.name(ofLastError:))
    },
    .word(
      "walk_end", of: WalkEnd.allCases.map(\.rawValue),
      "Why the stack ends: `done` if the last frame is known to be the outermost one, `recorded` if the input lists the frames and no more, `end-of-chain` after a frame pointer of 0, `null-return-address`, `no-caller`, `missing-memory`, `no-progress`, `too-many-frames` or `no-registers`.",
      .always
    ) { $0.stack.end.rawValue },
    .members(of: frameList) { $0 })

  private static let frameList = Record<Owned>(
    .number("frame_count", "The number of objects in `frames`.", .always) { $0.stack.frames.count },
    .list("frames", frame, "The frames, the innermost first.") { owner in
      owner.stack.frames.indices.map { index in (owner, index) }
    })

  private static let frame = Record<(owned: Owned, index: Int)>(
    .number("frame", "The index.", .always) { $0.index },
    .word(
      "trust", of: FrameTrust.allCases.map(\.rawValue),
      "How it was found: `context` by the registers, `prewalked` in a list of the input, `cfi` by rules for the address, `frame_pointer` by the chain of frame pointers, `link_register` in a function that has called nothing, `return_address` by the code of one up to its return, or `scan`, a guess.",
      .always
    ) { $0.owned.stack.frames[$0.index].frame.trust.rawValue },
    .number(
      "skipped_words", "The words of the stack that the scan passed over; only of frames that a scan found.", .omittable
    ) { $0.owned.stack.frames[$0.index].frame.skippedWords },
    .map("registers", of: .word, "The general registers; only of the first frame of `crashing_thread`.", .omittable) {
      owner in
      guard owner.index == 0, owner.owned.hasRegisters else { return nil }
      return owner.owned.stack.context.map { context in
        context.generalRegisters.map { ($0.name, owner.owned.view.fullAddress($0.value)) }
      }
    },
    .list(
      "register_places", PlaceRecord.pointer,
      PlaceRecord.registersMeaning + " Only of the first frame of `crashing_thread`.", .omittable
    ) { owner in
      guard owner.index == 0, owner.owned.hasRegisters else { return nil }
      let view = owner.owned.view
      return owner.owned.stack.context.map { view.pointers(in: $0).map { (view, $0) } }
    },
    .members(of: place) { ($0.owned.view, $0.owned.stack.frames[$0.index]) })

  private static let place = Record<(view: CrashView, frame: Symbolization.Frame)>(
    .addressText("offset", "The instruction; in a caller, the last byte of the call, as in rust-minidump.", .always) {
      $0.view.fullAddress($0.frame.frame.lookupAddress)
    },
    .addressText("instruction", "The next instruction; in a caller, the return address.", .always) {
      $0.view.fullAddress($0.frame.frame.instruction)
    },
    .text("module", "The module that contains it; null outside of modules.") { $0.view.moduleName($0.frame) },
    .number("module_index", "The module's index in `modules`.") { $0.frame.frame.module },
    .addressText("module_offset", "`offset` relative to the module's beginning.") { owner in
      owner.frame.frame.lookupOffset.map(owner.view.fullAddress)
    },
    .list(
      "unloaded_modules", UnloadedModuleRecord.place,
      "Outside of modules, the unloaded modules that were at `offset`, by name; omitted if there are none.", .omittable
    ) { owner in
      let places = owner.view.unloadedPlaces(owner.frame)
      return places.isEmpty ? nil : places.map { (owner.view, $0) }
    },
    .members(of: function) { ($0.frame.symbol ?? $0.frame.inferred)?.frames.last },
    .addressText("function_offset", "`offset` relative to the function's beginning.") { owner in
      let offset = owner.frame.inferred == nil ? owner.frame.frame.lookupOffset : owner.frame.frame.lookupAddress
      return owner.frame.functionOffset(of: offset).map(owner.view.fullAddress)
    },
    .flag("missing_symbols", "Whether the function is unknown.") {
      ($0.frame.symbol ?? $0.frame.inferred)?.frames.last?.function == nil
    },
    .flag(
      "inferred_symbol",
      "True if the name is from a perf map: the file has the id of the process in its name, and nothing else shows that it is of the same process; omitted otherwise.",
      .omittable
    ) { $0.frame.symbol == nil && $0.frame.inferred != nil ? true : nil },
    .flag(
      "nearest_symbol", "True if the name is only that of the nearest preceding symbol; omitted otherwise.", .omittable
    ) { $0.frame.symbol?.isNearest == true ? true : nil },
    .flag(
      "signal_frame", "True if the kernel interrupted the function of the next frame here; omitted otherwise.",
      .omittable
    ) { $0.frame.frame.isSignalFrame ? true : nil },
    .list(
      "tail_calls", tailCall,
      "The functions between this one and the frame before, which ended with a jump and so have no frame, the innermost first; omitted if there are none.",
      .omittable
    ) { $0.frame.tailCalls.isEmpty ? nil : $0.frame.tailCalls },
    .list("inlines", function, "The calls that were inlined, the innermost first; null if there are none.", .nullable) {
      let functions = $0.frame.symbol?.frames ?? []
      return functions.count < 2 ? nil : functions.dropLast().map { $0 }
    })

  private static let tailCall = Record<TailCall>(
    .members(of: function) { $0.function },
    .flag("inlined", "Whether the call was inlined into the next function.") { $0.isInlined },
    .flag(
      "inferred", "Whether it is only concluded: debug information does not say that there is no other way."
    ) { $0.isInferred })

  private static let function = Record<SymbolizedAddress.Frame?>(
    .text(
      "function",
      "The function at the address, if known; for an inlined call, `inlines` has it, and this is the function that contains it."
    ) { function in function.flatMap { $0.name ?? $0.function } },
    .text("linkage_name", "The function's name as in the symbols; omitted if it is the same.", .omittable) { function in
      function.flatMap { $0.function == ($0.name ?? $0.function) ? nil : $0.function }
    },
    .members(of: SourceRecord.column) { $0?.location })
}
