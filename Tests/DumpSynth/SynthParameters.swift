// SPDX-License-Identifier: Apache-2.0
/// The processors that iOS and its simulator run on.
public enum SynthArchitecture: String, CaseIterable, Sendable {
  case arm64
  case x86_64
}

/// The dump's facts about the crash.
public enum SynthException: Equatable, Sendable {
  /// No exception map at all.
  case none
  /// `exception_type_t` and its 64-bit codes.
  case mach(type: Int32, codes: [Int64])
  case signal(number: Int32, code: Int32)
  /// An uncaught NSException with this many return addresses. Only arm64 writes the addresses; on x86_64 the
  /// crashed thread keeps its registers and its stack.
  case nsException(frames: Int)

  /// EXC_BAD_ACCESS, KERN_INVALID_ADDRESS at 0x10: a member of a null object.
  public static let badAccess = SynthException.mach(type: 1, codes: [1, 0x10])
  /// EXC_CRASH as `DumpWithoutCrash` simulates it: "CPsx" and two zero codes.
  public static let simulated = SynthException.mach(type: 0x4350_7378, codes: [0, 0])
  /// SIGABRT as `abort()` raises it.
  public static let abort = SynthException.signal(number: 6, code: 0)
}

/// The contents of a dump. The defaults make a dump of roughly 110 KB, as a small application leaves it.
public struct SynthParameters: Sendable {
  public var architecture: SynthArchitecture
  public var seed: UInt64
  public var exception: SynthException = .badAccess

  public var threadCount = 8
  /// Index of the thread that the exception names. One behind the last thread names a thread that is not there.
  public var crashedThread = 0
  /// Bytes of `kStackRegionData` of each thread. Below 512 there is no room for a chain of frames; at 0 the stack
  /// is one that could not be read: address 0, no bytes.
  public var stackBytes = 4096
  /// Regions of memory around registers. The handler writes one for each register that may be a pointer, so at
  /// most 30 (arm64) or 16 (x86_64); what goes beyond lies in the heap.
  public var contextRegionsPerThread = 14
  public var contextRegionBytes = 512
  /// Whether some pointers go nowhere: the handler then writes the address without data.
  public var unreadableContextRegions = true

  /// All modules, dyld included; dyld is always written last.
  public var moduleCount = 24
  /// Modules that have annotations and extra memory, counted from the main executable.
  public var annotatedModules = 1
  /// This many simple annotations and this many annotation objects in each annotated module.
  public var annotationsPerModule = 4
  public var extraMemoryRegionsPerModule = 1
  public var extraMemoryRegionBytes = 512
  /// Regions that Crashpad reads but never writes to a minidump (`kModuleIntermediateDumpExtraMemoryRegions`).
  public var intermediateOnlyRegionsPerModule = 0
  /// Whether libsystem_c and dyld have something to say (`__crash_info`).
  public var crashInfo = true

  /// Simple annotations of the process, besides `prod` and `ver`.
  public var processAnnotations = 5
  /// Whether arm64 return addresses on the stack and `lr` are signed: bits of the address mask are then set.
  public var signedReturnAddresses = false

  /// Whether arm64 threads stand in a function without a frame: `lr` is then a return address of its own, between
  /// the pc and the chain. Otherwise `lr` repeats the innermost record, and a walker must not report it twice.
  public var leafFrames = false

  public var product = "Example_iOS"
  public var productVersion = "1.2.3.4"
  public var executableName = "Example"
  /// Names of the first threads; the others get an empty name or "worker N".
  public var threadNames = ["com.apple.main-thread", "", "com.apple.uikit.eventfetch-thread"]

  public init(architecture: SynthArchitecture = .arm64, seed: UInt64 = 1) {
    self.architecture = architecture
    self.seed = seed
  }

  /// The least that the handler can leave: one thread, dyld, nothing to say.
  public static func tiny(architecture: SynthArchitecture = .arm64, seed: UInt64 = 1) -> SynthParameters {
    var tiny = SynthParameters(architecture: architecture, seed: seed)
    tiny.threadCount = 1
    tiny.stackBytes = 1024
    tiny.moduleCount = 1
    tiny.annotatedModules = 0
    tiny.crashInfo = false
    tiny.processAnnotations = 0
    return tiny
  }

  /// These parameters, changed until the dump is about `target` bytes (within 2 %, from some 20 KB upwards, 50 KB with
  /// small records).
  ///
  /// Large records mean larger stacks: few properties, nearly all bytes in values. Small records mean regions of
  /// 64 bytes and annotation objects: about 50 bytes for each property, which is the dear case for a reader.
  public func scaled(to target: Int, smallRecords: Bool = false) -> SynthParameters {
    smallRecords ? scaledBySmallRecords(to: target) : scaledByStacks(to: target)
  }

  private func scaledByStacks(to target: Int) -> SynthParameters {
    var scaled = self
    scaled.stackBytes = 16
    var rest = target - SynthDump(scaled).bytes.count
    while rest < 0 && (scaled.contextRegionsPerThread > 2 || scaled.threadCount > 1) {
      // Memory besides stacks is already too much: fewer regions, then fewer threads.
      if scaled.contextRegionsPerThread > 2 {
        scaled.contextRegionsPerThread -= 1
      } else {
        scaled.threadCount -= 1
      }
      rest = target - SynthDump(scaled).bytes.count
    }
    if scaled.threadCount > 0 && rest > 0 {
      scaled.stackBytes += rest / scaled.threadCount / 16 * 16
    }
    return scaled
  }

  private func scaledBySmallRecords(to target: Int) -> SynthParameters {
    var scaled = self
    scaled.stackBytes = 512
    scaled.contextRegionBytes = 64
    scaled.annotatedModules = max(1, scaled.moduleCount / 2)
    let base = SynthDump(scaled).bytes.count
    guard target > base, scaled.threadCount > 0 else { return scaled }
    // Three fifths are regions of memory (2 frames of a map, two properties: 22 + 8 + 64 bytes), the rest
    // annotations (an object and a simple one together some 160 bytes).
    let region = 96
    scaled.contextRegionsPerThread += (target - base) * 3 / 5 / region / scaled.threadCount
    let withRegions = SynthDump(scaled).bytes.count
    // Numbers in the names get longer as there are more of them, hence a second step from the size reached.
    var size = withRegions
    for added in [64, 0] {
      var probe = scaled
      probe.annotationsPerModule += max(1, added)
      let perAnnotation = max(1, (SynthDump(probe).bytes.count - size) / max(1, added))
      scaled.annotationsPerModule = max(0, scaled.annotationsPerModule + (target - size) / perAnnotation)
      size = SynthDump(scaled).bytes.count
    }
    return scaled
  }
}
