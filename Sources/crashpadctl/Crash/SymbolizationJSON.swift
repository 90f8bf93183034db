import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import IntermediateDump
import CrashpadJSON
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSymbolication

/// Writes one symbolized dump as a JSON document with the schema in crashpadctl-json(5). Members that rust-minidump
/// has too have the same names and meanings.
struct SymbolizationJSON {
  static let schema = "crashpadctl-symbolize/1"

  /// The requested part of a dump.
  enum Part {
    case stacks
    case modules
    case missing
  }

  private let symbolized: SymbolizedView

  private var view: DumpView { symbolized.view }

  /// Writes the document. `symbolized` is nil if the input has no snapshot. `input` is the
  /// argument that names it, or would.
  static func write(
    _ dump: Dump, _ symbolized: SymbolizedView?, input: String, part: Part, to json: inout JSONWriter
  ) {
    json.object { json in
      InputDocument.writeHead(schema, dump, input: input, saysComplete: true, to: &json)
      if let symbolized { SymbolizationJSON(symbolized: symbolized).write(part, to: &json) }
    }
  }

  private func write(_ part: Part, to json: inout JSONWriter) {
    if part == .missing { return writeMissing(to: &json) }
    writeProcess(to: &json)
    if part == .stacks, let signature = symbolized.signature {
      json.key("signature")
      SignatureJSON.write(signature, to: &json)
    }
    json.member("main_module", symbolized.mainModule)
    json.objects("modules", symbolized.result.modules) { Self.writeMembers($0, view, to: &$1) }
    if part == .stacks { writeThreads(to: &json) }
  }

  // MARK: Process and system

  private func writeProcess(to json: inout JSONWriter) {
    let snapshot = view.snapshot
    json.member("pid", snapshot.processID)
    var uptime: Int64?
    if let start = snapshot.startTime, let end = snapshot.snapshotTime { uptime = end.seconds &- start.seconds }
    json.member("process_uptime", uptime)
    json.object("crash_info") { json in
      let exception = snapshot.exception
      let title = exception.map { ExceptionDescription($0, snapshot.system).title }
      json.member("type", title.map(Self.withoutAddress))
      json.member("description", title)
      json.member("address", exception.map { view.fullAddress($0.address) })
      json.member("crashing_thread", symbolized.threadsInOrder.firstIndex { $0.isCrashed })
      json.member("assertion", nil as String?)
    }
    let system = snapshot.system
    json.object("system_info") { json in
      json.member("os", Self.name(of: system.operatingSystem))
      let version = [view.osVersion, view.text(system.osBuild)].compactMap { $0 }
      json.member("os_ver", version.isEmpty ? nil : version.joined(separator: " "))
      json.member("cpu_arch", system.architecture == .x86_64 ? "amd64" : system.architecture.rawValue)
      json.member("cpu_info", view.text(system.cpuVendor))
      json.member("cpu_count", system.cpuCount)
      json.member("machine", view.text(system.machine))
    }
  }

  /// The title without the address: "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS".
  private static func withoutAddress(_ title: String) -> String {
    title.firstRange(of: " at 0x").map { String(title[..<$0.lowerBound]) } ?? title
  }

  private static func name(of system: OperatingSystem) -> String {
    switch system {
    case .macos: "Mac OS X"
    case .windows: "Windows NT"
    default: system.rawValue
    }
  }

  // MARK: Modules

  /// Writes the members of a module with the state of its symbols.
  static func writeMembers(_ module: Symbolization.Module, _ view: DumpView, to json: inout JSONWriter) {
    let recorded = view.snapshot.modules[module.index]
    let identity = module.identity
    let path = ArgumentText.repaired(identity.path)
    json.member("base_addr", recorded.address.map(view.fullAddress))
    let end = recorded.address.flatMap { address in recorded.size.map { address &+ $0 } }
    json.member("end_addr", end.map(view.fullAddress))
    json.member("filename", lastPathComponent(path))
    json.member("path", path)
    json.member("code_id", codeID(identity))
    json.member("debug_file", identity.debugName)
    json.member("debug_id", identity.debugID?.text)
    json.member("version", view.version(recorded))
    json.member("loaded_symbols", module.symbols?.isFound == true)
    json.member("missing_symbols", module.symbols?.isFound == false)
    json.member("corrupt_symbols", module.symbols?.findings.isEmpty == false)
    json.member("symbol_url", nil as String?)
    guard let symbols = module.symbols else { return }
    json.objects("symbol_files", symbols.search.files) { file, json in
      json.member("path", Wording.printable(file.path))
      json.member("kind", file.role.rawValue)
      json.member("verified", file.isVerified)
    }
    json.array("symbol_findings") { json in
      for finding in symbols.fileFindings { FindingJSON.write(finding, to: &json) }
    }
  }

