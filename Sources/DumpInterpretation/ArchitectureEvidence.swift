// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// Evidence in a dump for its architecture. Crashpad's is fixed at compile time; the dump does not contain it.
///
/// Thread states have different sizes on each architecture, so the states of most threads decide. If they do not,
/// because the dump is truncated before the threads or is damaged, the device model decides: all devices that run iOS
/// 11 and later are arm64. For a simulator, other facts about the system allow a guess, which the caller must request:
/// a wrong one would put wrong registers, or none, into the minidump. The dump of a Linux process contains its
/// machine's name.
struct ArchitectureEvidence {
  /// The number of facts that fit each of the two architectures.
  private struct Tally {
    var arm64 = 0
    var x86_64 = 0

    /// The architecture with the higher count; nil if they are equal.
    var winner: CPUArchitecture? { arm64 == x86_64 ? nil : (arm64 > x86_64 ? .arm64 : .x86_64) }
  }

  /// The number of threads and exceptions whose states fit one architecture.
  private var votes = Tally()
  /// The number of threads and exceptions examined.
  private var voters = 0
  private var isDevice = false
  private let isLinux: Bool
  /// The architecture of a Linux machine, from its name in uname(1).
  private var machine: CPUArchitecture?
  /// Facts about the system that are typical of one architecture.
  private var hints = Tally()

  /// The number of threads examined; further ones add nothing.
  private static let enoughThreads = 64

  init(_ tree: DumpTree, _ root: RootFields, isLinux: Bool, _ bytes: RawSpan) {
    self.isLinux = isLinux
    // An exception without a state is normal and has no vote; a thread without a state counts as a vote for neither.
    vote(ifAny: root.signalException.map.map { states(of: $0, tree, bytes) })
    vote(ifAny: root.machException.map.map { exceptionStates(of: $0, tree, bytes) })
    if let threads = root.threads.array {
      var records = tree.records(of: threads)
      var seen = 0
      while seen < Self.enoughThreads, let record = records.next(of: tree, in: bytes) {
        vote(states(of: record.node, tree, bytes))
        seen += 1
      }
    }
    if let system = root.systemInfo.map { countHints(of: system, tree, bytes) }
  }

  /// The architecture of most threads, or else of the machine or device; nil if undecided.
  var decided: CPUArchitecture? {
    if max(votes.arm64, votes.x86_64) * 2 > voters { return votes.winner }
    if isLinux, let machine { return machine }
    return isDevice && votes.x86_64 == 0 ? .arm64 : nil
  }

  /// The architecture that most evidence suggests; nil if there is none.
  var guess: CPUArchitecture? { votes.winner ?? hints.winner }

  var isMixed: Bool { votes.arm64 > 0 && votes.x86_64 > 0 }

  private mutating func vote(ifAny states: Tally?) {
    if let states, states.winner != nil { vote(states) }
  }

  private mutating func vote(_ states: Tally) {
    voters += 1
    switch states.winner {
    case .arm64: votes.arm64 += 1
    case .x86_64: votes.x86_64 += 1
    default: break
    }
  }

  private func states(of node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) -> Tally {
    let fields = ThreadFields(node, tree, bytes)
    func fits(_ architecture: CPUArchitecture) -> Int {
      let layout = DarwinStateLayout.of(architecture)
      return (fields.threadState.value?.count == layout.threadSize ? 1 : 0)
        + (fields.floatState.value?.count == layout.floatSize ? 1 : 0)
        + (fields.debugState.value?.count == layout.debugSize ? 1 : 0)
    }
    return Tally(arm64: fits(.arm64), x86_64: fits(.x86_64))
  }

  private func exceptionStates(of node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) -> Tally {
    let fields = MachExceptionFields(node, tree, bytes)
    guard let flavor = fields.flavor.uint32(in: bytes), let size = fields.state.value?.count else { return Tally() }
    func fits(_ architecture: CPUArchitecture) -> Int {
      guard let (part, isUnified) = DarwinStateLayout.part(ofFlavor: flavor, architecture) else { return 0 }
      return size == DarwinStateLayout.of(architecture).size(of: part) + (isUnified ? 8 : 0) ? 1 : 0
    }
    return Tally(arm64: fits(.arm64), x86_64: fits(.x86_64))
  }

  /// Arm64 devices have pages of 16 KiB and no CPU vendor; Intel systems have pages of 4 KiB and a vendor.
  private mutating func countHints(of node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      guard record.kind == .property else { continue }
      let value = record.value
      switch record.key {
      case .pageSize where value.count == 8:
        switch bytes.uint64(at: value.offset) {
        case 16384: hints.arm64 += 1
        case 4096: hints.x86_64 += 1
        default: break
        }
      case .machineDescription:
        let model = bytes.text(in: ByteRange(offset: value.offset, count: min(value.count, 16)))
        machine = model == "x86_64" ? .x86_64 : model == "aarch64" ? .arm64 : nil
        isDevice = ["iPhone", "iPad", "iPod", "AppleTV", "Watch", "RealityDevice"].contains { model.hasPrefix($0) }
      case .cpuVendor:
        switch bytes.text(in: ByteRange(offset: value.offset, count: min(value.count, 16))) {
        case "GenuineIntel", "AuthenticAMD": hints.x86_64 += 2
        default: break
        }
      case .addressMask where value.count == 8 && bytes.uint64(at: value.offset) != 0:
        hints.arm64 += 1
      default: break
      }
    }
  }
}
