// SPDX-License-Identifier: Apache-2.0
/// A module as the dump describes it: the truth that a test compares with.
public struct SynthModule: Sendable {
  public var path: String
  public var address: UInt64
  public var size: UInt64
  /// Modification time; 0 in the shared cache, nil for dyld, where the handler writes none.
  public var timestamp: UInt64?
  /// Nil for programs and dyld, which have no LC_ID_DYLIB.
  public var dylibCurrentVersion: UInt32?
  /// Nil where LC_SOURCE_VERSION is missing, as in one library of eight here.
  public var sourceVersion: UInt64?
  public var uuid: [UInt8]
  /// MH_EXECUTE 2, MH_DYLIB 6, MH_DYLINKER 7.
  public var fileType: UInt32
  public var simpleAnnotations: [(name: String, value: String)] = []
  public var annotationObjects: [(name: String, type: UInt16, value: [UInt8])] = []
  public var extraMemory: [(address: UInt64, count: Int)] = []
  public var intermediateOnlyMemory: [(address: UInt64, count: Int)] = []
  public var message1: String?
  public var message2: String?

  /// An address where an instruction could stand; `index` picks which.
  func codeAddress(_ index: UInt64) -> UInt64 {
    let text = size > 0x8000 ? size - 0x4100 : size
    return address + (size > 0x8000 ? 0x4000 : 0) + (text > 4 ? index % text & ~3 : 0)
  }
}

/// Lays out modules in the order of dyld's list: the program, its frameworks, the shared cache; dyld at the end.
struct ModulePlan {
  private static let systemPaths = [
    "/usr/lib/system/libsystem_kernel.dylib", "/usr/lib/system/libsystem_pthread.dylib",
    "/usr/lib/system/libsystem_c.dylib", "/usr/lib/libobjc.A.dylib",
    "/System/Library/Frameworks/Foundation.framework/Foundation",
    "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation",
    "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore",
    "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics", "/usr/lib/libc++.1.dylib",
    "/usr/lib/libc++abi.dylib", "/System/Library/Frameworks/WebKit.framework/WebKit",
    "/System/Library/Frameworks/QuartzCore.framework/QuartzCore", "/usr/lib/system/libdispatch.dylib",
    "/usr/lib/libSystem.B.dylib", "/usr/lib/system/libdyld.dylib",
  ]
  static let pageSize: UInt64 = 0x4000

  static func modules(_ parameters: SynthParameters) -> [SynthModule] {
    guard parameters.moduleCount > 0 else { return [] }
    var random = SplitMix64(seed: parameters.seed, area: 1)
    let bundle = bundlePath(parameters, &random)
    let others = parameters.moduleCount - 1
    let embedded = others > 4 ? 2 : 0
    // Thousands of modules have to fit below the heap, so they are smaller then.
    let largest = min(256, max(4, 0x14000 / max(1, others)))
    var list: [SynthModule] = []
    var application: UInt64 = 0x1_0000_0000 + UInt64(random.between(0x40, 0x2ff)) * pageSize
    var cache: UInt64 = parameters.architecture == .arm64 ? 0x1_8f45_0000 : 0x7ff8_0b80_0000

    for index in 0..<others {
      let size = UInt64(random.between(3, largest)) * pageSize
      let isApplication = index <= embedded
      let path =
        switch index {
        case 0: "\(bundle)/\(parameters.executableName)"
        case 1...max(1, embedded) where embedded > 0:
          "\(bundle)/Frameworks/Embedded\(index).framework/Embedded\(index)"
        default: systemPath(index - embedded - 1)
        }
      var module = SynthModule(
        path: path, address: isApplication ? application : cache, size: size,
        timestamp: isApplication ? 0x655f_0000 + UInt64(random.below(0xa0_0000)) : 0,
        dylibCurrentVersion: index == 0 ? nil : version(&random),
        sourceVersion: random.oneIn(8) ? nil : random.next() >> 1,
        uuid: random.bytes(16), fileType: index == 0 ? 2 : 6)
      let gap = UInt64(random.between(1, 8)) * pageSize
      if isApplication { application += size + gap } else { cache += size + gap }
      if index < parameters.annotatedModules { annotate(&module, index, parameters, &random) }
      if parameters.crashInfo, path.hasSuffix("libsystem_c.dylib") {
        module.message1 = "abort() called"
      }
      list.append(module)
    }
    var dyld = SynthModule(
      path: "/usr/lib/dyld", address: application + 0x40 * pageSize, size: 0x60000, timestamp: nil,
      dylibCurrentVersion: nil, sourceVersion: 0x4_8a00_0000_0000, uuid: random.bytes(16), fileType: 7)
    if parameters.crashInfo {
      dyld.message1 = "dyld: synthetic message 1"
      dyld.message2 = "and a second one"
    }
    return list + [dyld]
  }

  private static func systemPath(_ index: Int) -> String {
    index < systemPaths.count
      ? systemPaths[index] : "/System/Library/PrivateFrameworks/Sys\(index).framework/Sys\(index)"
  }

  private static func bundlePath(_ parameters: SynthParameters, _ random: inout SplitMix64) -> String {
    let uuid = Hex.uuid(random.bytes(16)).uppercased()
    return parameters.architecture == .arm64
      ? "/private/var/containers/Bundle/Application/\(uuid)/\(parameters.executableName).app"
      : "/Users/dev/Library/Developer/CoreSimulator/Devices/\(uuid)/data/\(parameters.executableName).app"
  }

  /// `current_version` of a dylib: 16 bits, 8 bits, 8 bits.
  private static func version(_ random: inout SplitMix64) -> UInt32 {
    UInt32(random.between(1, 2000)) << 16 | UInt32(random.below(20)) << 8 | UInt32(random.below(10))
  }

  private static func annotate(
    _ module: inout SynthModule, _ index: Int, _ parameters: SynthParameters, _ random: inout SplitMix64
  ) {
    // The list of objects is linked from its newest member; the dictionary is in the order of its slots.
    for number in (0..<max(0, parameters.annotationsPerModule)).reversed() {
      if number % 4 == 3 {
        // A type of the application's own (0x8000 and above) holds any bytes.
        module.annotationObjects.append(("user-type-\(number)", 0x8004, random.bytes(26)))
      } else {
        let value = "value of object annotation \(number)"
        module.annotationObjects.append(("object-annotation-\(number)", 1, Bytes.of(value)))
      }
      module.simpleAnnotations.append(("simple-\(index)-\(number)", "simple value \(number)"))
    }
    let data = module.address + module.size + 0x1000
    for number in 0..<max(0, parameters.extraMemoryRegionsPerModule) {
      // Neighbours are apart, so that each region stays a region of its own.
      let step = UInt64(parameters.extraMemoryRegionBytes) + 64
      let heap = SynthLayout(parameters).heapBase + 0x4000_0000
      let far = number > 3 || index > 0
      let base = far ? heap + UInt64(index) << 28 : data
      module.extraMemory.append((base + UInt64(number) * step, parameters.extraMemoryRegionBytes))
    }
    for number in 0..<max(0, parameters.intermediateOnlyRegionsPerModule) {
      let base = SynthLayout(parameters).heapBase + 0x8_0000_0000 + UInt64(index) << 28
      module.intermediateOnlyMemory.append((base + UInt64(number) * 0x1000, parameters.extraMemoryRegionBytes))
    }
  }
}