  /// A build ID, or a UUID without hyphens, in lowercase.
  private static func codeID(_ identity: ModuleIdentity) -> String? {
    if !identity.buildID.isEmpty { return hexadecimalDigits(identity.buildID) }
    return identity.debugID.map { String($0.text.prefix(32)).lowercased() }
  }

  private func writeMissing(to json: inout JSONWriter) {
    json.objects("missing", ModuleSymbolText(symbolized: symbolized).requests) { request, json in
      json.member("debug_file", request.name)
      json.member("debug_id", request.debugID)
      json.member("build_id", request.buildID)
      json.member("sym_path", request.path)
    }
  }

  // MARK: Threads

  private func writeThreads(to json: inout JSONWriter) {
    let threads = symbolized.threadsInOrder
    json.member("thread_count", threads.count)
    json.objects("threads", threads) { write($0, registers: nil, to: &$1) }
    json.object("crashing_thread", of: threads.firstIndex(where: \.isCrashed)) { index, json in
      json.member("threads_index", index)
      write(threads[index], registers: threads[index].context, to: &json)
    }
  }

  private func write(_ thread: Symbolization.Thread, registers: CPUContext?, to json: inout JSONWriter) {
    let snapshot = view.snapshot
    json.member("thread_id", thread.index.map { snapshot.threads[$0].id } ?? snapshot.exception?.threadID)
    json.member("thread_name", symbolized.threadName(thread))
    json.member("thread_index", thread.index)
    json.member("walk_end", thread.end.rawValue)
    json.member("frame_count", thread.frames.count)
    json.array("frames") { json in
      for (index, frame) in thread.frames.enumerated() {
        json.object { json in
          json.member("frame", index)
          json.member("trust", frame.frame.trust.rawValue)
          if index == 0, let registers {
            json.object("registers") { json in
              for register in registers.generalRegisters {
                json.member(register.name, view.fullAddress(register.value))
              }
            }
          }
          write(frame, to: &json)
        }
      }
    }
  }

  private func write(_ frame: Symbolization.Frame, to json: inout JSONWriter) {
    json.member("offset", view.fullAddress(frame.frame.lookupAddress))
    json.member("instruction", view.fullAddress(frame.frame.instruction))
    json.member("module", symbolized.moduleName(frame))
    json.member("module_index", frame.frame.module)
    json.member("module_offset", frame.frame.lookupOffset.map(view.fullAddress))
    let functions = frame.symbol?.frames ?? []
    write(functions.last, to: &json)
    let distance = SymbolizedView.functionOffset(frame, of: frame.frame.lookupOffset)
    json.member("function_offset", distance.map(view.fullAddress))
    json.member("missing_symbols", functions.last?.function == nil)
    if frame.symbol?.isNearest == true { json.member("nearest_symbol", true) }
    if frame.frame.isSignalFrame { json.member("signal_frame", true) }
    if functions.count < 2 {
      json.member("inlines", nil as String?)
    } else {
      json.objects("inlines", functions.dropLast()) { write($0, to: &$1) }
    }
  }

  private func write(_ function: SymbolizedAddress.Frame?, to json: inout JSONWriter) {
    let name = function.flatMap { $0.name ?? $0.function }
    json.member("function", name)
    if let linkage = function?.function, linkage != name { json.member("linkage_name", linkage) }
    Self.write(function?.location, to: &json)
  }

  /// Writes the members of a place in the source; lines and columns count from 1.
  static func write(_ location: SourceLocation?, hasColumn: Bool = true, to json: inout JSONWriter) {
    json.member("file", location?.file)
    json.member("line", location.flatMap { $0.line > 0 ? $0.line : nil })
    if hasColumn { json.member("column", location.flatMap { $0.column > 0 ? $0.column : nil }) }
  }
}
