internal import BinaryFormat
package import FileSystem
package import Snapshot

/// The stacks of one snapshot with names, and the symbols of its modules.
package struct Symbolization: Sendable {
  package enum Threads: Sendable, Equatable {
    /// The one that crashed; all if none did.
    case crashed
    case all
    /// The one at this index in the snapshot; none if there is no such thread.
    case one(Int)
  }

  package struct Frame: Sendable {
    package let frame: StackFrame
    /// What lies there; nil if nothing is known of it. Its last function is the one that was compiled as such.
    package let symbol: SymbolizedAddress?
  }

  package struct Thread: Sendable {
    /// In the snapshot's list; nil of an exception whose thread is not in it.
    package let index: Int?
    package let isCrashed: Bool
    package let frames: [Frame]
    package let end: WalkEnd
    /// The registers that the walk began with.
    package let context: CPUContext?
  }

  package struct Module: Sendable {
    /// In the snapshot's list.
    package let index: Int
    package let identity: ModuleIdentity
    /// Nil if nobody needed it.
    package internal(set) var symbols: ModuleSymbols?
  }

  /// The crashed thread first.
  package let threads: [Thread]
  /// The stack of the exception that led to a crash, where a report has it beside the threads.
  package let lastException: [Frame]
  /// One for each of the snapshot's.
  package let modules: [Module]

  /// - Parameters:
  ///   - snapshot: what is known of the process.
  ///   - file: what the snapshot was read from.
  ///   - cache: holds and finds the symbols.
  ///   - threads: whose stacks are walked.
  ///   - allModules: whether the symbols of modules are looked for too that no frame lies in.
  ///   - limits: how far a stack is walked.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ cache: SymbolCache, threads: Threads, allModules: Bool = false,
    limits: StackWalker.Limits = StackWalker.Limits()
  ) {
    let identities = snapshot.modules.map { ModuleIdentity($0, snapshot, file) }
    let lazies = identities.map { LazySymbols($0, cache) }
    let walked: [WalkedModule] = snapshot.modules.enumerated().compactMap { index, module in
      guard let address = module.address, let size = module.size, size > 0 else { return nil }
      return WalkedModule(index: index, address: address, size: size, symbols: lazies[index])
    }
    let walker = StackWalker(
      modules: walked, memory: WalkedMemory(snapshot, file), addressMask: snapshot.codeAddressMask, limits: limits)

    var stacks: [Thread] = []
    for (index, thread) in snapshot.crashedFirst(threads) {
      let context =
        (index == nil || thread?.isCrashed == true ? snapshot.exception?.context : nil) ?? thread?.thread.context
      if let recorded = thread?.thread.frames {
        let stack = RecordedStack(recorded, demangled: cache.demangled) { lazies[$0].symbols.symbolize($1) }
        stacks.append(
          Thread(
            index: index, isCrashed: thread?.isCrashed ?? true, frames: stack.frames, end: .done, context: context))
        continue
      }
      let walk = Self.walk(thread?.thread, context, snapshot, file, walker)
      let frames = walk.frames.map { frame in
        Frame(
          frame: frame,
          symbol: frame.module.flatMap { module in frame.lookupOffset.flatMap { lazies[module].symbols.symbolize($0) } }
        )
      }
      stacks.append(
        Thread(
          index: index, isCrashed: thread?.isCrashed ?? true, frames: frames, end: walk.end, context: context))
    }
    self.threads = stacks
    lastException =
      RecordedStack(snapshot.report?.lastException ?? [], demangled: cache.demangled) {
        lazies[$0].symbols.symbolize($1)
      }.frames
    modules = identities.indices.map { index in
      Module(
        index: index, identity: identities[index], symbols: allModules ? lazies[index].symbols : lazies[index].known)
    }
  }

  private static func walk(
    _ thread: ThreadSnapshot?, _ context: CPUContext?, _ snapshot: ProcessSnapshot, _ file: InputFile,
    _ walker: StackWalker
  ) -> StackWalker.Walk {
    if let addresses = snapshot.prewalkedAddresses(thread, context, file) { return walker.walk(prewalked: addresses) }
    guard let context, let registers = FrameRegisters(context) else {
      return StackWalker.Walk(frames: [], end: .noRegisters)
    }
    return walker.walk(from: registers)
  }
}

