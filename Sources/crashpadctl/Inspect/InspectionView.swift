import BinaryFormat
import CrashpadCore
import FileSystem
import Snapshot
import Symbolication

/// What the views of one inspection share: its text, and names for its addresses.
struct InspectionView {
  let inspection: Inspection
  let snapshot: ProcessSnapshot
  /// What the snapshot was read from.
  let input: InputFile
  let modules: ModuleMap
  private let moduleNames: [String]
  /// Names of functions; nil without symbols.
  let names: AddressNames?

  init(_ inspection: Inspection, _ snapshot: ProcessSnapshot, names: AddressNames? = nil) {
    self.inspection = inspection
    self.snapshot = snapshot
    self.names = names
    input = inspection.file
    modules = ModuleMap(snapshot.modules)
    let input = inspection.file
    // Every frame of every stack asks for one.
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

  /// "MyApp + 0x1234", with symbols "main + 12 (/src/main.cpp:42), MyApp + 0x1234"; nil if no module is there.
  func location(_ address: UInt64) -> String? {
    guard let (module, offset) = lookup(address) else { return nil }
    let place = "\(moduleName(module)) + \(Wording.hex(offset))"
    guard let name = names?.name(module: module, offset: offset).flatMap({ StackText.name($0, offset) }) else {
      return place
    }
    return "\(name), \(place)"
  }

  /// "objc_release + 116, libobjc.A.dylib + 0x1ee8"; the address of a frame in no module.
  func place(_ frame: RecordedFrame) -> String {
    let module = frame.module.map { "\(moduleName($0)) + \(Wording.hex(frame.moduleOffset ?? 0))" }
    let function = frame.function.map { name in
      Wording.printable(name) + (frame.functionOffset.map { " + \($0)" } ?? "")
    }
    return [function, module ?? (function == nil ? Wording.hex(frame.address) : nil)].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// The module at `address`, or where the address points without its authentication code.
  func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    modules.lookup(address) ?? modules.lookup(strip(address))
  }

  /// Takes off what is not part of the address: on arm64 pointers carry an authentication code.
  private func strip(_ address: UInt64) -> UInt64 {
    // Simulators on Intel say a mask of all bits, which would leave nothing.
    guard snapshot.system.architecture == .arm64, let mask = snapshot.system.addressMask, mask != .max else {
      return address
    }
    return address & ~mask
  }

  /// All digits of an address, as the architecture has them.
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

  /// The arguments of a Linux process, with spaces between them.
  var commandLine: String? {
    guard let content = snapshot.linux?.commandLine else { return nil }
    var bytes = input.withBytes { snapshot.bytes(of: content, in: $0) }
    while bytes.last == 0 { bytes.removeLast() }
    if bytes.isEmpty { return nil }
    return String(decoding: bytes.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
  }

  /// "17.4.1"
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
    // LC_SOURCE_VERSION has 24 bits and four times 10; parts of zero at the end are not said.
    var parts = [version >> 40] + [30, 20, 10, 0].map { version >> UInt64($0) & 0x3ff }
    while parts.count > 2, parts.last == 0 { parts.removeLast() }
    return parts.map { String($0) }.joined(separator: ".")
  }
}
