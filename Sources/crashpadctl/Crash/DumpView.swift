import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText

/// The shared state of all views of one dump: its texts, and names for its addresses.
struct DumpView {
  let dump: Dump
  let snapshot: ProcessSnapshot
  /// The input of the snapshot.
  let input: InputFile
  let modules: ModuleMap
  private let moduleNames: [String]
  /// Names of functions; nil without symbols.
  let names: AddressNames?

  init(_ dump: Dump, _ snapshot: ProcessSnapshot, names: AddressNames? = nil) {
    self.dump = dump
    self.snapshot = snapshot
    self.names = names
    input = dump.file
    modules = ModuleMap(snapshot.modules)
    let input = dump.file
    // Computed in advance, because every frame of every stack needs one.
    moduleNames = snapshot.modules.enumerated().map { index, module in
      let path = module.name.map { name in input.withBytes { Wording.printable(snapshot.bytes(of: name, in: $0)) } }
      return path.flatMap { $0.isEmpty ? nil : lastPathComponent($0) } ?? "module \(index)"
    }
  }

  /// A text of the snapshot, with bytes that are not UTF-8 as `\xNN`; nil if it is missing or empty.
  func text(_ content: Content?) -> String? {
    guard let content, !content.isEmpty else { return nil }
    return input.withBytes { Wording.printable(snapshot.bytes(of: content, in: $0)) }
  }

  func moduleName(_ index: Int) -> String { moduleNames[index] }

  /// Such as "MyApp + 0x1234", or with symbols "main + 12 (/src/main.cpp:42), MyApp +
  /// 0x1234"; nil outside all modules.
  func location(_ address: UInt64) -> String? {
    guard let (module, offset) = lookup(address) else { return nil }
    let place = "\(moduleName(module)) + \(Wording.hex(offset))"
    guard let name = names?.name(module: module, offset: offset).flatMap({ StackText.name($0, offset) }) else {
      return place
    }
    return "\(name), \(place)"
  }

  /// Such as "objc_release + 116, libobjc.A.dylib + 0x1ee8"; the address for a frame outside all modules.
  func place(_ frame: RecordedFrame) -> String {
    let module = frame.module.map { "\(moduleName($0)) + \(Wording.hex(frame.moduleOffset ?? 0))" }
    let function = frame.function.map { name in
      Wording.printable(Demangler.demangle(name, .simplified) ?? name) + (frame.functionOffset.map { " + \($0)" } ?? "")
    }
    return [function, module ?? (function == nil ? Wording.hex(frame.address) : nil)].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// The module at `address`, or at the address without its pointer authentication code.
  func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    modules.lookup(address) ?? modules.lookup(strip(address))
  }

  /// Removes the bits that are not part of the address: on arm64, the pointer authentication code.
  private func strip(_ address: UInt64) -> UInt64 {
    // Simulators on Intel record a mask of all bits, which would leave nothing.
    guard snapshot.system.architecture == .arm64, let mask = snapshot.system.addressMask, mask != .max else {
      return address
    }
    return address & ~mask
  }

  /// The address with all digits of the architecture.
  func fullAddress(_ value: UInt64) -> String {
    let isNarrow = snapshot.system.architecture == .x86 || snapshot.system.architecture == .arm
    return "0x" + hexadecimal(value, width: isNarrow ? 8 : 16)
  }

  func identity(_ module: ModuleSnapshot) -> String? {
    switch module.identity {
    case .uuid(let uuid, let age): return age == 0 ? uuid.text : "\(uuid.text) age \(age)"
    case .buildID(let content):
      let bytes = input.withBytes { snapshot.bytes(of: content, in: $0) }
      return bytes.map { hexadecimal(UInt64($0), width: 2) }.joined()
    case nil: return nil
    }
  }

  /// The arguments of a Linux process, separated by spaces.
  var commandLine: String? {
    guard let content = snapshot.linux?.commandLine else { return nil }
    var bytes = input.withBytes { snapshot.bytes(of: content, in: $0) }
    while bytes.last == 0 { bytes.removeLast() }
    if bytes.isEmpty { return nil }
    return String(decoding: bytes.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
  }

  /// Such as "17.4.1".
  var osVersion: String? {
    let system = snapshot.system
    if system.osMajor == nil, system.osMinor == nil, system.osBugfix == nil { return nil }
    return [system.osMajor, system.osMinor, system.osBugfix].map { $0.map(String.init) ?? "?" }.joined(separator: ".")
  }

  func version(_ module: ModuleSnapshot) -> String? {
    if let version = module.dylibVersion { return "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)" }
    guard let version = module.sourceVersion else { return nil }
    guard [.ios, .macos].contains(snapshot.system.operatingSystem) else {
      return [48, 32, 16, 0].map { String(version >> UInt64($0) & 0xffff) }.joined(separator: ".")
    }
    // LC_SOURCE_VERSION has one part of 24 bits and four of 10; trailing zero parts are left out.
    var parts = [version >> 40] + [30, 20, 10, 0].map { version >> UInt64($0) & 0x3ff }
    while parts.count > 2, parts.last == 0 { parts.removeLast() }
    return parts.map { String($0) }.joined(separator: ".")
  }
}