extension ModuleIdentity {
  init(_ module: ModuleSnapshot, _ snapshot: ProcessSnapshot, _ file: InputFile) {
    func text(_ content: Content?) -> String? {
      guard let content, !content.isEmpty else { return nil }
      return file.withBytes { snapshot.text(content, in: $0) }
    }
    let id: DebugID?
    var buildID: [UInt8] = []
    switch module.identity {
    case .uuid(let uuid, let age): id = uuid == .zero ? nil : DebugID(uuid: uuid, age: age)
    case .buildID(let content):
      buildID = file.withBytes { snapshot.bytes(of: content, in: $0) }
      id = DebugID(buildID: buildID)
    case nil: id = nil
    }
    // Not every path is UTF-8; the file has to be found all the same.
    let path = module.name.map { name in file.withBytes { ArgumentText.text(snapshot.bytes(of: name, in: $0)) } }
    self.init(
      path: path ?? "", debugName: text(module.debugName) ?? text(module.name), debugID: id, buildID: buildID,
      mayBeLocal: [.linux, .android, .unknown].contains(snapshot.system.operatingSystem))
  }
}

extension ProcessSnapshot {
  /// Bits of a code pointer that are not part of the address: what the dump says, or on arm64 what lies above all modules.
  package var codeAddressMask: UInt64 {
    guard system.architecture == .arm64 else { return 0 }
    // Simulators on Intel say a mask of all bits, which would leave nothing.
    if let mask = system.addressMask, mask != 0, mask != .max { return mask }
    let highest = modules.compactMap { module in
      module.address.flatMap { address in module.size.map { address.addingReportingOverflow($0) } }
    }.filter { !$0.overflow }.map(\.partialValue).max()
    guard let highest, highest > 0 else { return 0 }
    // No address of a process is above 47 bits on iOS and 48 on Linux.
    let bits = max(39, 64 - highest.leadingZeroBitCount)
    return bits < 48 ? ~0 << UInt64(bits) : ~0 << 48
  }

  fileprivate func crashedFirst(_ threads: Symbolization.Threads) -> [(
    index: Int?, thread: (thread: ThreadSnapshot, isCrashed: Bool)?
  )] {
    let crashed = crashedThread
    var order: [(index: Int?, thread: (thread: ThreadSnapshot, isCrashed: Bool)?)] = []
    if let crashed {
      order.append((crashed, (self.threads[crashed], true)))
    } else if exception?.context != nil, report == nil {
      order.append((nil, nil))
    }
    if case .one(let index) = threads {
      if index == crashed { return order }
      return self.threads.indices.contains(index) ? [(index, (self.threads[index], false))] : []
    }
    guard threads == .all || order.isEmpty else { return order }
    return order + self.threads.indices.filter { $0 != crashed }.map { ($0, (self.threads[$0], false)) }
  }

  /// The return addresses that an uncaught NSException carries: a stack that begins at address 0, made of them. Every other
  /// word is a frame pointer, and the first instruction is in the context. Nil of a captured stack.
  fileprivate func prewalkedAddresses(_ thread: ThreadSnapshot?, _ context: CPUContext?, _ file: InputFile) -> [UInt64]?
  {
    guard let stack = thread?.stack, stack.isSynthetic || (stack.region.address == 0 && !stack.region.content.isEmpty),
      let context, context.stackPointer == 0, context.instructionPointer != 0
    else { return nil }
    var addresses = [context.instructionPointer]
    if case .arm64(let registers) = context, registers.lr != 0 { addresses.append(registers.lr) }
    file.withBytes { input in
      withBytes(of: stack.region.content, in: input) { bytes in
        var offset = 16
        while offset + 8 <= bytes.byteCount {
          let address = bytes.uint64(at: offset)
          if address == 0 { break }
          addresses.append(address)
          offset += 16
        }
      }
    }
    return addresses
  }
}
