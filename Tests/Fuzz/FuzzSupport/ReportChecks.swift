// SPDX-License-Identifier: Apache-2.0
package import CrashpadAppleReports
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Every index and every range of a report's snapshot lies inside, and what is refused has a reason.
///
/// - Parameter count: bytes of the input.
package func checkReport(_ reading: ReportReading, _ count: Int) {
  for finding in reading.findings { precondition(finding.offset.map { $0 <= count } ?? true) }
  guard let snapshot = reading.snapshot else {
    precondition(!reading.findings.isEmpty, "refused without a reason")
    return
  }
  if let thread = snapshot.report?.faultingThread { precondition(snapshot.threads.indices.contains(thread)) }
  let frames = snapshot.threads.flatMap { $0.frames ?? [] } + (snapshot.report?.lastException ?? [])
  for case .some(let module) in frames.map(\.module) { precondition(snapshot.modules.indices.contains(module)) }
  let contents =
    snapshot.threads.flatMap { [$0.name, $0.queue] } + snapshot.modules.flatMap { [$0.name, $0.debugName] }
  for case .some(let content) in contents {
    precondition(content.offset + content.count <= (content.isInArena ? snapshot.arena.count : count))
  }
}
