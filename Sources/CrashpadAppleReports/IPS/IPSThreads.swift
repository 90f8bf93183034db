// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads images, threads, frames and registers.
extension ReportBuilder {
  mutating func readImages(_ images: JSONValue?) {
    for (index, image) in (images?.elements ?? []).enumerated() {
      guard image.kind == .object else {
        note(ReportRules.badImage, at: image.offset, path: "usedImages[\(index)]")
        snapshot.modules.append(ModuleSnapshot())
        continue
      }
      snapshot.modules.append(module(image))
    }
  }

  private mutating func module(_ image: JSONValue) -> ModuleSnapshot {
    let name = image["name"]?.string
    var module = module(
      image["path"]?.string ?? name, file: name, address: image["base"]?.uint64, size: image["size"]?.uint64,
      uuid: image["uuid"]?.string)
    if let digits = image["buildID"]?.string {
      let bytes = SwiftHex.bytes(digits)
      if !bytes.isEmpty { module.identity = .buildID(snapshot.store(bytes)) }
    }
    module.architecture = image["arch"]?.string
    module.bundleID = image["CFBundleIdentifier"]?.string
    module.bundleVersion = image["CFBundleShortVersionString"]?.string
    return module
  }

  mutating func readThreads(_ threads: JSONValue?) {
    for (index, value) in (threads?.elements ?? []).enumerated() {
      let path = "threads[\(index)]"
      guard value.kind == .object else {
        note(ReportRules.badThread, at: value.offset, path: path)
        snapshot.threads.append(ThreadSnapshot())
        continue
      }
      var thread = ThreadSnapshot()
      thread.id = value["id"]?.uint64
      thread.name = content(value["name"]?.string)
      thread.queue = content(value["queue"]?.string)
      thread.frames = value["frames"].map { readFrames($0, "\(path).frames") } ?? []
      thread.number = value["number"]?.int64.flatMap { Int(exactly: $0) }
      thread.elided = readElided(value["recursionInfoArray"], frameCount: thread.frames?.count ?? 0)
      if value["triggered"]?.bool == true, report.faultingThread == nil { report.faultingThread = index }
      if let state = value["threadState"], state.kind == .object {
        thread.context = readState(state)
        if report.faultingThread == index { readFault(state) }
      }
      snapshot.threads.append(thread)
    }
  }

  /// Reads where frames of recursions are missing. The numbers count them too.
  private func readElided(_ list: JSONValue?, frameCount: Int) -> [ElidedFrames] {
    var missing: UInt64 = 0
    return (list?.elements ?? []).compactMap { value in
      guard let hottest = value["hottestElided"]?.uint64, hottest >= missing,
        let index = Int(exactly: hottest - missing), index <= frameCount
      else { return nil }
      let count = value["coldestElided"]?.uint64.flatMap { $0 >= hottest && $0 < .max ? $0 - hottest + 1 : nil }
      missing = missing.addingReportingOverflow(count ?? 0).partialValue
      return ElidedFrames(index: index, frames: count, levels: value["depth"]?.uint64)
    }
  }

