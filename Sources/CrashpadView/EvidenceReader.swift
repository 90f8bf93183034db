// SPDX-License-Identifier: Apache-2.0
internal import CrashpadCore
package import CrashpadFiles
package import CrashpadMeaning
package import CrashpadSignatures
package import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText

/// Extracts texts and symbolicated stacks from a snapshot.
package struct EvidenceReader: Sendable {
  package let evidence: CrashEvidence
  package let symbolization: Symbolization
  package let symbolFindings: [SymbolFileFinding]
  /// For each module, whether it belongs to the application.
  package let isOfApp: [Bool]
  /// Nil if it was neither known nor requested.
  package let signature: Signature?

  /// - Parameters:
  ///   - known: the stacks of all threads, if they are known already.
  ///   - signatures: nil for no signature; the evidence then names the first function of the program that may be a cause.
  ///   - signature: the signature, if it is known already.
  package init(
    _ snapshot: ProcessSnapshot, _ input: InputFile, _ cache: SymbolCache, _ known: Symbolization? = nil,
    signatures: SignatureOptions?, signature: Signature? = nil
  ) {
    func text(_ content: SnapshotBytes?) -> String? {
      guard let content, !content.isEmpty else { return nil }
      return input.withBytes { snapshot.text(content, in: $0) }
    }
    let paths = snapshot.modules.map { text($0.name) ?? text($0.debugName) ?? "" }
    let executable = snapshot.executableIndex
    let processName = snapshot.report?.processName ?? executable.map { lastPathComponent(paths[$0]) }
    let own = OwnModules(snapshot, additional: signatures?.inApp ?? [])
    isOfApp = paths.enumerated().map { own.contains($0, path: $1) }
    let reader = FrameReader(
      names: paths.map { TextFormat.printable(lastPathComponent($0)) },
      unloadedNames: snapshot.unloadedModules.map { TextFormat.printable(lastPathComponent(text($0.name) ?? "")) },
      isOfApp: isOfApp)

    let result = known ?? Symbolization(snapshot, input, cache, threads: Self.needed(snapshot))
    symbolization = result
    symbolFindings = result.modules.fileFindings
    self.signature = signature ?? signatures.map { Signature(snapshot, input, result, $0) }
    let anchor = self.signature?.anchor
    let ended = result.endedByHandler(snapshot)
    var threads: [CrashEvidence.Thread] = []
    var crashed: Int?
    for thread in result.threads.sorted(by: { ($0.index ?? .max) < ($1.index ?? .max) }) {
      if thread.isCrashed, snapshot.exception != nil || snapshot.report?.faultingThread != nil {
        crashed = threads.count
      }
      let known = thread.index.map { snapshot.threads[$0] }
      var made = CrashEvidence.Thread(
        index: thread.index ?? threads.count, number: known?.number, name: text(known?.name),
        queue: text(known?.queue), frames: thread.frames.flatMap { reader.frames($0) }, elided: known?.elided ?? [])
      if let anchor, anchor.stack == .thread(thread.index) { made.fault = anchor.line }
      if thread.isCrashed, let ended {
        let depth = thread.frames[...ended.frame].reduce(0) { $0 + $1.lineCount }
        made.frames.removeFirst(depth)
        (made.handlerDepth, made.fault) = (depth, made.fault.flatMap { $0 < depth ? nil : $0 - depth })
      }
      threads.append(made)
    }
    var messages = Self.messages(snapshot, text)
    if ended == nil, let message = result.abortMessage(snapshot, input) { messages.append(message.text) }
    var evidence = CrashEvidence(
      exception: (ended?.snapshot ?? snapshot).exception, system: snapshot.system, report: snapshot.report,
      processName: processName,
      processID: snapshot.processID.map { Int64($0) }, threads: threads, crashed: crashed,
      lastException: result.lastException.flatMap { reader.frames($0) },
      lastFault: anchor.flatMap { $0.stack == .lastException ? $0.line : nil }, messages: messages,
      isCut: !snapshot.isComplete)
    evidence.hasLostException = snapshot.hasLostException
    evidence.lacksModulePlaces = !snapshot.modules.contains { $0.address != nil }
    evidence.listsModules = !snapshot.modules.isEmpty
    evidence.lacksStackForHandler = snapshot.lacksStackForHandler
    evidence.handlerSignal = ended == nil ? nil : snapshot.exception?.code
    if let thread = result.threads.first(where: \.isCrashed) {
      let memory = ListedMemory(snapshot, input)
      evidence.earlierFaults = result.earlierFaults(snapshot).compactMap { earlier in
        let frame = thread.frames[...earlier.frame].reduce(0) { $0 + $1.lineCount }
        return earlier.snapshot.exception.map {
          .init(exception: $0, frame: frame, isRepaired: earlier.isRepaired(in: memory.ranges))
        }
      }
    }
    evidence.branch = Self.branch(snapshot, input, result)
    if let addresses = Self.addresses(snapshot, input, result) {
      evidence.hiddenAddress = addresses.first { !$0.isCanonical }
      evidence.usesReportedAddress = snapshot.exception.map { addresses.contains($0.address) } ?? false
    }
    if let top = result.threads.first(where: \.isCrashed)?.frames.first?.frame, top.module == nil {
      let ranges = ListedMemory(snapshot, input).ranges ?? []
      if let index = ListedMemory.index(of: top.instruction, in: ranges), !ranges[index].isFree {
        evidence.counterProtection = ranges[index].protection
      }
    }
    self.evidence = evidence
  }

  /// The threads whose stacks tell of the crash. What other threads did matters where a report tells of a watchdog, a hang or a lock;
  /// and the last thread of a dump that is cut may lack frames.
  private static func needed(_ snapshot: ProcessSnapshot) -> Symbolization.Threads {
    snapshot.report == nil && snapshot.exception != nil && snapshot.isComplete ? .crashed : .all
  }

  /// The branch at which the processor refused an address; nil if it refused another, or the code is not known.
  private static func branch(_ snapshot: ProcessSnapshot, _ input: InputFile, _ stacks: Symbolization) -> FaultyBranch?
  {
    guard let exception = snapshot.exception, exception.isGeneralProtection, snapshot.report == nil,
      case .x86_64(let registers)? = exception.context, let code = code(snapshot, input, stacks)
    else { return nil }
    let memory = WalkedMemory(snapshot, input)
    return FaultyBranch(code, registers) { memory.word($0) }
  }

  /// The addresses that the instruction of the crash uses, where the processor may have refused one without reporting it; nil if they
  /// can't be known.
  private static func addresses(_ snapshot: ProcessSnapshot, _ input: InputFile, _ stacks: Symbolization) -> [UInt64]? {
    guard let exception = snapshot.exception, exception.mayHideAddress(on: snapshot.system.architecture),
      snapshot.report == nil, let context = exception.context
    else { return nil }
    // Code is fetched from there.
    if context.instructionPointer == exception.address { return [exception.address] }
    let memory = WalkedMemory(snapshot, input)
    // A jump is told by its own evidence.
    return code(snapshot, input, stacks).flatMap { CrashedInstruction($0, context, memory: memory.word) }?
      .accesses?.map(\.address)
  }

  /// The bytes at the program counter of the crash, from the dump or the program's file.
  private static func code(_ snapshot: ProcessSnapshot, _ input: InputFile, _ stacks: Symbolization) -> [UInt8]? {
    guard case .x86_64(let registers)? = snapshot.exception?.context,
      let top = stacks.threads.first(where: \.isCrashed)?.frames.first?.frame
    else { return nil }
    let memory = WalkedMemory(snapshot, input)
    let words = [registers.rip, registers.rip &+ 8].map { memory.word($0) }
    let captured = words.prefix { $0 != nil }.flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: (word ?? 0) >> (8 * $0)) }
    }
    if !captured.isEmpty { return captured }
    return top.module.flatMap { module in
      top.moduleOffset.flatMap { stacks.modules[module].symbols?.code(around: $0, before: 0, after: 15)?.bytes }
    }
  }

  private static func messages(_ snapshot: ProcessSnapshot, _ text: (SnapshotBytes?) -> String?) -> [String] {
    var messages = snapshot.report?.messages.map(\.statement) ?? []
    if let text = snapshot.report?.exceptionMessage, EvidenceSearch.all.message(text) != nil { messages.append(text) }
    let signatures = snapshot.report?.fields.filter { $0.name == "Application Specific Signatures" } ?? []
    messages += signatures.map(\.value)
    for module in snapshot.modules { messages += module.messages.compactMap { text($0) } }
    for annotation in snapshot.annotations {
      guard let value = text(annotation.value), EvidenceSearch.all.message(value) != nil else { continue }
      messages.append(value)
    }
    // Crashpad's client on iOS keeps the reason of an exception that nothing caught.
    for module in snapshot.modules {
      let named =
        module.simpleAnnotations.map { ($0.name, $0.value) } + module.annotationObjects.map { ($0.name, $0.value) }
      messages += named.filter { text($0.0) == "exceptionReason" }.compactMap { text($0.1) }
    }
    return messages
  }
}

