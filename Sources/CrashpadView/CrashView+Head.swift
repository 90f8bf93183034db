// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadEvents
package import CrashpadSignatures
package import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText

/// The facts that a person asks for first: which program on which machine, when, and in which state.
extension CrashView {
  /// A short fact with what it is.
  package struct HeadFact: Sendable, Hashable {
    package let label: String
    package let value: String
  }

  /// The facts that are known, in the order in which people ask.
  package var headFacts: [HeadFact] {
    let facts = CrashFacts(
      snapshot, dump.file, by: .process, input: "", sharedID: nil, displayed: { TextFormat.printable($0) })
    let program = facts.program.map { TextFormat.printable($0) } ?? snapshot.executableIndex.map { moduleName($0) }
    let hasSystem = snapshot.system.operatingSystem != .unknown || osVersion != nil
    let values: [(String, String?)] = [
      ("Program", program), ("Version", facts.version), ("Device", line(snapshot.system.machine)),
      ("System", hasSystem ? systemLine : nil), ("Time", when),
      ("Running for", uptime.flatMap { $0 > 0 ? TextFormat.duration(seconds: $0) : nil }), ("State", state),
      ("Thread", crashedStack.map(name)),
    ]
    return values.compactMap { label, value in value.map { HeadFact(label: label, value: $0) } }
  }

  /// Such as "foreground"; nil where the input does not say, and where programs have no background.
  private var state: String? {
    if let role = snapshot.report?.role, !role.isEmpty { return TextFormat.printable(role) }
    guard snapshot.system.operatingSystem != .linux else { return nil }
    return snapshot.isForeground(dump.file).map { $0 ? "foreground" : "background" }
  }

  private func name(_ stack: Stack) -> String {
    let number = stack.number ?? stack.thread
    let name = stack.queue ?? stack.name
    return [number.map { String($0) }, name].compactMap { $0 }.joined(separator: ", ")
  }

  // MARK: Signatures

  /// The parts of the signature: the kind, the function at fault, and the one beside it.
  package var signatureParts: SignatureParts? { signature.map { SignatureParts($0.text) } }

  /// The objects that the threads of stacks wait for, in their order: conclusions from the names of frames.
  package func waits(_ stacks: [Stack], _ options: SignatureOptions) -> [ThreadWait?] {
    ThreadWait.all(stacks.map(\.frames), snapshot, dump.file, options)
  }

  /// The threads that wait for others, as the report states it.
  package func blockers(of thread: Int) -> [ReportBlocker] {
    snapshot.report?.blockers.filter { $0.thread == thread } ?? []
  }
}