  mutating func readFrames(_ frames: JSONValue, _ path: String) -> [RecordedFrame] {
    let values = frames.elements
    var result: [RecordedFrame] = []
    result.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      guard value.kind == .object, let offset = value["imageOffset"]?.uint64 else {
        note(ReportRules.badFrame, at: value.offset, path: "\(path)[\(index)]")
        continue
      }
      result.append(frame(value, offset, path, index))
    }
    return result
  }

  private mutating func frame(_ value: JSONValue, _ offset: UInt64, _ path: String, _ index: Int) -> RecordedFrame {
    let image = value["imageIndex"]?.int64.flatMap { Int(exactly: $0) }
    var frame = RecordedFrame(address: offset)
    if let image, snapshot.modules.indices.contains(image) {
      let module = snapshot.modules[image]
      frame.address = (module.address ?? 0) &+ offset
      if !module.isAbsolute {
        frame.module = image
        let isPlaced = module.address != nil && value["crashpadctl_unplaced"] == nil
        frame.moduleOffset = isPlaced ? offset : value["crashpadctl_offset"]?.uint64
      }
    } else if value["imageIndex"] != nil, snapshot.isComplete {
      note(
        ReportRules.missingImage, at: value.offset, path: "\(path)[\(index)].imageIndex",
        found: image.map { .text(String($0)) })
    }
    frame.function = value["symbol"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    frame.functionOffset = value["symbolLocation"]?.uint64
    frame.file = value["sourceFile"]?.string
    frame.line = value["sourceLine"]?.uint32
    frame.isInlined = value["inline"]?.bool ?? false
    return frame
  }

  // MARK: Registers

  /// Reads the processor's fault registers. Those in other threads hold older values.
  private mutating func readFault(_ state: JSONValue) {
    func value(_ register: JSONValue?) -> UInt64? { (register?["value"] ?? register)?.uint64 }
    report.faultAddress = value(state["far"]) ?? value(state["cr2"])
    report.syndrome = value(state["esr"]) ?? value(state["err"])
    report.syndromeText = state["esr"]?["description"]?.string
  }

  private mutating func readState(_ state: JSONValue) -> CPUContext? {
    let flavor = state["flavor"]?.string ?? (state["rip"] == nil ? "ARM_THREAD_STATE64" : "x86_THREAD_STATE")
    func value(_ name: JSONValue?) -> UInt64 { (name?["value"] ?? name)?.uint64 ?? 0 }
    if flavor == "x86_THREAD_STATE32" { return readNarrowState(state, .x86) }
    if flavor.hasPrefix("x86") { return readIntelState(state, value) }
    guard flavor.hasPrefix("ARM") else { return nil }
    if flavor == "ARM_THREAD_STATE" { return readNarrowState(state, .arm) }
    var context = ARM64Context()
    for (index, register) in (state["x"]?.elements ?? []).prefix(29).enumerated() { context.x[index] = value(register) }
    context.fp = value(state["fp"])
    context.lr = value(state["lr"])
    context.sp = value(state["sp"])
    context.pc = value(state["pc"])
    context.cpsr = UInt32(truncatingIfNeeded: value(state["cpsr"]))
    if snapshot.system.architecture == .unknown { snapshot.system.architecture = .arm64 }
    return .arm64(context)
  }

  /// The registers of a 32-bit processor, in the report's order.
  private func readNarrowState(_ state: JSONValue, _ architecture: CPUArchitecture) -> CPUContext {
    var registers: [CPUContext.NamedRegister] = []
    for (name, value) in state.members {
      guard let value = value["value"]?.uint64 else { continue }
      registers.append(CPUContext.NamedRegister(name: name, value: value))
    }
    func value(_ names: [String]) -> UInt64 { registers.first { names.contains($0.name) }?.value ?? 0 }
    return .named(
      architecture, registers: registers, instructionPointer: value(["pc", "eip"]), stackPointer: value(["sp", "esp"]))
  }

  private mutating func readIntelState(_ state: JSONValue, _ value: (JSONValue?) -> UInt64) -> CPUContext {
    var context = X86_64Context()
    context.rax = value(state["rax"])
    context.rbx = value(state["rbx"])
    context.rcx = value(state["rcx"])
    context.rdx = value(state["rdx"])
    context.rdi = value(state["rdi"])
    context.rsi = value(state["rsi"])
    context.rbp = value(state["rbp"])
    context.rsp = value(state["rsp"])
    let more = [
      state["r8"], state["r9"], state["r10"], state["r11"], state["r12"], state["r13"], state["r14"], state["r15"],
    ]
    for (index, register) in more.enumerated() { context.r[index] = value(register) }
    context.rip = value(state["rip"])
    context.rflags = value(state["rflags"] ?? state["rfl"])
    context.cs = value(state["cs"])
    context.fs = value(state["fs"])
    context.gs = value(state["gs"])
    if snapshot.system.architecture == .unknown { snapshot.system.architecture = .x86_64 }
    return .x86_64(context)
  }
}
