// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadText
import CrashpadView

/// The tables of threads, modules, memory and registers.
enum DetailText {
  // MARK: Threads

  static func threads(_ view: CrashView, _ chosen: ThreadChoice = .all, style: TextStyle = .plain) -> String {
    var columns: [(String, TextTable.Alignment)] = [
      ("", .left), ("#", .right), ("id", .right), ("name", .left), ("priority", .right), ("suspended", .right),
      ("pc", .left), ("sp", .left), ("stack", .left), ("bytes", .right),
    ]
    let hasCaptures = view.hasUnusualCaptures
    if hasCaptures { columns.append(("captured by", .left)) }
    var table = TextTable(columns)
    let crashed = view.crashedThread
    table.elastic = ["name": .head, "pc": .tail]
    table.droppable = ["bytes", "stack", "suspended", "priority", "sp", "captured by", "id"]
    for thread in view.threads where chosen.includes(thread.index, crashed: crashed) {
      let pc =
        thread.recorded?.first?.line
        ?? thread.context.map { thread.location?.line ?? thread.unloadedLine ?? TextFormat.hex($0.instructionPointer) }
      let stack = thread.stack.map { $0.isSynthetic ? "from NSException" : TextFormat.hex($0.region.address) }
      let id = thread.id.map { String($0) }
      let priority = thread.priority.map { String($0) }
      let suspended = thread.suspendCount.map { String($0) }
      let stackPointer = thread.context.map { TextFormat.hex($0.stackPointer) }
      let size = thread.stack.map { grouped($0.region.content.count) }
      var cells: [String] = [thread.isCrashed ? "*" : "", String(thread.number), id ?? "-", thread.name?.line ?? ""]
      cells += [priority, suspended, pc, stackPointer, stack, size].map { $0 ?? "-" }
      if hasCaptures { cells.append(thread.capture.map(CrashView.name) ?? "-") }
      table.add(cells)
    }
    return table.text(style)
  }

  // MARK: Modules

  static func modules(_ view: CrashView, style: TextStyle = .plain) -> String {
    var table = TextTable([
      ("#", .right), ("address", .left), ("end", .left), ("type", .left), ("version", .left), ("identity", .left),
      ("name", .left),
    ])
    table.elastic = ["name": .tail]
    table.droppable = ["end", "type", "identity", "version"]
    for module in view.moduleList {
      table.add([
        String(module.index), module.address.map(TextFormat.hex) ?? "-", module.end.map(TextFormat.hex) ?? "-",
        module.typeName ?? "-", module.version ?? "-", module.identity ?? "-", module.path?.line ?? "-",
      ])
    }
    var text = table.text(style)
    let unloaded = view.unloadedModules
    if !unloaded.isEmpty {
      var table = TextTable([("address", .left), ("end", .left), ("code id", .left), ("name", .left)])
      table.elastic = ["name": .tail]
      table.droppable = ["end", "code id"]
      for module in unloaded {
        table.add([
          TextFormat.hex(module.address), TextFormat.hex(module.end), module.codeID, module.name?.line ?? "-",
        ])
      }
      text += "\nUnloaded\n" + table.text(style)
    }
    return text
  }

  // MARK: Registers

  static func registers(_ view: CrashView, _ chosen: ThreadChoice = .all) -> String {
    var text = ""
    let crashed = view.crashedThread
    if crashed.map({ chosen.includes($0, crashed: crashed) }) ?? (chosen == .all), let context = view.exception?.context
    {
      let instruction = view.instructionSentence.map { "  \($0)\n" } ?? ""
      text += "Exception\n" + instruction + view.registerText(context) + "\n"
    }
    for thread in view.threads where chosen.includes(thread.index, crashed: crashed) {
      let name = thread.name?.line.map { " \"\($0)\"" } ?? ""
      text += "Thread \(thread.number)\(name)\n"
      if thread.capture == .proc { text += "  only stack and instruction pointer\n" }
      let missing = thread.capture == .notStopped ? "  not recorded: the thread was not stopped\n" : "  not recorded\n"
      text += thread.context.map { view.registerText($0) } ?? missing
      text += "\n"
    }
    return text
  }

  // MARK: Memory

  /// A table of all captured ranges, by address.
  static func memory(_ view: CrashView, style: TextStyle = .plain) -> String {
    var table = TextTable([("address", .left), ("end", .left), ("bytes", .right), ("what", .left)])
    table.elastic = ["what": .tail]
    table.droppable = ["end"]
    for range in view.memory {
      table.add([
        TextFormat.hex(range.address), range.end.map(TextFormat.hex) ?? "beyond 2^64", grouped(range.count),
        range.owner,
      ])
    }
    return table.text(style)
  }

  /// A hex dump of up to `count` bytes of captured memory from `address` on, and the words in it that point into modules; nil if the
  /// first byte was not captured.
  static func memory(_ view: CrashView, at address: UInt64, count: Int) -> String? {
    view.memory(at: address, count: count).map { bytes in
      unsafe HexDump.text(bytes.span.bytes, address: address) + view.pointerText(bytes, at: address)
    }
  }
}
