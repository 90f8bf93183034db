// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot
internal import IntermediateDump

/// The members of the root map.
struct RootFields {
  var version = DumpField()
  var processInfo = DumpField()
  var systemInfo = DumpField()
  var threads = DumpField()
  var modules = DumpField()
  var signalException = DumpField()
  var machException = DumpField()
  var nsException = DumpField()
  var linux = DumpField()
  var capture = DumpField()

  init(_ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: tree.root)
    while let record = records.next(of: tree, in: bytes) {
      switch record.key {
      case .version: version.record = record
      case .processInfo: processInfo.record = record
      case .systemInfo: systemInfo.record = record
      case .threads: threads.record = record
      case .modules: modules.record = record
      case .signalException: signalException.record = record
      case .machException: machException.record = record
      case .nsException: nsException.record = record
      case .linux: linux.record = record
      case .capture: capture.record = record
      default: break
      }
    }
  }
}

/// The members of kMachException; kNSException has only kThreadID.
struct MachExceptionFields {
  var exception = DumpField()
  var codes = DumpField()
  var flavor = DumpField()
  var state = DumpField()
  var threadID = DumpField()

  init(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      switch record.key {
      case .exception: exception.record = record
      case .codes: codes.record = record
      case .flavor: flavor.record = record
      case .state: state.record = record
      case .threadID: threadID.record = record
      default: break
      }
    }
  }
}

/// The members of a thread's map that need interpretation.
struct ThreadFields {
  var threadState = DumpField()
  var floatState = DumpField()
  var debugState = DumpField()
  var stackAddress = DumpField()
  var stackData = DumpField()
  var exceptionFrames = DumpField()
  var contextMemory = DumpField()
  var id = DumpField()

  init(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan, also: (DumpRecord) -> Void = { _ in }) {
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      switch record.key {
      case .threadState: threadState.record = record
      case .floatState: floatState.record = record
      case .debugState: debugState.record = record
      case .stackRegionAddress: stackAddress.record = record
      case .stackRegionData: stackData.record = record
      case .threadUncaughtNSExceptionFrames: exceptionFrames.record = record
      case .threadContextMemoryRegions: contextMemory.record = record
      case .threadID: id.record = record
      default: also(record)
      }
    }
  }

  /// The three states, if all have the sizes of this architecture. Otherwise Crashpad uses none of them.
  func state(_ architecture: CPUArchitecture) -> DarwinState? {
    let layout = DarwinStateLayout.of(architecture)
    guard let thread = threadState.value(ofSize: layout.threadSize),
      let float = floatState.value(ofSize: layout.floatSize),
      let debug = debugState.value(ofSize: layout.debugSize)
    else { return nil }
    return DarwinState(thread: thread, float: float, debug: debug)
  }
}
