// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadSnapshot

/// The rules for the snapshot of a process, for every format. Codes are stable; crashpadctl-validate(1) has a
/// section for each.
package enum SnapshotRules {
  package static let noThreads = Rule("no-threads", .warning, "The dump has no threads")
  package static let noModules = Rule("no-modules", .warning, "The dump has no modules")
  package static let noException = Rule(
    "no-exception", .note, "The dump has no exception; its process may not have crashed")
  package static let exceptionThreadMissing = Rule(
    "exception-thread-missing", .warning, "The thread of the exception is not in the thread list")
  package static let duplicateThread = Rule("duplicate-thread", .warning, "Two threads have the same id")
  package static let threadIDCollision = Rule(
    "thread-id-collision", .note, "Thread ids differ only above 32 bits; a minidump numbers the threads anew")
  package static let stackPointerOutside = Rule(
    "stack-pointer-outside", .note, "The stack pointer is outside the captured stack")
  package static let overlappingStacks = Rule("overlapping-stacks", .warning, "The stacks of two threads overlap")
  package static let overlappingModules = Rule("overlapping-modules", .warning, "Two modules overlap in memory")
  package static let memoryWraps = Rule("memory-wraps", .warning, "A memory range reaches beyond the end of memory")
  package static let moduleWithoutName = Rule("module-without-name", .warning, "A module has no name")
  package static let moduleWithoutIdentity = Rule(
    "module-without-identity", .note, "A module has no UUID or build id, so no symbols are found for it")
  package static let timeOrder = Rule("time-order", .warning, "The process started after it was captured")

  package static let all = [
    noThreads, noModules, noException, exceptionThreadMissing, duplicateThread, threadIDCollision, stackPointerOutside,
    overlappingStacks, overlappingModules, memoryWraps, moduleWithoutName, moduleWithoutIdentity, timeOrder,
  ]
}

/// Finds what contradicts itself in a snapshot.
struct SnapshotChecks {
  private let snapshot: ProcessSnapshot
  private(set) var findings: FindingList

  init(_ snapshot: ProcessSnapshot, limits: Limits) {
    self.snapshot = snapshot
    findings = FindingList(limit: limits.maximumFindings)
    checkThreads()
    checkModules()
    checkMemory()
    if snapshot.exception == nil, isOfCrash { findings.append(Finding(SnapshotRules.noException)) }
    if let start = snapshot.startTime?.seconds, let end = snapshot.snapshotTime?.seconds, start > end {
      findings.append(Finding(SnapshotRules.timeOrder))
    }
  }

  /// Reports of other kinds have no exception, and lists of processes no threads.
  private var isOfCrash: Bool { snapshot.report.map { $0.kind == .crash } ?? true }
  private var hasModules: Bool {
    snapshot.report.map { $0.jetsam == nil && $0.panic == nil && $0.kind != .jetsam } ?? true
  }

  private mutating func checkThreads() {
    if snapshot.threads.isEmpty, snapshot.report == nil { findings.append(Finding(SnapshotRules.noThreads)) }
    var ids: Set<UInt64> = []
    var lowIDs: Set<UInt32> = []
    for (index, thread) in snapshot.threads.enumerated() {
      if let id = thread.id {
        if !ids.insert(id).inserted {
          findings.append(Finding(SnapshotRules.duplicateThread, path: "threads[\(index)]", found: .number(id)))
        } else if !lowIDs.insert(UInt32(truncatingIfNeeded: id)).inserted {
          findings.append(Finding(SnapshotRules.threadIDCollision, path: "threads[\(index)]", found: .number(id)))
        }
      }
      checkStackPointer(of: thread, index)
    }
    if let exception = snapshot.exception, snapshot.crashedThread == nil, snapshot.report == nil {
      findings.append(Finding(SnapshotRules.exceptionThreadMissing, found: .number(exception.threadID)))
    }
    checkOverlaps(
      SnapshotRules.overlappingStacks, "threads",
      snapshot.threads.map { thread in
        guard let region = thread.stack?.region, thread.stack?.isSynthetic == false else { return nil }
        return (region.address, UInt64(region.content.count))
      })
  }

  private mutating func checkStackPointer(of thread: ThreadSnapshot, _ index: Int) {
    guard let context = thread.context, let stack = thread.stack, !stack.isSynthetic, !stack.region.content.isEmpty,
      let end = stack.region.end
    else { return }
    let pointer = context.stackPointer
    if pointer < stack.region.address || pointer > end {
      findings.append(
        Finding(SnapshotRules.stackPointerOutside, path: "threads[\(index)]", found: .address(pointer)))
    }
  }

  private mutating func checkModules() {
    if snapshot.modules.isEmpty, hasModules { findings.append(Finding(SnapshotRules.noModules)) }
    for (index, module) in snapshot.modules.enumerated() {
      if snapshot.report != nil, module.isAbsolute { continue }
      if (module.name ?? .empty).isEmpty {
        findings.append(Finding(SnapshotRules.moduleWithoutName, path: "modules[\(index)]"))
      }
      if module.identity == nil, module.oldPDB == nil {
        findings.append(Finding(SnapshotRules.moduleWithoutIdentity, path: "modules[\(index)]"))
      }
    }
    checkOverlaps(
      SnapshotRules.overlappingModules, "modules",
      snapshot.modules.map { module in
        guard let address = module.address, let size = module.size else { return nil }
        return (address, size)
      })
  }

  private mutating func checkMemory() {
    // A region whose last byte is the last of the address space does not wrap.
    for (index, region) in snapshot.extraMemory.enumerated()
    where region.address.addingReportingOverflow(UInt64(max(region.content.count, 1)) - 1).overflow {
      findings.append(
        Finding(SnapshotRules.memoryWraps, path: "memory[\(index)]", found: .address(region.address)))
    }
  }

  private mutating func checkOverlaps(_ rule: Rule, _ path: String, _ ranges: [(address: UInt64, size: UInt64)?]) {
    let order = ranges.indices.filter { (ranges[$0]?.size ?? 0) > 0 }
      .sorted { ranges[$0]!.address < ranges[$1]!.address }
    // The range so far that reaches furthest: it is the one that a later range may lie inside of.
    var furthest: (index: Int, last: UInt64)?
    for index in order {
      guard let range = ranges[index] else { continue }
      // The last byte, which may be the last of the address space.
      let (last, overflow) = range.address.addingReportingOverflow(range.size - 1)
      if overflow {
        findings.append(
          Finding(SnapshotRules.memoryWraps, path: "\(path)[\(index)]", found: .address(range.address)))
      }
      if let furthest, furthest.last >= range.address {
        findings.append(
          Finding(rule, path: "\(path)[\(index)]", found: .text("overlaps \(path)[\(furthest.index)]")))
      }
      if furthest.map({ last > $0.last }) ?? true || overflow { furthest = (index, overflow ? .max : last) }
    }
  }
}
