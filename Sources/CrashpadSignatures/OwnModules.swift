// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
package import CrashpadSnapshot

/// Tells the modules of the application from those of the system and of language runtimes: by their paths, and where a
/// report has names alone, by the process, the module of the main function, and the names of the system's images.
package struct OwnModules: Sendable {
  private let executable: Int?
  private let system: OperatingSystem
  private let additional: [Glob]
  /// Whether modules may be without paths.
  private let isReport: Bool
  private let isFirst: Bool
  private let processName: String?
  /// Texts of macOS up to 10.15 name the program by it where they have no list of images.
  private let bundleID: String?
  /// The modules whose main function started the process.
  private let mainModules: [Int]
  /// The modules of a report whose code is where the system has its own. The places of others may not be known.
  private let modulesInSharedCache: Set<Int>

  /// - Parameters:
  ///   - additional: paths and names of modules that count as the application's, whatever else is known of them.
  ///   - version: that of the rules. By the first, a name without a path is never the application's.
  package init(_ snapshot: ProcessSnapshot, additional: [Glob] = [], version: RuleVersion = .current) {
    executable = snapshot.executableIndex
    system = snapshot.system.operatingSystem
    self.additional = additional
    isFirst = version == .first
    isReport = snapshot.report != nil && version != .first
    processName = snapshot.report?.processName.flatMap { $0.isEmpty ? nil : $0 }
    bundleID = snapshot.report?.bundleID.flatMap { $0.isEmpty ? nil : $0 }
    mainModules = isReport ? Self.mainModules(snapshot) : []
    modulesInSharedCache = isReport ? SharedCachePlaces.modules(snapshot) : []
  }

  /// - Parameters:
  ///   - index: the module's, in the snapshot.
  ///   - path: the module's; reports may have the name alone.
  package func contains(_ index: Int, path: String) -> Bool {
    let name = lastPathComponent(path)
    if additional.contains(where: { $0.matches(path) || $0.matches(name) }) { return true }
    if index == executable { return true }
    if name.utf8.count == path.utf8.count { return isReport && containsName(name, index) }
    // Most modules are the system's: their places are looked at before the patterns of names.
    if Self.isInSystem(path), !path.hasPrefix("/private/preboot/"),
      isFirst || !Self.injectedPaths.contains(where: { path.containsBytes($0) })
    {
      return false
    }
    if Self.systemNames.contains(where: { $0.matches(name) }) { return false }
    if !isFirst, Self.injectedPaths.contains(where: { path.containsBytes($0) }) { return true }
    if !isFirst, Self.isOfJailbreak(path) { return path.containsBytes(".app/") }
    if Self.isInSystem(path) { return false }
    if path.containsBytes("/RuntimeRoot/") { return false }
    if !isFirst, Self.simulatorPaths.contains(where: { path.containsBytes($0) }) { return false }
    switch system {
    case .ios, .macos:
      return Self.applePaths.contains { path.containsBytes($0) } || !isFirst && path.containsBytes(".xctest/")
    case .windows: return !path.lowercased().contains("\\windows\\")
    default: return path.hasPrefix("/")
    }
  }

  /// Whether a module of Apple's or Linux's systems has a path that is no place of theirs.
  static func isOutsideSystem(_ path: String) -> Bool {
    path.hasPrefix("/") && (isOfJailbreak(path) || !isInSystem(path))
      && !path.containsBytes("/RuntimeRoot/") && !simulatorPaths.contains { path.containsBytes($0) }
  }

  private static func isInSystem(_ path: String) -> Bool {
    systemPaths.contains { path.utf8.starts(with: $0.utf8) }
  }

  // MARK: Names without paths

  private func containsName(_ name: String, _ index: Int) -> Bool {
    guard !PlaceholderNames.isMissingModule(name), !Self.systemNames.contains(where: { $0.matches(name) }) else {
      return false
    }
    // Debug builds of Xcode have the program's code in a library beside it.
    if let processName, name == processName || name == processName + ".debug.dylib" { return true }
    if name == "__preview.dylib" || name == bundleID { return true }
    if mainModules.contains(index) { return true }
    if modulesInSharedCache.contains(index) { return false }
    // An image that is in no list of the system's is inferred to be the program, or a library that came with it.
    return !SystemImages.contains(name)
  }

  /// The modules of the functions that `start` calls, and of a debug build's library.
  private static func mainModules(_ snapshot: ProcessSnapshot) -> [Int] {
    var modules: [Int] = []
    for thread in snapshot.threads {
      for frame in thread.frames?.suffix(4) ?? [] {
        guard let module = frame.module, let function = frame.function, isMain(function) else { continue }
        if !modules.contains(module) { modules.append(module) }
      }
    }
    return modules
  }

  private static func isMain(_ function: String) -> Bool {
    // Early systems link _start into each program.
    function == "main" || function == "_start" || function == "__debug_main_executable_dylib_entry_point"
      || function.hasSuffix(".$main()")
  }

  private static let applePaths = [".app/", ".appex/", "/Containers/Bundle/", "/Bundle/Application/"]
  /// Places of libraries that a jailbreak loads into programs of others: the first suspects there.
  private static let injectedPaths = ["/TweakInject/", "/MobileSubstrate/DynamicLibraries/"]

  /// Whether a jailbreak installed it in the volume of the system's own files: "/private/preboot/HASH/jb-NAME/procursus/usr/lib".
  private static func isOfJailbreak(_ path: String) -> Bool {
    path.hasPrefix("/private/preboot/") && (path.containsBytes("/jb-") || path.containsBytes("/procursus/"))
  }

  /// Places of the images of simulated systems, in an Xcode of any name.
  private static let simulatorPaths = [".sdk/System/", ".sdk/usr/lib/", ".simruntime/", ".app/Contents/Developer/"]
  private static let systemPaths = [
    "/lib/", "/lib64/", "/lib32/", "/usr/lib", "/usr/share/", "/System/", "/private/preboot/", "/Library/Apple/",
    "/system/", "/apex/", "/vendor/",
    "/nix/store/", "/snap/", "/Applications/Xcode",
  ]
  private static let systemNames: [Glob] = [
    "libc.so*", "libc-2*", "libm.so*", "libm-2*", "libpthread*", "libstdc++*", "libc++*", "libswift*",
    "lib_Foundation*", "libFoundation*", "libgcc_s*", "libdispatch*",
    "libBlocksRuntime*", "libdl.so*", "librt.so*", "ld-linux*", "ld-musl*", "linux-vdso*", "libasan*", "libubsan*",
    "libtsan*", "libcrashpad*", "libsystem_*", "libobjc*",
  ]
}

