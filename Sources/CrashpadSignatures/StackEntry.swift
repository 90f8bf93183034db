// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import CrashpadSymbolication

/// A module as signatures see it.
struct SignatureModule: Sendable {
  /// File name without directories.
  let name: String
  /// The first eight digits of the UUID or build id, in small letters; empty for a module without one.
  let identity: String
  /// Whether it is the program, or came with it.
  let isInApp: Bool
  /// Whether the process had given it up before the crash.
  let isUnloaded: Bool
  /// Whether its path is known, and no place of the system or of a language's runtime.
  let isOutsideSystem: Bool
  /// The rule for its frames without a name; nil until it was looked for.
  fileprivate var ruleOfUnnamed: FrameRule??

  init(name: String, identity: String, isInApp: Bool, isUnloaded: Bool = false, isOutsideSystem: Bool = false) {
    (self.name, self.identity, self.isInApp, self.isUnloaded) = (name, identity, isInApp, isUnloaded)
    self.isOutsideSystem = isOutsideSystem
  }

  var isCLibrary: Bool { FirstRule.cLibraries.contains { $0.matches(name) } }
}

/// A function in a stack: the one that was compiled as such, or a call that was inlined into it.
struct StackEntry: Sendable {
  /// The number of the physical frame.
  var frame = 0
  /// The line of the stack that shows it, as `Symbolization.Frame.lineCount` counts them.
  var line = 0
  /// Whether the call was inlined: it has the address of the frame, and no frame of its own.
  var isInlined = false
  /// Whether it ended with a jump to the frame above, so that it has no frame of its own.
  var isTailCalled = false
  /// Normalized; nil without symbols, or if they only have the nearest name before.
  var name: String?
  let module: SignatureModule?
  /// In the module, of the next instruction: the same in every run.
  let offset: UInt64?
  let address: UInt64
  /// The first line of what the symbols have, for explanations.
  let shownName: String?
  let rule: FrameRule?
  /// The symbol before the frame and the distance in bytes, if the input has no more than that: a place in one build, and
  /// no function.
  var nearest: String?
  /// Whether the kernel called the frames above for a signal that interrupted a system call.
  var interruptsSystemCall = false
  /// Whether a search of the stack found it, which may take what an earlier call left.
  var isScanned = false
  /// Whether its module is not known, and its source file is one of the program.
  var isOfOwnSource = false

  var isNamed: Bool { name != nil }
  var isInApp: Bool { module?.isInApp ?? isOfOwnSource }
  /// Whether it is a function of the program that no row skips.
  var isOwn: Bool { isInApp && rule == nil }

  /// The text for users, such as "Cart::total" or "Example+0x42e74".
  var text: String { name ?? place(hasIdentity: false) }
  /// The text that is hashed. A frame without a name counts only for its build.
  var key: String { name ?? place(hasIdentity: true) }

  private func place(hasIdentity: Bool) -> String {
    guard let module else { return "(no module)" }
    let place = offset.map { "+0x" + hexadecimal($0) } ?? nearest.map { "!" + $0 } ?? ""
    return module.name + (hasIdentity && !module.identity.isEmpty ? "@" + module.identity : "") + place
  }

  /// The same without any name of a function: nil in no module, and of calls without a frame.
  var raw: String? { module == nil || offset == nil || isInlined || isTailCalled ? nil : place(hasIdentity: true) }
}

/// Modules of one snapshot, looked at when the first frame lies in one.
struct SignatureModules {
  private let snapshot: ProcessSnapshot
  private let file: InputFile
  private let own: OwnModules
  private let version: RuleVersion
  /// By the modules' places in the snapshot; an array, as a dictionary takes longer to make than a small dump to read.
  private var known: [SignatureModule?]

  init(_ snapshot: ProcessSnapshot, _ file: InputFile, inApp: [Glob], _ version: RuleVersion) {
    self.snapshot = snapshot
    self.file = file
    self.version = version
    own = OwnModules(snapshot, additional: inApp, version: version)
    known = Array(repeating: nil, count: snapshot.modules.count)
  }

  mutating func module(_ index: Int) -> SignatureModule? {
    guard snapshot.modules.indices.contains(index) else { return nil }
    if let module = known[index] { return module }
    let recorded = snapshot.modules[index]
    let path = recorded.name.map { name in file.withBytes { snapshot.text(name, in: $0) } } ?? ""
    let module = SignatureModule(
      name: version == .first ? Self.name(path) : Self.unversioned(Self.name(path)), identity: identity(recorded),
      isInApp: own.contains(index, path: path), isOutsideSystem: OwnModules.isOutsideSystem(path))
    known[index] = module
    return module
  }

  /// The rule for frames without a name in a module.
  mutating func ruleOfUnnamed(_ index: Int) -> FrameRule? {
    guard let module = module(index) else { return nil }
    if let rule = module.ruleOfUnnamed { return rule }
    let rule = RuleIndex.ruleOfUnnamed(in: module.name)
    known[index]?.ruleOfUnnamed = .some(rule)
    return rule
  }

  /// A module that was no longer there: its list has a name without directories, a time and a size.
  func unloaded(_ index: Int) -> SignatureModule {
    let module = snapshot.unloadedModules[index]
    let path = file.withBytes { snapshot.text(module.name, in: $0) }
    return SignatureModule(
      name: Self.name(path) + " (unloaded)", identity: hexadecimal(UInt64(module.timestamp), width: 8),
      isInApp: false, isUnloaded: true)
  }

  private static func name(_ path: String) -> String {
    let name = lastPathComponent(path)
    return name.isEmpty ? "(unnamed module)" : name
  }

  /// "libz.so.1" of "libz.so.1.2.13": a process loads the first, which is a link, and the kernel's list has the second.
  static func unversioned(_ name: String) -> String {
    // musl's loader is its C library, which some lists have under the one name, and some under the other.
    if name.hasPrefix("ld-musl-") { return "libc.so" }
    let deleted = " (deleted)"
    let name = name.hasSuffix(deleted) ? String(name.dropLast(deleted.count)) : name
    guard let mark = name.firstRange(of: ".so.") else { return name }
    let version = name[mark.upperBound...]
    guard version.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else { return name }
    return String(name[..<mark.upperBound]) + version.prefix { $0 != "." }
  }

  private func identity(_ module: ModuleSnapshot) -> String {
    switch module.identity {
    case .uuid(let uuid, _): uuid == .zero ? "" : String(hexadecimal(uuid.high, width: 16).prefix(8))
    case .buildID(let content):
      file.withBytes { snapshot.bytes(of: content.prefix(min(4, content.count)), in: $0) }
        .map { hexadecimal(UInt64($0), width: 2) }.joined()
    // Builds without an id are told apart by the module's size, which some dumps have in whole pages.
    case nil: module.size.map { "~" + hexadecimal(version == .first ? $0 : ($0 &+ 0xfff) & ~0xfff) } ?? ""
    }
  }
}
