// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads the JSON and the text that swift-backtrace writes.
enum SwiftBacktraceReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) {
    let start = bytes.skippingBlanks(0)
    let head = bytes.array(in: ByteRange(offset: start, count: min(2, bytes.byteCount - start)))
    guard head[...].beginsObject else {
      var text = SwiftBacktraceText(builder)
      text.read(bytes)
      builder = text.builder
      return
    }
    guard let root = builder.readJSON(JSONTree(bytes, from: start)) else {
      builder.isRefused = true
      return
    }
    builder.readSwiftBacktrace(root)
  }
}

/// The names of signals in swift-backtrace, with their numbers on Linux.
enum SwiftSignals {
  static let all: [(description: String, name: String, linux: UInt32)] = [
    ("Quit", "SIGQUIT", 3), ("Illegal instruction", "SIGILL", 4), ("System trap", "SIGTRAP", 5),
    ("Aborted", "SIGABRT", 6), ("Bus error", "SIGBUS", 7), ("Floating point exception", "SIGFPE", 8),
    ("Bad pointer dereference", "SIGSEGV", 11), ("Terminated", "SIGTERM", 15),
  ]
}

extension ReportBuilder {
  // MARK: Shared by both forms

  /// - Parameters:
  ///   - description: "Illegal instruction", "Signal 9".
  ///   - address: the address of the fault.
  mutating func setSwiftException(_ description: String, address: UInt64?) {
    let row = SwiftSignals.all.first { $0.description == description }
    let number = row?.linux ?? description.split(separator: " ").last.flatMap { UInt32($0) }
    report.exceptionType = row?.name ?? description
    report.exceptionMessage = description
    report.faultAddress = address
    let thread = report.faultingThread.map { UInt64($0) } ?? .max
    if snapshot.system.operatingSystem == .macos {
      setException(type: row?.name, signal: row?.name, codes: [], thread: thread)
      report.exceptionType = row?.name ?? description
    } else if let number {
      var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: thread, code: number)
      exception.address = address ?? 0
      exception.isAddressKnown = address != nil
      // It has the signal's number, and not its code.
      exception.isInfoKnown = false
      snapshot.exception = exception
    }
    if address != nil { snapshot.exception?.address = address ?? 0 }
    setExceptionContext()
  }

  /// Parses "Linux (Debian GNU/Linux 12 (bookworm))", "macOS 14.5 (23F79)".
  mutating func setSwiftPlatform(_ text: String) {
    guard text.hasPrefix("Linux") else { return setSystem(text) }
    snapshot.system.operatingSystem = .linux
    let inner = text.dropFirst("Linux".count).drop { $0 == " " }
    report.osText = inner.hasPrefix("(") && inner.hasSuffix(")") ? String(inner.dropFirst().dropLast()) : text
  }

  /// - Parameters:
  ///   - identity: the digits of a build ID or UUID.
  ///   - end: the address after its code.
  mutating func addSwiftImage(name: String, path: String, identity: String, start: UInt64, end: UInt64?) {
    var module = module(
      path.isEmpty ? name : path, file: name, address: start, size: end.flatMap { $0 >= start ? $0 - start : nil })
    let bytes = SwiftHex.bytes(identity)
    if snapshot.system.operatingSystem == .macos, let uuid = UUIDBytes(text: identity) {
      module.identity = .uuid(uuid, age: 0)
    } else if !bytes.isEmpty {
      module.identity = .buildID(snapshot.store(bytes))
    }
    snapshot.modules.append(module)
  }

  /// Finds the images of all frames, by address or by the image name in the frame.
  ///
  /// - Parameter names: the image names in the frames of each thread.
  mutating func resolveSwiftFrames(_ names: [[String?]]) {
    // A backtrace without its images has their names in the frames.
    if snapshot.modules.isEmpty {
      var known: Set<String> = []
      for name in names.joined() {
        guard let name, known.insert(name).inserted else { continue }
        snapshot.modules.append(module(name, file: name, address: nil))
      }
    }
    let images = TextImageIndex(snapshot)
    for thread in snapshot.threads.indices {
      for index in (snapshot.threads[thread].frames ?? []).indices {
        let address = snapshot.threads[thread].frames?[index].address ?? 0
        let name = names[thread][index]
        let found = images.index(containing: address) ?? name.flatMap { images.index(named: Array($0.utf8)[...]) }
        snapshot.threads[thread].frames?[index].module = found
        guard let found, let start = snapshot.modules[found].address, start <= address else { continue }
        snapshot.threads[thread].frames?[index].moduleOffset = address - start
      }
    }
  }

  // MARK: JSON

  fileprivate mutating func readSwiftBacktrace(_ root: JSONValue) {
    report.captureTime = root["timestamp"]?.string
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime)
    report.codeType = root["architecture"]?.string
    snapshot.system.architecture = report.codeType.map { ReportNames.architecture($0) } ?? .unknown
    setSwiftPlatform(root["platform"]?.string ?? "")
    for image in root["images"]?.elements ?? [] {
      guard let start = image["baseAddress"]?.uint64 else {
        note(ReportRules.badImage, at: image.offset)
        continue
      }
      addSwiftImage(
        name: image["name"]?.string ?? "", path: image["path"]?.string ?? "",
        identity: image["buildId"]?.string ?? image["uuid"]?.string ?? "", start: start,
        end: image["endOfText"]?.uint64)
    }
    addField("Omitted Images", root["omittedImages"]?.display)
    var names: [[String?]] = []
    for thread in root["threads"]?.elements ?? [] { names.append(readSwiftThread(thread)) }
    if snapshot.threads.isEmpty { note(ReportRules.noThreads) }
    resolveSwiftFrames(names)
    for (address, bytes) in root["capturedMemory"]?.members ?? [] {
      let content = SwiftHex.bytes(bytes.string ?? "")
      guard let start = Array(address.utf8)[...].address, !content.isEmpty else { continue }
      snapshot.extraMemory.append(MemoryRegion(address: start, content: snapshot.store(content)))
    }
    setSwiftException(root["description"]?.string ?? "", address: root["faultAddress"]?.uint64)
  }

  /// Reads a thread. Returns the image names of its frames.
  private mutating func readSwiftThread(_ value: JSONValue) -> [String?] {
    var thread = ThreadSnapshot()
    var names: [String?] = []
    thread.id = value["id"]?.uint64
    thread.name = content(value["name"]?.string)
    thread.frames = []
    if value["crashed"]?.bool == true, report.faultingThread == nil { report.faultingThread = snapshot.threads.count }
    thread.context = context(value["registers"])
    for source in value["frames"]?.elements ?? [] {
      if let kind = source["kind"]?.string, kind == "truncated" || kind == "omittedFrames" { continue }
      guard let address = source["address"]?.uint64 else {
        note(ReportRules.badFrame, at: source.offset)
        continue
      }
      var frame = RecordedFrame(address: address)
      frame.function = source["symbol"]?.string.flatMap { $0.isEmpty ? nil : $0 }
      frame.functionOffset = source["offset"]?.uint64
      frame.isInlined = source["inlined"]?.bool ?? false
      frame.file = source["sourceLocation"]?["file"]?.string
      frame.line = source["sourceLocation"]?["line"]?.uint32
      thread.frames?.append(frame)
      names.append(source["image"]?.string)
    }
    snapshot.threads.append(thread)
    return names
  }
}
