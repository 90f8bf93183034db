import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText

/// The tables of threads, modules, memory and registers.
enum DetailText {
  // MARK: Threads

  static func threads(_ view: DumpView, _ chosen: ThreadChoice = .all, style: TextStyle = .plain) -> String {
    var columns: [(String, TextTable.Alignment)] = [
      ("", .left), ("#", .right), ("id", .right), ("name", .left), ("priority", .right), ("suspended", .right),
      ("pc", .left), ("sp", .left), ("stack", .left), ("bytes", .right),
    ]
    let hasCaptures = view.hasUnusualCaptures
    if hasCaptures { columns.append(("captured by", .left)) }
    var table = TextTable(columns)
    let crashed = view.dump.crashedThread
    table.elastic = ["name": .head, "pc": .tail]
    table.droppable = ["bytes", "stack", "suspended", "priority", "sp", "captured by", "id"]
    for (index, thread) in view.snapshot.threads.enumerated() where chosen.includes(index, crashed: crashed) {
      let pc =
        thread.frames?.first.map(view.place)
        ?? thread.context.map { context in
          view.location(context.instructionPointer) ?? Wording.hex(context.instructionPointer)
        }
      let stack = thread.stack.map { $0.isSynthetic ? "from NSException" : Wording.hex($0.region.address) }
      let id = thread.id.map { String($0) }
      let priority = thread.priority.map { String($0) }
      let suspended = thread.suspendCount.map { String($0) }
      let stackPointer = thread.context.map { Wording.hex($0.stackPointer) }
      let size = thread.stack.map { grouped($0.region.content.count) }
      var cells: [String] = [index == crashed ? "*" : "", String(index), id ?? "-", view.text(thread.name) ?? ""]
      cells += [priority, suspended, pc, stackPointer, stack, size].map { $0 ?? "-" }
      if hasCaptures { cells.append(thread.capture.map(DumpView.name) ?? "-") }
      table.add(cells)
    }
    return table.text(style)
  }

  // MARK: Modules

  static func modules(_ view: DumpView, style: TextStyle = .plain) -> String {
    var table = TextTable([
      ("#", .right), ("address", .left), ("end", .left), ("type", .left), ("version", .left), ("identity", .left),
      ("name", .left),
    ])
    table.elastic = ["name": .tail]
    table.droppable = ["end", "type", "identity", "version"]
    for (index, module) in view.snapshot.modules.enumerated() {
      let end = module.address.flatMap { address in module.size.map { address &+ $0 } }
      table.add([
        String(index), module.address.map(Wording.hex) ?? "-", end.map(Wording.hex) ?? "-", type(module.fileType),
        view.version(module) ?? "-", view.identity(module) ?? "-", view.text(module.name) ?? "-",
      ])
    }
    var text = table.text(style)
    if !view.snapshot.unloadedModules.isEmpty {
      text += "\nUnloaded\n"
      for module in view.snapshot.unloadedModules {
        text += "\(Wording.hex(module.address))  \(view.text(module.name) ?? "-")\n"
      }
    }
    return text
  }

  private static func type(_ type: ModuleSnapshot.FileType?) -> String {
    switch type {
    case .executable: "executable"
    case .sharedLibrary: "library"
    case .loadableModule: "bundle"
    case .dynamicLoader: "loader"
    case .other: "other"
    case nil: "-"
    }
  }

  // MARK: Registers

  static func registers(_ view: DumpView) -> String {
    var text = ""
    if let context = view.snapshot.exception?.context {
      text += "Exception\n" + registers(context, view) + "\n"
    }
    for (index, thread) in view.snapshot.threads.enumerated() {
      let name = view.text(thread.name).map { " \"\($0)\"" } ?? ""
      text += "Thread \(index)\(name)\n"
      if thread.capture == .proc { text += "  only stack and instruction pointer\n" }
      let missing = thread.capture == .notStopped ? "  not recorded: the thread was not stopped\n" : "  not recorded\n"
      text += thread.context.map { registers($0, view) } ?? missing
      text += "\n"
    }
    return text
  }

  /// The registers, four per line, then the ones that point into a module.
  private static func registers(_ context: CPUContext, _ view: DumpView) -> String {
    let registers = context.generalRegisters
    var text = ""
    for start in stride(from: 0, to: registers.count, by: 4) {
      let row = registers[start..<min(start + 4, registers.count)].map { register in
        String(repeating: " ", count: max(0, 6 - register.name.count)) + register.name + " "
          + hexadecimal(register.value, width: 16)
      }
      text += " " + row.joined(separator: " ") + "\n"
    }
    for register in registers where register.value > 0xfff {
      if let location = view.location(register.value) {
        text += String(repeating: " ", count: max(0, 7 - register.name.count)) + register.name + " = " + location + "\n"
      }
    }
    return text
  }

  // MARK: Memory

  /// A table of all captured ranges, by address.
  static func memory(_ view: DumpView, style: TextStyle = .plain) -> String {
    var table = TextTable([("address", .left), ("end", .left), ("bytes", .right), ("what", .left)])
    table.elastic = ["what": .tail]
    table.droppable = ["end"]
    for (region, what) in ranges(view) {
      table.add([
        Wording.hex(region.address), region.end.map(Wording.hex) ?? "beyond 2^64",
        grouped(region.content.count),
        what,
      ])
    }
    return table.text(style)
  }

  /// All captured ranges by address, with their content.
  static func ranges(_ view: DumpView) -> [(region: MemoryRegion, what: String)] {
    var owners: [(region: MemoryRegion, what: String)] = []
    for (index, thread) in view.snapshot.threads.enumerated() {
      guard let stack = thread.stack, !stack.isSynthetic, !stack.region.content.isEmpty else { continue }
      owners.append((stack.region, "stack of thread \(index)"))
    }
    owners += view.snapshot.extraMemory.map { ($0, view.location($0.address) ?? "") }
    owners += view.snapshot.intermediateDumpExtraMemory.map { ($0, "for the intermediate dump only") }
    owners.sort { $0.region.address < $1.region.address }
    return owners
  }

  /// A hex dump of up to `count` bytes of captured memory from `address` on; nil if the first byte was not captured.
  static func memory(_ view: DumpView, at address: UInt64, count: Int) -> String? {
    let regions = view.snapshot.capturedMemory + view.snapshot.intermediateDumpExtraMemory
    guard let region = regions.first(where: { $0.contains(address) }) else { return nil }
    let start = Int(address - region.address)
    let part = region.content.part(at: start, count: min(count, region.content.count - start))
    return view.input.withBytes { bytes in
      view.snapshot.withBytes(of: part, in: bytes) { HexDump.text($0, address: address) }
    }
  }
}

extension MemoryRegion {
  /// Whether the byte at `address` was captured.
  func contains(_ address: UInt64) -> Bool {
    self.address <= address && address - self.address < UInt64(content.count)
  }
}
