// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The logs of Cr4shed: a header of keys, a reason, the stack that crashed, and a list of images without addresses.
extension CrashText {
  /// Whether a text is such a log, which people paste below their own words: no other has these keys.
  static func isCr4shed(_ text: TextBytes) -> Bool {
    let start = text.prefix(4096)
    return start.first(of: "Date: ") != nil && start.first(of: "\nBundle id: ") != nil
      && start.first(of: "\nException type: ") != nil
  }

  /// Reads a line of the header; false for one that is as in Apple's texts.
  mutating func cr4shedHead(_ key: TextKey) -> Bool {
    let value = key.value
    switch key.name {
    case "Date":
      builder.report.captureTime = value.string
      builder.snapshot.snapshotTime = ReportTime.timestamp(value.string)
    case "Bundle id": if !value.equals("(null)") { builder.report.bundleID = value.string }
    case "Bundle version": builder.report.version = value.string
    case "Device": device(value)
    case "Exception type":
      guard value.has(prefix: "EXC_") || value.has(prefix: "SIG") else {
        exceptionName = value.string
        return true
      }
      return readException(TextKey(name: "Exception Type", value: value))
    case "Exception subtype": return readException(TextKey(name: "Exception Subtype", value: value))
    case "Exception codes": return readException(TextKey(name: "Exception Codes", value: value))
    case "Reason":
      if let exceptionName {
        builder.addUncaught(exceptionName, reason: value.string)
      } else {
        builder.addMessage(value.string)
      }
    case "Swift Error Message": builder.addMessage(value.string)
    case "Triggered by thread": faultingNumber = value.decimal ?? 0
    case "Thread name": threadName = value
    default: return false
    }
    return true
  }

  /// "iPhone X, iOS 12.1"
  private mutating func device(_ value: TextBytes) {
    guard let comma = value.last(of: ", ") else { return builder.addField("Device", value.string) }
    builder.snapshot.system.machine = builder.content(value[..<comma].string)
    builder.setSystem(value[(comma + 2)...].string)
  }

  mutating func beginCallStack() {
    builder.report.statesCrash = true
    let number = faultingNumber ?? 0
    faultingNumber = number
    thread = threadIndex(number)
    if let threadName { setName(threadName, of: thread) }
    section = .thread
  }

  /// Parses "12: /usr/lib/libobjc.A.dylib (Version: 228)".
  mutating func loadedImage(_ content: TextBytes) {
    var rest = content
    guard rest.takeNumber() != nil, rest.has(prefix: ": ") else {
      section = .skipped
      return
    }
    rest = rest.dropFirst(2).trimmed
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: " (Version: ") { rest = rest[..<open].trimmed }
    guard !rest.isEmpty else { return }
    let file = rest.lastIndex(of: UInt8(ascii: "/")).map { rest[($0 + 1)...] } ?? rest
    builder.snapshot.modules.append(builder.module(rest.string, file: file.string, address: nil))
  }
}
