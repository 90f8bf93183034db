// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Crashlytics' export of an issue as text: a header of comments, and threads whose frames have offsets in their images.
struct CrashlyticsText {
  private var builder: ReportBuilder
  private var modules: [TextBytes: Int] = [:]

  /// Whether a text is such an export.
  static func begins(_ text: TextBytes) -> Bool { text.has(prefix: "# Crashlytics - ") }

  static func read(_ text: TextBytes, into builder: inout ReportBuilder) {
    var reader = CrashlyticsText(builder: builder)
    for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) { reader.read(line.trimmed) }
    if reader.builder.snapshot.threads.isEmpty { reader.builder.note(ReportRules.noThreads) }
    // The export never lists them.
    reader.builder.note(ReportRules.noImages)
    builder = reader.builder
  }

  private init(builder: ReportBuilder) { self.builder = builder }

  private mutating func read(_ line: TextBytes) {
    if line.has(prefix: "#") {
      let words = line.dropFirst().trimmed
      if !words.isEmpty, !head(words) { beginThread(words) }
    } else if line.has(prefix: "Fatal Exception: ") || line.has(prefix: "Non-fatal Exception: ") {
      exception(line)
    } else {
      frame(line)
    }
  }

  // MARK: Head

  /// Reads "Version: 2.1.0 (17)"; false for the title of a thread.
  private mutating func head(_ line: TextBytes) -> Bool {
    if line.has(prefix: "Crashlytics - ") { return true }
    guard let colon = line.first(of: ": ") else { return false }
    let value = line[(colon + 2)...].trimmed.string
    switch line[..<colon].string {
    case "Crashed", "Fatal Exception", "Non-fatal Exception": return false
    case "Application": builder.report.processName = value
    case "Bundle Identifier", "Bundle ID": builder.report.bundleID = value
    case "Version": version(line[(colon + 2)...].trimmed)
    case "Platform": platform(value)
    case "OS Version", "OS": builder.setSystem(value)
    case "Device": builder.snapshot.system.machine = builder.content(value)
    case "Session": builder.report.incident = value
    case "Date":
      builder.report.captureTime = value
      builder.snapshot.snapshotTime = ReportTime.timestamp(value)
    default: builder.addField(line[..<colon].string, value)
    }
    return true
  }

  /// "apple" is all of Apple's, "ios" is more.
  private mutating func platform(_ value: String) {
    builder.addField("Platform", value)
    guard let name = PlatformNames.platform(named: value), builder.snapshot.system.platform == nil else { return }
    builder.snapshot.system.platform = Platform(name)
    builder.snapshot.system.operatingSystem = name == .macOS ? .macos : .ios
  }

  private mutating func version(_ value: TextBytes) {
    guard value.last == UInt8(ascii: ")"), let open = value.last(of: " (") else {
      builder.report.version = value.string
      return
    }
    builder.report.version = value[..<open].trimmed.string
    builder.report.build = value[(open + 2)...].dropLast().string
  }

  // MARK: Threads

  /// Begins "Crashed: com.apple.main-thread", "Thread" or the name of a thread.
  private mutating func beginThread(_ title: TextBytes) {
    let isCrashed = title.has(prefix: "Crashed: ")
    let name = isCrashed ? title.dropFirst("Crashed: ".utf8.count).trimmed : title
    var thread = ThreadSnapshot()
    thread.frames = []
    if name.equals("com.apple.main-thread") {
      thread.queue = builder.content(name.string)
    } else if !name.equals("Thread") {
      thread.name = builder.content(name.string)
    }
    if isCrashed { builder.report.statesCrash = true }
    if isCrashed, builder.report.faultingThread == nil {
      builder.report.faultingThread = builder.snapshot.threads.count
    }
    builder.snapshot.threads.append(thread)
  }

  /// "Fatal Exception: NSRangeException"; the frames of its stack follow.
  private mutating func exception(_ line: TextBytes) {
    guard let colon = line.first(of: ": ") else { return }
    let name = line[(colon + 2)...].trimmed.string
    builder.report.isNonFatal = line.has(prefix: "Non-fatal")
    builder.report.statesCrash = !builder.report.isNonFatal
    // A report of an error that the program caught says no more than its name.
    if builder.report.isNonFatal { builder.addMessage(line.string) } else { builder.addUncaught(name, reason: nil) }
    var thread = ThreadSnapshot()
    thread.frames = []
    if builder.report.faultingThread == nil { builder.report.faultingThread = builder.snapshot.threads.count }
    builder.snapshot.threads.append(thread)
  }

  /// Parses "0  Sample    0x5a10 parse_config() + 12 (Config.swift:12)", whose number is the offset in the image.
  private mutating func frame(_ line: TextBytes) {
    guard !builder.snapshot.threads.isEmpty else { return }
    guard let source = TextFrame(line) else {
      if line.first.map({ (0x30...0x39).contains($0) }) == true {
        builder.note(ReportRules.badFrame, at: line.startIndex)
      } else {
        builder.report.notes.append(line.string)
      }
      return
    }
    var frame = RecordedFrame(address: source.address)
    frame.function = source.function == "(Missing)" ? nil : source.function
    frame.file = source.file
    // The number behind "+" is the line where the frame has a file. Without debug information both are an address.
    frame.line = source.line
    if source.file == nil { frame.functionOffset = source.functionOffset }
    if !source.image.equals("???") {
      frame.module = module(source.image)
      frame.moduleOffset = source.address
    }
    builder.snapshot.threads[builder.snapshot.threads.count - 1].frames?.append(frame)
  }

  private mutating func module(_ name: TextBytes) -> Int {
    if let index = modules[name] { return index }
    var module = builder.module(name.string, file: nil, address: nil)
    module.debugName = module.name
    modules[name] = builder.snapshot.modules.count
    builder.snapshot.modules.append(module)
    return builder.snapshot.modules.count - 1
  }
}
