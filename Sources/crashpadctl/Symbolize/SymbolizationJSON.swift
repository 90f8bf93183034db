import CrashpadBytes
import CrashpadCore
import CrashpadFiles
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

  private let inspection: Inspection
  private let symbolized: SymbolizedView?
  private let part: Part

  /// Writes the document. `symbolized` is nil if the input has no snapshot. `input` is the
  /// argument that names it, or would.
  static func write(
    _ inspection: Inspection, _ symbolized: SymbolizedView?, input: String, part: Part, to json: inout JSONWriter
  ) {
    SymbolizationJSON(inspection: inspection, symbolized: symbolized, part: part).write(input, to: &json)
  }

  /// Writes the failure for an input that can't be read, or not in the requested way.
  static func writeFailure(_ input: String, _ text: String, _ status: ExitStatus, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", Self.schema)
      json.member("input", argument: input)
      json.member("status", "ERROR")
      json.member("format", nil as String?)
      json.member("error", text)
      json.member("exit_status", status.rawValue)
    }
  }

  private func write(_ input: String, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", Self.schema)
      json.member("input", argument: input)
      json.member("status", symbolized == nil ? "ERROR" : "OK")
      json.member("format", inspection.format.rawValue)
      let isComplete = inspection.tree?.incomplete == nil && symbolized?.view.snapshot.isComplete != false
      json.member("complete", isComplete && symbolized != nil)
      FindingJSON.write(inspection.findings, to: &json)
      guard let symbolized else { return }
      switch part {
      case .missing: writeMissing(symbolized, to: &json)
      case .modules:
        writeProcess(symbolized, to: &json)
        writeModules(symbolized, to: &json)
      case .stacks:
        writeProcess(symbolized, to: &json)
        if let signature = symbolized.signature {
          json.key("signature")
          SignatureJSON.write(signature, to: &json)
        }
        writeModules(symbolized, to: &json)
        writeThreads(symbolized, to: &json)
      }
    }
  }

  // MARK: Process and system

  private func writeProcess(_ symbolized: SymbolizedView, to json: inout JSONWriter) {
    let snapshot = symbolized.view.snapshot
    json.member("pid", snapshot.processID)
    var uptime: Int64?
    if let start = snapshot.startTime, let end = snapshot.snapshotTime { uptime = end.seconds &- start.seconds }
    json.member("process_uptime", uptime)
    json.object("crash_info") { json in
      let exception = snapshot.exception
      let title = exception.map { ExceptionDescription($0, snapshot.system).title }
      json.member("type", title.map(Self.withoutAddress))
      json.member("description", title)
      json.member("address", exception.map { symbolized.view.fullAddress($0.address) })
      json.member("crashing_thread", symbolized.threadsInOrder.firstIndex { $0.isCrashed })
      json.member("assertion", nil as String?)
    }
    let system = snapshot.system
    json.object("system_info") { json in
      json.member("os", Self.name(of: system.operatingSystem))
      let version = [symbolized.view.osVersion, symbolized.view.text(system.osBuild)].compactMap { $0 }
      json.member("os_ver", version.isEmpty ? nil : version.joined(separator: " "))
      json.member("cpu_arch", system.architecture == .x86_64 ? "amd64" : system.architecture.rawValue)
      json.member("cpu_info", symbolized.view.text(system.cpuVendor))
      json.member("cpu_count", system.cpuCount)
      json.member("machine", symbolized.view.text(system.machine))
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

  private func writeModules(_ symbolized: SymbolizedView, to json: inout JSONWriter) {
    json.member("main_module", symbolized.mainModule)
    json.array("modules") { json in
      for module in symbolized.result.modules { Self.write(module, symbolized.view, to: &json) }
    }
  }

  /// Writes a module with the state of its symbols.
  static func write(_ module: Symbolization.Module, _ view: InspectionView, to json: inout JSONWriter) {
    let recorded = view.snapshot.modules[module.index]
    let identity = module.identity
    let path = ArgumentText.repaired(identity.path)
    json.object { json in
      json.member("base_addr", recorded.address.map(view.fullAddress))
      let end = recorded.address.flatMap { address in recorded.size.map { address &+ $0 } }
      json.member("end_addr", end.map(view.fullAddress))
      json.member("filename", lastPathComponent(path))
      json.member("path", path)
      json.member("code_id", codeID(identity))
      json.member("debug_file", identity.debugName)
      json.member("debug_id", identity.debugID?.text)
      json.member("version", view.version(recorded))
      let findings = module.symbols?.fileFindings ?? []
      json.member("loaded_symbols", module.symbols?.isFound == true)
      json.member("missing_symbols", module.symbols?.isFound == false)
      json.member("corrupt_symbols", module.symbols?.findings.isEmpty == false)
      json.member("symbol_url", nil as String?)
      guard let search = module.symbols?.search else { return }
      json.array("symbol_files") { json in
        for file in search.files {
          json.object {
            $0.member("path", Wording.printable(file.path))
            $0.member("kind", file.role.rawValue)
            $0.member("verified", file.isVerified)
          }
        }
      }
      json.array("symbol_findings") { json in
        for finding in findings { FindingJSON.write(finding, to: &json) }
      }
    }
  }

  /// A build ID, or a UUID without hyphens, in lowercase.
  private static func codeID(_ identity: ModuleIdentity) -> String? {
    if !identity.buildID.isEmpty { return hexadecimalDigits(identity.buildID) }
    return identity.debugID.map { String($0.text.prefix(32)).lowercased() }
  }

  private func writeMissing(_ symbolized: SymbolizedView, to json: inout JSONWriter) {
    json.array("missing") { json in
      for request in ModuleSymbolText(symbolized: symbolized).requests {
        json.object {
          $0.member("debug_file", request.name)
          $0.member("debug_id", request.debugID)
          $0.member("build_id", request.buildID)
          $0.member("sym_path", request.path)
        }
      }
    }
  }

  // MARK: Threads

  private func writeThreads(_ symbolized: SymbolizedView, to json: inout JSONWriter) {
    let threads = symbolized.threadsInOrder
    json.member("thread_count", threads.count)
    json.array("threads") { json in
      for thread in threads {
        json.object { write(thread, symbolized, registers: nil, to: &$0) }
      }
    }
    json.key("crashing_thread")
    guard let index = threads.firstIndex(where: \.isCrashed) else {
      json.null()
      return
    }
    json.object { json in
      json.member("threads_index", index)
      write(threads[index], symbolized, registers: threads[index].context, to: &json)
    }
  }

  private func write(
    _ thread: Symbolization.Thread, _ symbolized: SymbolizedView, registers: CPUContext?, to json: inout JSONWriter
  ) {
    let snapshot = symbolized.view.snapshot
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
                json.member(register.name, symbolized.view.fullAddress(register.value))
              }
            }
          }
          write(frame, symbolized, to: &json)
        }
      }
    }
  }

  private func write(_ frame: Symbolization.Frame, _ symbolized: SymbolizedView, to json: inout JSONWriter) {
    json.member("offset", symbolized.view.fullAddress(frame.frame.lookupAddress))
    json.member("instruction", symbolized.view.fullAddress(frame.frame.instruction))
    json.member("module", symbolized.moduleName(frame))
    json.member("module_index", frame.frame.module)
    json.member("module_offset", frame.frame.lookupOffset.map(symbolized.view.fullAddress))
    let functions = frame.symbol?.frames ?? []
    write(functions.last, to: &json)
    let distance = SymbolizedView.functionOffset(frame, of: frame.frame.lookupOffset)
    json.member("function_offset", distance.map(symbolized.view.fullAddress))
    json.member("missing_symbols", functions.last?.function == nil)
    if frame.symbol?.isNearest == true { json.member("nearest_symbol", true) }
    if frame.frame.isSignalFrame { json.member("signal_frame", true) }
    json.key("inlines")
    if functions.count < 2 {
      json.null()
    } else {
      json.array { json in
        for function in functions.dropLast() { json.object { write(function, to: &$0) } }
      }
    }
  }

  private func write(_ function: SymbolizedAddress.Frame?, to json: inout JSONWriter) {
    let name = function.flatMap { $0.name ?? $0.function }
    json.member("function", name)
    if let linkage = function?.function, linkage != name { json.member("linkage_name", linkage) }
    json.member("file", function?.location?.file)
    json.member("line", function?.location.flatMap { $0.line > 0 ? $0.line : nil })
    json.member("column", function?.location.flatMap { $0.column > 0 ? $0.column : nil })
  }
}