/// The places of modules in the address space of an Apple process, by the frames in them: the system has nearly all of its own
/// images in one cache, which is mapped above all others.
enum SharedCachePlaces {
  /// The address from which on the cache is mapped (dyld, dyld_cache_format.h); nil for processors without one.
  private static func start(_ architecture: CPUArchitecture) -> UInt64? {
    switch architecture {
    case .arm64: 0x1_8000_0000
    case .x86_64: 0x7ff8_0000_0000
    default: nil
    }
  }

  /// Images of programs begin here. A smaller number is no address, but an offset in a file.
  private static let lowest: UInt64 = 0x1_0000_0000

  /// The modules whose frames have addresses in the cache, and none elsewhere.
  static func modules(_ snapshot: ProcessSnapshot) -> Set<Int> {
    guard [.ios, .macos].contains(snapshot.system.operatingSystem), let start = start(snapshot.system.architecture)
    else {
      return []
    }
    var (cached, others): (Set<Int>, Set<Int>) = ([], [])
    func add(_ frames: [RecordedFrame]?) {
      for frame in frames ?? [] {
        guard let module = frame.module, frame.address >= lowest else { continue }
        if frame.address >= start { cached.insert(module) } else { others.insert(module) }
      }
    }
    for thread in snapshot.threads { add(thread.frames) }
    add(snapshot.report?.lastException)
    return cached.subtracting(others)
  }
}

/// The images of Apple's systems, for reports that have names without paths.
enum SystemImages {
  /// Whether `name` is an image of the system, judged by its name.
  static func contains(_ name: String) -> Bool {
    if name == "dyld" || name == "dyld_sim" { return true }
    if name.hasPrefix("lib"), name.hasSuffix(".dylib"), libraries.contains(where: { name.hasPrefix($0) }) {
      return true
    }
    return names.contains(name) || others.contains(name[...]) || prefixes.contains { name.hasPrefix($0) }
      || suffixes.contains { name.hasSuffix($0) }
  }

