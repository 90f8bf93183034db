// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The text in which a report names its system: "iPhone OS 15.4 (19E5241a)", "xrOS 1.1 (21O209)", "Linux".
struct SystemText {
  let system: OperatingSystem
  let platform: Platform?
  /// Major, minor and bugfix; empty if the text has no version.
  let version: [Int32?]
  let build: String?

  init(_ text: String) {
    platform = PlatformNames.platform(named: text).map { Platform($0) }
    system = platform.map { $0.isOnMac ? .macos : .ios } ?? (text.lowercased().contains("linux") ? .linux : .unknown)
    var build: String?
    var rest = text[...]
    if let open = rest.lastIndex(of: "("), let close = rest.lastIndex(of: ")"), open < close {
      build = String(rest[rest.index(after: open)..<close])
      if build?.hasPrefix("Build ") == true { build = build.map { String($0.dropFirst(6)) } }
      rest = rest[..<open]
    }
    self.build = build
    let numbers = rest.split(separator: " ").last { $0.first?.isNumber == true } ?? ""
    let parts = numbers.split(separator: ".").map { Int32($0) }
    // Apple leaves out a last 0.
    version =
      parts.first.map { major in
        major == nil
          ? []
          : [major, 0, 0].enumerated().map { index, zero in
            parts.indices.contains(index) ? parts[index] : zero
          }
      } ?? []
  }
}

/// The names of Apple's platforms in reports.
enum PlatformNames {
  /// The names in lower case, and what may stand before them. Longer names precede their beginnings.
  private static let names: [(name: String, platform: Platform.Name)] = [
    ("iphone os", .iOS), ("iphoneos", .iOS), ("ipados", .iPadOS), ("ipad os", .iPadOS), ("ios", .iOS),
    ("macosx", .macOS), ("macos", .macOS), ("mac os", .macOS), ("os x", .macOS), ("watchos", .watchOS),
    ("watch os", .watchOS), ("tvos", .tvOS), ("tv os", .tvOS), ("visionos", .visionOS), ("xros", .visionOS),
    ("reality os", .visionOS), ("bridgeos", .bridgeOS), ("bridge os", .bridgeOS), ("audioos", .audioOS),
    ("audio os", .audioOS),
  ]

  /// Nil if the text does not begin with the name of one of the platforms.
  static func platform(named text: String) -> Platform.Name? {
    var text = text.lowercased()[...]
    text = text.drop { $0 == " " }
    if text.hasPrefix("apple ") { text = text.dropFirst(6) }
    return names.first { row in
      text.hasPrefix(row.name) && text.dropFirst(row.name.count).first.map { !$0.isLetter } ?? true
    }?.platform
  }

  /// Beginnings of models, such as "iPhone14,5".
  private static let models: [(start: String, platform: Platform.Name)] = [
    ("iPhone", .iOS), ("iPod", .iOS), ("iPad", .iPadOS), ("Watch", .watchOS), ("AppleTV", .tvOS),
    ("AudioAccessory", .audioOS), ("RealityDevice", .visionOS), ("iBridge", .bridgeOS), ("Mac", .macOS),
    ("iMac", .macOS), ("VirtualMac", .macOS), ("Xserve", .macOS),
  ]

  static func platform(ofModel model: String) -> Platform.Name? { models.first { model.hasPrefix($0.start) }?.platform }
}

extension ReportBuilder {
  /// Sets the operating system from the text in a report.
  mutating func setSystem(_ text: String?) {
    guard let text, !text.isEmpty else { return }
    report.osText = text
    let parts = SystemText(text)
    // A version alone says nothing of the system, which another line may have named.
    if parts.system != .unknown || snapshot.system.platform == nil { snapshot.system.operatingSystem = parts.system }
    if let platform = parts.platform { snapshot.system.platform = platform }
    func part(_ index: Int) -> Int32? { parts.version.indices.contains(index) ? parts.version[index] : nil }
    snapshot.system.osMajor = part(0)
    snapshot.system.osMinor = part(1)
    snapshot.system.osBugfix = part(2)
    snapshot.system.osBuild = content(parts.build)
  }

  /// Completes what is known of the platform when everything else is read.
  mutating func finishPlatform() {
    if isPlatformRead { return }
    if let number = platformNumber.flatMap({ Platform(number: $0) }) { refine(number) }
    let model = snapshot.system.machine.flatMap(stored)
    if snapshot.system.platform == nil, let name = model.flatMap(PlatformNames.platform(ofModel:)) {
      snapshot.system.platform = Platform(name, isInferred: true)
      if snapshot.system.operatingSystem == .unknown {
        snapshot.system.operatingSystem = name == .macOS ? .macos : .ios
      }
    }
    // Reports of an iPad go on to say "iPhone OS", a name that its system has not had since 13.
    if snapshot.system.platform?.name == .iOS, snapshot.system.platform?.isSimulator == false,
      model?.hasPrefix("iPad") == true, snapshot.system.osMajor.map({ $0 >= 13 }) == true
    {
      snapshot.system.platform?.name = .iPadOS
    }
    findSimulator()
  }

