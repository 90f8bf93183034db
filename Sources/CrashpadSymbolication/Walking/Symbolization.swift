// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// The stacks of one snapshot with names, and the symbols of its modules.
package struct Symbolization: Sendable {
  package enum Threads: Sendable, Equatable {
    /// The thread that crashed; all threads if none did.
    case crashed
    case all
    /// The thread at this index in the snapshot; none if there is no such thread.
    case one(Int)
  }

  package struct Frame: Sendable {
    package internal(set) var frame: StackFrame
    /// The symbol at the frame; nil if unknown. Its last function is the compiled one.
    package internal(set) var symbol: SymbolizedAddress?
    /// The places of a frame outside all modules in those that were unloaded before.
    package var unloaded: [UnloadedModuleMap.Place] = []
    /// The code of no module that a perf map of the process's id has at the frame: an inference.
    package var inferred: SymbolizedAddress?
    /// The functions between this one and the frame above, which ended with jumps; the innermost first.
    package internal(set) var tailCalls: [TailCall] = []

    /// The lines that it takes in a stack: those of functions that ended with jumps, of inlined calls, and its own at last.
    package var lineCount: Int { tailCalls.count + max(1, (symbol ?? inferred)?.frames.count ?? 0) }
  }

  package struct Thread: Sendable {
    /// The index in the snapshot's list; nil if the thread of the exception is not in that list.
    package let index: Int?
    package let isCrashed: Bool
    package let frames: [Frame]
    package let end: WalkEnd
    /// The registers at the start of the walk.
    package let context: CPUContext?
  }

  package struct Module: Sendable {
    /// The index in the snapshot's list.
    package let index: Int
    package let identity: ModuleIdentity
    /// Nil if they were not needed.
    package internal(set) var symbols: ModuleSymbols?

    /// Whether a file should have its symbols, and none was found. All commands ask this.
    package var lacksSymbols: Bool { symbols?.isFound != true && identity.symbolObstacle == nil }

    /// Whether none was found, and there may be one all the same: not all places could be asked.
    package var mayHaveSymbols: Bool { lacksSymbols && symbols?.hasOpenQuestions == true }
  }

  /// The threads, with the crashed one first.
  package let threads: [Thread]
  /// The stack of the exception that led to a crash, if a report contains it in addition to the threads.
  package let lastException: [Frame]
  /// The modules, in the order of the snapshot.
  package let modules: [Module]

  /// - Parameter allModules: whether to search also the symbols of modules without frames.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ cache: SymbolCache, threads: Threads, allModules: Bool = false,
    limits: StackWalker.Limits = StackWalker.Limits()
  ) {
    let identities = snapshot.modules.map { ModuleIdentity($0, snapshot, file) }
    let lazies = zip(identities, snapshot.modules).map { identity, module in
      LazySymbols(identity, cache) { snapshot.kernelImage(module, file) }
    }
    let walked: [WalkedModule] = snapshot.modules.enumerated().compactMap { index, module in
      guard let address = module.address, let size = module.size, size > 0 else { return nil }
      return WalkedModule(
        index: index, address: address, size: size, symbols: lazies[index],
        isOfKernel: identities[index].symbolObstacle == .kernel)
    }
    let walker = StackWalker(
      modules: walked, StackWalker.Process(snapshot, file, addressMask: snapshot.codeAddressMask), limits: limits)

    if cache.search.asksServers {
      let certain = allModules ? Set(identities.indices) : snapshot.modulesOfFrames(threads)
      cache.prepare(certain.sorted().map { identities[$0] })
    }
    let unloaded = UnloadedModuleMap(snapshot.unloadedModules)
    let name = { (module: Int, offset: UInt64) in lazies[module].symbols.symbolize(offset) }
    let madeCode = snapshot.processID.flatMap { cache.search.perfMap($0) }
    var framesLeft = limits.allFrames
    self.threads = snapshot.crashedFirst(threads).map { index, thread in
      let context =
        (index == nil || thread?.isCrashed == true ? snapshot.exception?.context : nil) ?? thread?.thread.context
      var (frames, end): ([Frame], WalkEnd)
      if let recorded = thread?.thread.frames {
        (frames, end) = (RecordedStack(recorded, demangled: cache.demangled, name).frames, .recorded)
      } else {
        let walk = Self.walk(thread?.thread, context, snapshot, file, walker, most: framesLeft)
        framesLeft -= walk.frames.count
        frames = walk.frames.map { frame in
          Frame(
            frame: frame, symbol: frame.module.flatMap { module in frame.lookupOffset.flatMap { name(module, $0) } },
            unloaded: frame.module == nil ? unloaded.places(at: frame.lookupAddress) : [],
            inferred: frame.module == nil ? madeCode?.symbolize(frame.lookupAddress) : nil)
        }
        for index in frames.indices.dropFirst() {
          frames[index].tailCalls = Self.tailCalls(frames[index], above: frames[index - 1]) {
            module, offset, callee, place in
            lazies[module].symbols.callPath(returningTo: offset, to: callee, at: place)
          }
        }
        end = walk.end
      }
      return Thread(
        index: index, isCrashed: thread?.isCrashed ?? true, frames: frames, end: end, context: context)
    }
    lastException =
      RecordedStack(snapshot.report?.lastException ?? [], demangled: cache.demangled, name).frames
    modules = identities.indices.map { index in
      Module(
        index: index, identity: identities[index], symbols: allModules ? lazies[index].symbols : lazies[index].known)
    }
  }

  /// The functions between a frame and the one above it. Frames that were guessed say nothing of what was called.
  private static func tailCalls(
    _ frame: Frame, above callee: Frame,
    _ path: (_ module: Int, _ offset: UInt64, _ callee: String?, _ place: UInt64?) -> [CalledFunction]
  ) -> [TailCall] {
    guard frame.frame.isCaller, ![.scan, .prewalked].contains(frame.frame.trust), !callee.frame.isSignalFrame,
      !frame.frame.isSignalFrame, callee.symbol?.isNearest == false, let module = frame.frame.module,
      let offset = frame.frame.moduleOffset
    else { return [] }
    let name = callee.symbol?.frames.last?.function
    let isElsewhere = callee.frame.module != nil && callee.frame.module != module
    return TailCall.between(
      path(module, offset, name, isElsewhere ? nil : callee.frame.lookupOffset), callee: name, isElsewhere: isElsewhere,
      isExact: frame.frame.trust == .callFrameInfo)
  }

  private static func walk(
    _ thread: ThreadSnapshot?, _ context: CPUContext?, _ snapshot: ProcessSnapshot, _ file: InputFile,
    _ walker: StackWalker, most: Int
  ) -> StackWalker.Walk {
    if let addresses = snapshot.prewalkedAddresses(thread, context, file) { return walker.walk(prewalked: addresses) }
    guard let context, let registers = FrameRegisters(context, on: snapshot.system.operatingSystem) else {
      return StackWalker.Walk(frames: [], end: .noRegisters)
    }
    return walker.walk(from: registers, isThumb: context.isThumb, most: most)
  }
}