/// Creates the frames of the evidence.
private struct FrameReader {
  /// The modules' names without directories.
  let names: [String]
  let unloadedNames: [String]
  let isOfApp: [Bool]

  /// A frame and the calls inlined into it.
  func frames(_ frame: Symbolization.Frame) -> [CrashEvidence.Frame] {
    let module = frame.frame.module
    // A report's name for code that is far behind it is of another function.
    let isNamed = frame.frame.trust != .prewalked || frame.symbol?.isNearest != true
    let functions = isNamed ? frame.symbol?.frames ?? [] : []
    func make(_ function: SymbolizedAddress.Frame?) -> CrashEvidence.Frame {
      // Compilers give line 0 to code that is of no line.
      let line = function?.source.flatMap { $0.line > 0 ? ":\($0.line)" : nil } ?? ""
      let location = function?.sourceName.map { $0 + line }
      var made = CrashEvidence.Frame(
        function: SymbolizedAddress.line(function), module: module.map { names[$0] },
        offset: frame.frame.moduleOffset,
        location: location,
        isOfApp: module.map { isOfApp[$0] } ?? (function?.location?.file.map(OwnSources.contains) == true))
      // Many texts have names alone, whose frames have the address 0.
      let isNamedOnly = frame.frame.trust == .prewalked && frame.frame.instruction == 0 && function != nil
      if !isNamedOnly { made.address = frame.frame.instruction }
      if frame.frame.trust == .prewalked, let start = frame.symbol?.functionAddress {
        made.distance = (frame.frame.moduleOffset ?? frame.frame.instruction) &- start
      }
      return made
    }
    if let place = frame.unloaded.first {
      return [
        CrashEvidence.Frame(
          function: nil, module: "\(unloadedNames[place.module]) (unloaded)", offset: place.offset, location: nil,
          isOfApp: false, isUnloaded: true)
      ]
    }
    return frame.tailCalls.map { make($0.function) } + (functions.isEmpty ? [make(nil)] : functions.map { make($0) })
  }
}

extension CrashView {
  private static let withoutSymbols = SymbolCache(SymbolSearch(paths: [], looksInSystem: false))

  /// The sentence with which `explain` begins. A report lists the frames of all threads, and its explanation may rest on another
  /// thread than the crashed one, so these are read without symbols.
  package var summary: String {
    let stacks =
      symbolization.flatMap { snapshot.report == nil ? $0 : nil }
      ?? Symbolization(
        snapshot, dump.file, Self.withoutSymbols, threads: snapshot.report == nil ? .crashed : .all)
    return TextFormat.printable(
      Explanation(EvidenceReader(snapshot, dump.file, Self.withoutSymbols, stacks, signatures: nil).evidence).summary)
  }

  /// The evidence in the stacks that were walked.
  package func evidence(_ cache: SymbolCache, _ signatures: SignatureOptions) -> EvidenceReader {
    EvidenceReader(snapshot, dump.file, cache, symbolization, signatures: signatures, signature: signature)
  }
}
