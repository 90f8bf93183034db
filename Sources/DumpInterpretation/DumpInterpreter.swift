// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import IntermediateDump
package import CrashpadSnapshot

/// Interprets an intermediate dump like Crashpad's `ProcessSnapshotIOSIntermediateDump`. A dump with the map kLinux is
/// from a Linux process, which Crashpad does not support.
package struct DumpInterpreter: Sendable {
  package struct Options: Sendable {
    /// Overrides the architecture of the dump. Only arm64 and x86_64 have intermediate dumps.
    package var architecture: CPUArchitecture?
    /// Whether to use the most likely architecture, or else arm64 like every iOS device, with a finding, if the dump
    /// does not determine it. If false, such a dump is rejected.
    package var guessesArchitecture = false
    /// Process annotations from the caller; they replace annotations of the dump with the same name.
    package var annotations: [(name: String, value: String)] = []
    package var reportID = UUIDBytes.zero
    package var clientID = UUIDBytes.zero
    package var limits = Limits()

    package init() {}
  }

  /// The result of an interpretation.
  package struct Interpretation: Sendable {
    /// Nil if the dump was rejected; the last error finding has the reason.
    package let snapshot: ProcessSnapshot?
    package let findings: FindingList
  }

  var snapshot: ProcessSnapshot
  var findings: FindingList
  let tree: DumpTree
  let options: Options
  let architecture: CPUArchitecture
  /// Whether the dump is from a Linux process, not from an iOS app.
  let isLinux: Bool

  /// The maximum number of threads, and of modules; further ones are dropped, with a finding. Each uses some hundred
  /// bytes of memory, but an empty one takes only two bytes of a hostile file. Real threads take at least 900 bytes,
  /// modules some hundred.
  let maximumEntries: Int

  /// Interprets `tree`, which was read from `bytes`.
  package static func interpret(_ tree: DumpTree, in bytes: RawSpan, options: Options = Options()) -> Interpretation {
    var findings = FindingList(limit: options.limits.maximumFindings)
    if let incomplete = tree.incomplete { findings.append(incomplete) }
    func rejected(_ finding: Finding?) -> Interpretation {
      if let finding { findings.append(finding) }
      return Interpretation(snapshot: nil, findings: findings)
    }
    // These checks are in Crashpad's order, so that the reason for a rejection is the same.
    if tree.isEmpty { return rejected(tree.incomplete == nil ? Finding(InterpretationRules.emptyDump) : nil) }
    let root = RootFields(tree, bytes)
    guard root.version.uint8(in: bytes) == 1 else {
      return rejected(
        Finding(
          InterpretationRules.noVersion, at: root.version.record?.offset, expected: .number(1),
          found: root.version.uint8(in: bytes).map { .number(UInt64($0)) }))
    }
    guard let processInfo = root.processInfo.map else {
      return rejected(
        Finding(InterpretationRules.noProcessInfo, at: root.processInfo.record?.offset))
    }
    guard let systemInfo = root.systemInfo.map else {
      return rejected(
        Finding(InterpretationRules.noSystemInfo, at: root.systemInfo.record?.offset))
    }
    let isLinux = tree.isOfLinux(in: bytes)
    let evidence = ArchitectureEvidence(tree, root, isLinux: isLinux, bytes)
    guard let architecture = Self.architecture(from: evidence, options, &findings) else { return rejected(nil) }

    var interpreter = DumpInterpreter(
      snapshot: ProcessSnapshot(system: SystemSnapshot(architecture: architecture, operatingSystem: .ios)),
      findings: findings, tree: tree, options: options, architecture: architecture, isLinux: isLinux,
      maximumEntries: bytes.byteCount / 512 + 16384)
    interpreter.snapshot.isComplete = tree.incomplete == nil
    interpreter.snapshot.reportID = options.reportID
    interpreter.snapshot.clientID = options.clientID
    // There may be hundreds of thousands, and an array that grows touches twice the memory.
    interpreter.snapshot.extraMemory.reserveCapacity(tree.maximumRegions(in: bytes))
    interpreter.readSystem(systemInfo, bytes)
    let capture = isLinux ? interpreter.readLinux(root, bytes) : [:]
    interpreter.readProcess(processInfo, capture, bytes)
    if let threads = root.threads.array { interpreter.readThreads(threads, bytes) }
    if let modules = root.modules.array { interpreter.readModules(modules, bytes) }
    if isLinux { interpreter.completeModuleNames(bytes) }
    let hasException = interpreter.readException(root, bytes)
    // The exception is the last part of a dump.
    let lacksException = interpreter.snapshot.exception == nil
    interpreter.snapshot.hasLostException = lacksException && tree.incomplete != nil
    if isLinux { interpreter.arrangeModules(root.linux.map, bytes) }
    return Interpretation(snapshot: hasException ? interpreter.snapshot : nil, findings: interpreter.findings)
  }

  private static func architecture(
    from evidence: ArchitectureEvidence, _ options: Options, _ findings: inout FindingList
  ) -> CPUArchitecture? {
    if let architecture = options.architecture { return architecture }
    if let architecture = evidence.decided {
      if evidence.isMixed {
        findings.append(
          Finding(InterpretationRules.mixedArchitecture, path: "kThreads", found: .text(architecture.rawValue)))
      }
      return architecture
    }
    let guess = evidence.guess
    if options.guessesArchitecture {
      let architecture = guess ?? .arm64
      findings.append(Finding(InterpretationRules.guessedArchitecture, found: .text(architecture.rawValue)))
      return architecture
    }
    findings.append(
      Finding(InterpretationRules.unknownArchitecture, found: guess.map { .text("it looks like \($0.rawValue)") }))
    return nil
  }
}
