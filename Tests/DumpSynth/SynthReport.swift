// SPDX-License-Identifier: Apache-2.0
/// An `.ips` of an invented app, written without the product's constants.
public struct SynthReport: Sendable {
  public struct Frame: Sendable {
    public var image: Int
    public var offset: UInt64
    public var symbol: String?
    public var symbolOffset: UInt64
    public var file: String?
    public var line: Int?
    public var isInlined: Bool

    public init(
      _ image: Int, _ offset: UInt64, _ symbol: String? = nil, plus symbolOffset: UInt64 = 0, file: String? = nil,
      line: Int? = nil, inlined: Bool = false
    ) {
      self.image = image
      self.offset = offset
      self.symbol = symbol
      self.symbolOffset = symbolOffset
      self.file = file
      self.line = line
      isInlined = inlined
    }
  }

  public struct Thread: Sendable {
    public var name: String?
    public var queue: String?
    public var frames: [Frame]

    public init(name: String? = nil, queue: String? = nil, _ frames: [Frame]) {
      self.name = name
      self.queue = queue
      self.frames = frames
    }
  }

  public struct Image: Sendable {
    public var name: String
    public var path: String
    public var base: UInt64
    public var size: UInt64
    public var uuid: String

    public init(name: String, path: String, base: UInt64, size: UInt64, uuid: String) {
      self.name = name
      self.path = path
      self.base = base
      self.size = size
      self.uuid = uuid
    }
  }

  public static let app = 0
  public static let kernel = 1
  public static let uiKit = 2
  public static let coreFoundation = 3
  public static let absolute = 4

  public var bugType = "309"
  public var images = [
    Image(
      name: "Demo", path: "/private/var/containers/Bundle/Application/0F9A/Demo.app/Demo", base: 0x1_0040_0000,
      size: 0x2_0000, uuid: "7a3c5e10-0001-4000-8000-00000000a001"),
    Image(
      name: "libsystem_kernel.dylib", path: "/usr/lib/system/libsystem_kernel.dylib", base: 0x1_f000_0000,
      size: 0x3_4000,
      uuid: "7a3c5e10-0002-4000-8000-00000000a002"),
    Image(
      name: "UIKitCore", path: "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore", base: 0x1_8000_0000,
      size: 0x180_0000, uuid: "7a3c5e10-0003-4000-8000-00000000a003"),
    Image(
      name: "CoreFoundation", path: "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation",
      base: 0x1_7000_0000, size: 0x40_0000, uuid: "7a3c5e10-0004-4000-8000-00000000a004"),
  ]
  public var threads: [Thread] = [
    Thread(
      queue: "com.apple.main-thread",
      [
        Frame(app, 0x4a10, "Cart.total(of:)", plus: 24, file: "Cart.swift", line: 31, inlined: true),
        Frame(app, 0x4a10, "CartView.refresh()", plus: 88, file: "CartView.swift", line: 77),
        Frame(app, 0x5120),
        Frame(uiKit, 0x32_0100, "-[UIApplication _run]", plus: 888),
        Frame(uiKit, 0x32_2200, "UIApplicationMain", plus: 340),
        Frame(app, 0x6004, "main", plus: 64),
      ]),
    Thread(name: "com.apple.uikit.eventfetch-thread", [Frame(kernel, 0xb38, "mach_msg2_trap", plus: 8)]),
    Thread([]),
  ]
  public var faultingThread: Int? = 0
  /// Members of the body, as JSON.
  public var exception: String? =
    #"{"codes":"0x0000000000000001, 0x0000000000000010","rawCodes":[1,16],"type":"EXC_BAD_ACCESS","signal":"SIGSEGV","subtype":"KERN_INVALID_ADDRESS at 0x0000000000000010"}"#
  public var termination: String? =
    #"{"flags":0,"code":11,"namespace":"SIGNAL","indicator":"Segmentation fault: 11","byProc":"exc handler","byPid":812}"#
  public var more: [(key: String, json: String)] = []
  public var hasHeader = true

  public init() {}

  public var bytes: [UInt8] { Array(text.utf8) }

  public var text: String { (hasHeader ? header + "\n" : "") + body }

  public var header: String {
    #"{"app_name":"Demo","timestamp":"2026-03-14 15:09:26.00 +0100","app_version":"2.7","slice_uuid":"\#(images[0].uuid)","build_version":"182","platform":2,"bundleID":"com.example.demo","share_with_app_devs":0,"is_first_party":0,"bug_type":"\#(bugType)","os_version":"iPhone OS 18.4 (22E240)","roots_installed":0,"name":"Demo","incident_id":"5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90"}"#
  }