  private static let prefixes = [
    "com.apple.", "libsystem", "AGX", "AppleMetal", "CoreFoundation", "_", "Swift", "UIKit", "AppKit", "WebKit",
    "WebCore", "Metal",
  ]
  private static let suffixes = ["Services", "Foundation", "Support"]
  /// The beginnings of names of libraries: programs have libraries of their own, which a pasted stack names alike.
  private static let libraries = [
    "libsystem", "libobjc", "libdispatch", "libc++", "libdyld", "libxpc", "libswift", "libsqlite3", "libxml2",
    "libxslt",
    "libexslt", "libz.", "libbz2", "liblzma", "libcompression", "libnetwork", "libboringssl", "libusrtcp", "libquic",
    "libcoretls", "libnotify", "libmalloc", "libunwind", "libmacho", "libcopyfile", "libremovefile", "libcache",
    "libcommonCrypto", "libcorecrypto", "libkeymgr", "liblaunch", "libquarantine", "libsandbox", "libauto",
    "libicucore", "libiconv", "libcharset", "libresolv", "libffi", "libtidy", "libedit", "libncurses", "libcups",
    "libarchive", "libpam", "libpcap", "libexpat", "libcurl", "libssl", "libcrypto", "libbsm", "libenergytrace",
    "libapple", "libate", "libaudio", "libAudio", "libcoreaudio", "libAcc", "libAX", "libFontParser", "libCore",
    "libCG", "libCV", "libGL", "libGPU", "libMTL", "libMetal", "libMobileGestalt", "libMainThreadChecker", "libView",
    "libBacktrace", "libRPAC", "libLog", "libBLAS", "libLAPACK", "libvDSP", "libvMisc", "libLinearAlgebra",
    "libSparse", "libBNNS", "libQuadrature", "libCompression", "libIOReport", "libJPEG", "libJP2", "libTIFF",
    "libPng", "libGIF", "libRadiance", "libllvm", "libclosured", "liblockdown", "libprequelite", "libhunspell",
    "libheimdal", "libgermantok", "libmecabra", "libcmph", "libmis", "libamsupport", "libtailspin", "libspindump",
    "libgcc_s", "libstdc++", "libOpenScripting",
  ]
  private static let names: Set<String> = [
    "AVFAudio", "AVFCapture", "AVFCore", "AVKit", "Accelerate", "Accessibility", "AccessibilityUtilities",
    "AppIntents", "AttributeGraph", "AudioToolbox", "AudioToolboxCore", "AuthKit", "BackgroundTasks", "BaseBoard",
    "BoardServices", "CFNetwork", "CloudKit", "Combine", "Contacts", "CoreAudio", "CoreAutoLayout", "CoreBluetooth",
    "CoreData", "CoreDuet", "CoreGraphics", "CoreHaptics", "CoreImage", "CoreLocation", "CoreMedia", "CoreML",
    "CoreMotion", "CoreNFC", "CoreSpotlight", "CoreTelephony", "CoreText", "CoreUI", "CoreVideo", "DataDetectorsCore",
    "EventKit", "FileProvider", "Foundation", "GameController", "GameKit", "GPURawCounter", "GraphicsServices",
    "HIToolbox", "HealthKit", "HomeKit", "IOKit", "IOSurface", "ImageIO", "Intents", "JavaScriptCore", "LaunchServices",
    "LinkPresentation", "LocalAuthentication", "MLCompute", "MapKit", "MediaPlayer", "MediaToolbox", "MessageUI",
    "MetalKit", "MobileCoreServices", "ModelIO", "NaturalLanguage", "Network", "NetworkExtension", "OpenGLES", "OSLog",
    "PDFKit", "PassKit", "PencilKit", "Photos", "PhotosUI", "PushKit", "QuartzCore", "QuickLook", "RealityKit",
    "SafariServices", "SceneKit", "Security", "ShareSheet", "Sharing", "SkyLight", "Speech", "SpriteKit", "StoreKit",
    "Symbols", "SystemConfiguration", "TCC", "TextInput", "TextInputCore", "UserNotifications", "VectorKit",
    "VideoToolbox", "Vision", "WatchKit", "WidgetKit", "caulk",
  ]
}