  /// Takes the number of the platform of the code, which is more than the system's name where it ran on a Mac.
  private mutating func refine(_ platform: Platform) {
    let known = snapshot.system.platform
    if known == nil || known?.name == .macOS || platform.isSimulator { snapshot.system.platform = platform }
    if snapshot.system.operatingSystem == .unknown {
      snapshot.system.operatingSystem = platform.isOnMac ? .macos : .ios
    }
  }

  // MARK: Simulator

  /// Looks for the Simulator in paths, in the parent's name and in the Simulator's own message.
  private mutating func findSimulator() {
    let runtime = simulatorRuntime
    let isSimulator =
      runtime != nil || report.parentName == "launchd_sim" || report.processPath?.contains("/CoreSimulator/") == true
      || report.coalition?.hasPrefix("com.apple.CoreSimulator.") == true
    guard isSimulator else { return }
    var platform = snapshot.system.platform ?? Platform(nil)
    let isKnown = platform.isSimulator && platform.name != nil
    if !isKnown, platform.name == .macOS { platform.name = nil }
    platform.isSimulator = true
    if let runtime {
      platform.name = platform.name ?? PlatformNames.platform(named: runtime)
      let version = runtime.split(separator: " ").last.map(String.init) ?? ""
      platform.simulatedVersion = version.first?.isNumber == true ? version : nil
    }
    platform.name = platform.name ?? simulatedSDK
    if snapshot.system.operatingSystem == .unknown { snapshot.system.operatingSystem = .macos }
    takeSimulatedVersion(&platform)
    snapshot.system.platform = platform
  }

  /// PLCrashReporter writes "Mac OS X 9.0" for iOS 9.0 in the Simulator: before 10 there was no version of macOS.
  private mutating func takeSimulatedVersion(_ platform: inout Platform) {
    guard snapshot.system.operatingSystem == .macos, let major = snapshot.system.osMajor, major < 10 else { return }
    let parts = [major, snapshot.system.osMinor ?? 0] + [snapshot.system.osBugfix].compactMap { $0 }.filter { $0 > 0 }
    platform.simulatedVersion = platform.simulatedVersion ?? parts.map(String.init).joined(separator: ".")
    (snapshot.system.osMajor, snapshot.system.osMinor, snapshot.system.osBugfix) = (nil, nil, nil)
  }

  /// The platform of the SDK from which images come: "…/iPhoneSimulator.sdk/System/…", "…/iPhoneSimulator9.0.sdk/…".
  private var simulatedSDK: Platform.Name? {
    let names: [(start: String, platform: Platform.Name)] = [
      ("iPhoneSimulator", .iOS), ("AppleTVSimulator", .tvOS), ("WatchSimulator", .watchOS),
    ]
    for module in snapshot.modules {
      guard let path = module.name.flatMap(stored), path.containsBytes(".sdk/") else { continue }
      let folders = path.split(separator: "/").filter { $0.hasSuffix(".sdk") }
      if let row = names.first(where: { row in folders.contains { $0.hasPrefix(row.start) } }) { return row.platform }
    }
    return nil
  }

  /// Such as "iOS 18.5", the folder of a simulated system in the path of an image; else from the message "CoreSimulator
  /// 681.15 - Device: … - Runtime: iOS 13.0 (17A577) - …".
  private var simulatorRuntime: String? {
    for module in snapshot.modules {
      guard let path = module.name.flatMap(stored), let end = path.firstRange(of: ".simruntime/")?.lowerBound else {
        continue
      }
      return path[..<end].split(separator: "/").last.map(String.init)
    }
    for message in report.messages where message.text.hasPrefix("CoreSimulator ") {
      guard let start = message.text.firstRange(of: "Runtime: ")?.upperBound else { continue }
      let rest = message.text[start...]
      return String(rest[..<(rest.firstRange(of: " (")?.lowerBound ?? rest.endIndex)])
    }
    return nil
  }

  // MARK: Architecture

  /// Takes the architecture of the program's image, or of all of them, if the report states none.
  mutating func finishArchitecture() {
    guard snapshot.system.architecture == .unknown else { return }
    let names = executable.map { [snapshot.modules[$0]] } ?? snapshot.modules
    let found = Set(names.compactMap { $0.architecture.map(ReportNames.architecture) }).subtracting([.unknown])
    guard found.count == 1, let architecture = found.first else { return }
    snapshot.system.architecture = architecture
    report.isArchitectureInferred = true
  }

  /// A text that the builder has stored.
  func stored(_ content: SnapshotBytes) -> String? {
    guard content.isInArena else { return nil }
    return String(decoding: snapshot.arena[content.offset..<content.offset + content.count], as: UTF8.self)
  }
}