  public var body: String {
    var members: [(String, String)] = [
      ("uptime", "5400"), ("procRole", #""Foreground""#), ("version", "2"), ("userID", "501"),
      ("modelCode", #""iPhone17,1""#),
      ("osVersion", #"{"isEmbedded":true,"train":"iPhone OS 18.4","releaseType":"User","build":"22E240"}"#),
      ("captureTime", #""2026-03-14 15:09:26.5358 +0100""#), ("incident", #""5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90""#),
      ("pid", "812"), ("cpuType", #""ARM-64""#), ("bug_type", "\"\(bugType)\""),
      ("procLaunch", #""2026-03-14 15:07:01.1000 +0100""#), ("procName", #""Demo""#),
      ("procPath", #""\/private\/var\/containers\/Bundle\/Application\/0F9A\/Demo.app\/Demo""#),
      (
        "bundleInfo",
        #"{"CFBundleShortVersionString":"2.7","CFBundleVersion":"182","CFBundleIdentifier":"com.example.demo"}"#
      ),
      ("parentProc", #""launchd""#), ("parentPid", "1"), ("coalitionName", #""com.example.demo""#),
      ("coalitionID", "901"), ("crashReporterKey", #""00112233445566778899aabbccddeeff00112233""#),
    ]
    if let exception { members.append(("exception", exception)) }
    if let termination { members.append(("termination", termination)) }
    members += more.map { ($0.key, $0.json) }
    if let faultingThread { members.append(("faultingThread", String(faultingThread))) }
    members.append(("threads", "[" + threads.enumerated().map { json($1, $0) }.joined(separator: ",\n  ") + "]"))
    members.append(("usedImages", "[" + images.map(json).joined(separator: ",\n  ") + "]"))
    return "{\n" + members.map { "  \"\($0.0)\" : \($0.1)" }.joined(separator: ",\n") + "\n}\n"
  }

  private func json(_ thread: Thread, _ index: Int) -> String {
    var members = ["\"id\":\(4000 + index)"]
    if index == faultingThread { members = ["\"triggered\":true"] + members + [#""threadState":\#(state(thread))"#] }
    if let name = thread.name { members.append("\"name\":\"\(name)\"") }
    if let queue = thread.queue { members.append("\"queue\":\"\(queue)\"") }
    members.append("\"frames\":[" + thread.frames.map(json).joined(separator: ",") + "]")
    return "{" + members.joined(separator: ",") + "}"
  }

  private func state(_ thread: Thread) -> String {
    let pc = thread.frames.first.map { ($0.image < images.count ? images[$0.image].base : 0) + $0.offset } ?? 0
    let x = (0..<29).map { "{\"value\":\($0 == 0 ? 16 : $0 * 0x1111)}" }.joined(separator: ",")
    return
      #"{"x":[\#(x)],"flavor":"ARM_THREAD_STATE64","lr":{"value":4299180548},"cpsr":{"value":1073745920},"fp":{"value":6171913120},"sp":{"value":6171913088},"esr":{"value":2449473542,"description":"(Data Abort) byte read Translation fault"},"pc":{"value":\#(pc),"matchesCrashFrame":1},"far":{"value":16}}"#
  }

  private func json(_ frame: Frame) -> String {
    var members = ["\"imageOffset\":\(frame.offset)"]
    if let symbol = frame.symbol {
      let text = symbol.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      members.append("\"symbol\":\"\(text)\"")
    }
    members.append("\"imageIndex\":\(frame.image)")
    if frame.symbol != nil { members.append("\"symbolLocation\":\(frame.symbolOffset)") }
    if let file = frame.file { members.append("\"sourceFile\":\"\(file)\"") }
    if let line = frame.line { members.append("\"sourceLine\":\(line)") }
    if frame.isInlined { members.append("\"inline\":true") }
    return "{" + members.joined(separator: ",") + "}"
  }

  private func json(_ image: Image) -> String {
    let path = image.path.replacing("/", with: "\\/")
    return
      #"{"source":"P","arch":"arm64","base":\#(image.base),"size":\#(image.size),"uuid":"\#(image.uuid)","path":"\#(path)","name":"\#(image.name)"}"#
  }
}