extension ProcessSnapshot {
  /// Bits of a code pointer that are not part of the address: on arm64, those in the dump, or else the bits above all
  /// modules; otherwise none.
  package var codeAddressMask: UInt64 {
    guard system.architecture == .arm64 else { return 0 }
    // Simulators on Intel report a mask of all bits, which would leave nothing.
    if let mask = system.addressMask, mask != 0, mask != .max { return mask }
    let highest = modules.compactMap { module in
      module.address.flatMap { address in module.size.map { address.addingReportingOverflow($0) } }
    }.filter { !$0.overflow }.map(\.partialValue).max()
    guard let highest, highest > 0 else { return 0 }
    // Addresses of a process have at most 47 bits on iOS and 48 on Linux.
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

  /// The modules in which frames of these threads lie for certain, before their stacks are walked: those of listed frames, and
  /// those of the instructions at which the threads are.
  fileprivate func modulesOfFrames(_ threads: Symbolization.Threads) -> Set<Int> {
    let map = ModuleMap(modules)
    var found: Set<Int> = []
    for (_, thread) in crashedFirst(threads) {
      if let frames = thread?.thread.frames {
        found.formUnion(frames.compactMap(\.module))
      } else if let context = (thread?.isCrashed != false ? exception?.context : nil) ?? thread?.thread.context,
        let place = map.lookup(context.instructionPointer & ~codeAddressMask)
      {
        found.insert(place.module)
      }
    }
    found.formUnion((report?.lastException ?? []).compactMap(\.module))
    return found.filter { modules.indices.contains($0) }
  }

  /// The return addresses of an uncaught NSException, from a synthetic stack at address 0: every other word is a frame
  /// pointer, and the first instruction is in the context. Nil for a captured stack.
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

extension CPUContext {
  /// Whether the current instruction of arm is in the short form, by bit 5 of the program status register. Writers that take
  /// the instruction pointer from a pointer to a function leave it in bit 0.
  package var isThumb: Bool {
    guard case .named(.arm, let registers, _, _) = self else { return false }
    return instructionPointer & 1 == 1 || registers.first { $0.name == "cpsr" }.map { $0.value >> 5 & 1 == 1 } ?? false
  }

  /// The address of the current instruction: the instruction pointer without a bit for the form of the code.
  package var instructionAddress: UInt64 { architecture == .arm ? instructionPointer & ~1 : instructionPointer }
}

/// The stack of a thread whose frames are listed in the input, with the listed names unless symbols provide more.
struct RecordedStack {
  let frames: [Symbolization.Frame]

  /// Inlined calls precede the frame into which they were inlined. `demangled` returns nil for a name that is not mangled.
  init(
    _ recorded: [RecordedFrame], demangled: (String) -> String?,
    _ name: (_ module: Int, _ offset: UInt64) -> SymbolizedAddress?
  ) {
    var frames: [Symbolization.Frame] = []
    var group: [RecordedFrame] = []
    for (index, frame) in recorded.enumerated() {
      group.append(frame)
      if frame.isInlined, index + 1 < recorded.count { continue }
      frames.append(Self.frame(group, isCaller: !frames.isEmpty, demangled, name))
      group = []
    }
    self.frames = frames
  }

  private static func frame(
    _ group: [RecordedFrame], isCaller: Bool, _ demangled: (String) -> String?,
    _ name: (_ module: Int, _ offset: UInt64) -> SymbolizedAddress?
  ) -> Symbolization.Frame {
    let last = group[group.count - 1]
    let frame = StackFrame(
      instruction: last.address, isCaller: isCaller, trust: .prewalked, stackPointer: nil, module: last.module,
      moduleOffset: last.moduleOffset)
    let listed = symbol(group, demangled)
    let found = last.module.flatMap { module in frame.lookupOffset.flatMap { name(module, $0) } }
    guard let found, found.frames.last?.function != nil else {
      return Symbolization.Frame(frame: frame, symbol: listed ?? found)
    }
    // Prefer a listed name with a line to a symbol without one.
    let listsMore = found.frames.last?.location == nil && listed?.frames.last?.location != nil
    return Symbolization.Frame(frame: frame, symbol: listsMore ? listed : found)
  }

  /// Nil if the input has no names for these frames.
  private static func symbol(_ group: [RecordedFrame], _ demangled: (String) -> String?) -> SymbolizedAddress? {
    let last = group[group.count - 1]
    guard last.function != nil || last.file != nil else { return nil }
    let functions = group.map { frame in
      var function = SymbolizedAddress.Frame(
        function: frame.function,
        location: frame.file.map { SourceLocation(file: $0, line: UInt64(frame.line ?? 0), column: 0) })
      function.name = frame.function.map { demangled($0) ?? $0 }
      return function
    }
    let offset = last.moduleOffset ?? last.address
    // A distance that is longer than the file has some other number in its place. Where a line is known, more is known of the
    // function, too; but no function is as long as a library.
    let longest = last.file == nil ? longestFunction : 16 * longestFunction
    let isFar = last.functionOffset.map { $0 >= longest && $0 <= offset } ?? false
    // Some reports have the function and its offset without an address.
    return SymbolizedAddress(
      frames: functions, functionAddress: last.functionOffset.flatMap { $0 <= offset ? offset - $0 : nil },
      isNearest: isFar)
  }

  /// In bytes. Apple's reporters name the nearest exported function of a file without symbols, however far away it is. The
  /// longest functions, interpreters of byte code, are a fraction of this.
  private static let longestFunction: UInt64 = 0x40000
}
