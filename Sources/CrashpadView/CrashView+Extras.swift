// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadFiles
package import CrashpadJSON
internal import CrashpadMeaning
internal import CrashpadSnapshot
internal import CrashpadText

/// Facts that only some writers of dumps record.
extension CrashView {
  // MARK: The error of each thread

  /// The values that GetLastError() returns in each thread of a Windows process, in the order of threads.
  ///
  /// They are in the thread's environment block, 13 pointers from its start; nil if the dump does not have that memory.
  package var lastErrors: [UInt32?] {
    guard snapshot.system.operatingSystem == .windows else { return snapshot.threads.map { _ in nil } }
    let offset: UInt64 = snapshot.system.architecture.hasNarrowAddresses ? 13 * 4 : 13 * 8
    let regions = snapshot.capturedMemory.sorted { $0.address < $1.address }
    return dump.file.withBytes { input in
      snapshot.threads.map { thread in
        guard let block = thread.dataAddress, block != 0,
          case let (address, overflow) = block.addingReportingOverflow(offset),
          !overflow
        else { return nil }
        let behind = regions.indices.partitioningIndex { regions[$0].address > address }
        guard behind > 0, case let region = regions[behind - 1],
          address - region.address < UInt64(region.content.count),
          region.content.count - Int(address - region.address) >= 4
        else { return nil }
        let part = region.content.part(at: Int(address - region.address), count: 4)
        return snapshot.withBytes(of: part, in: input) { $0.uint32(at: 0) }
      }
    }
  }

  /// Such as "ERROR_FILE_NOT_FOUND", or the number.
  package static func name(ofLastError error: UInt32) -> String {
    WindowsErrorNames.lastError(error) ?? "unknown 0x" + hexadecimal(UInt64(error), width: 8)
  }

  // MARK: Handles

  package struct Handle: Sendable {
    package let handle: UInt64
    package let typeName: Text?
    package let objectName: Text?
  }

  /// Nil if the dump does not list them.
  package var handles: [Handle]? {
    snapshot.handles?.map {
      Handle(handle: $0.handle, typeName: text($0.typeName), objectName: text($0.objectName))
    }
  }

  /// Such as "42: 20 Event, 12 File, 10 Key", the most frequent types first.
  var handleSummary: String? {
    guard let handles, !handles.isEmpty else { return nil }
    var counts: [String: Int] = [:]
    for handle in handles { counts[handle.typeName?.line ?? "of no type", default: 0] += 1 }
    let types = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let shown = types.prefix(4).map { "\(grouped($0.value)) \($0.key)" }
    let rest = types.dropFirst(4).reduce(0) { $0 + $1.value }
    return "\(grouped(handles.count)): "
      + (shown + (rest > 0 ? ["\(grouped(rest)) other"] : [])).joined(separator: ", ")
  }

  // MARK: The assertion

  /// Such as "invalid argument of the C library: size > 0, in f (main.cpp:12)".
  package var assertion: String? {
    guard let assertion = snapshot.assertion else { return nil }
    // Some writers reserve the stream for the case of an assertion.
    let texts = [assertion.expression, assertion.function, assertion.file]
    if assertion.kind == 0, texts.allSatisfy(\.isEmpty) { return nil }
    let kind =
      switch assertion.kind {
      case 1: "an invalid argument of the C library"
      case 2: "the call of a pure virtual function"
      default: "an assertion of kind \(assertion.kind)"
      }
    var text = kind + (line(assertion.expression).map { ": \($0)" } ?? "")
    if let function = line(assertion.function) { text += ", in \(function)" }
    if let file = line(assertion.file) { text += " (\(file)\(assertion.line > 0 ? ":\(assertion.line)" : ""))" }
    return text
  }

  // MARK: What macOS and the writer noted

  package struct CrashInfo: Sendable {
    package let thread: UInt64
    package let dialogMode: UInt64
    package let abortCause: UInt64?
    package let module: Text?
    package let message: Text?
    package let signature: Text?
    package let backtrace: Text?
    package let secondMessage: Text?
  }

  /// The texts that modules of macOS left in `__crash_info`.
  package var crashInfo: [CrashInfo] {
    snapshot.crashInfo.map {
      CrashInfo(
        thread: $0.thread, dialogMode: $0.dialogMode, abortCause: $0.abortCause, module: text($0.module),
        message: text($0.message), signature: text($0.signature), backtrace: text($0.backtrace),
        secondMessage: text($0.secondMessage))
    }
  }

  package var bootArguments: Text? { text(snapshot.bootArguments) }

  /// The notes of the dump's writer on what it could not capture, as JSON; nil if there are none, or no JSON.
  package var softErrors: JSONValue? {
    guard let content = snapshot.softErrors else { return nil }
    return dump.file.withBytes { input in
      snapshot.withBytes(of: content, in: input) { bytes in
        let tree = JSONTree(bytes, limit: 100_000)
        return tree.failure == nil && tree.root?.kind == .array ? tree.root : nil
      }
    }
  }

  // MARK: Linux

  /// The parts of /etc/lsb-release or /etc/os-release; nil if the dump has neither.
  package var release: [(name: String, value: String?)]? {
    guard let content = snapshot.linux?.release else { return nil }
    let names = [
      ("id", ["DISTRIB_ID", "ID"]), ("release", ["DISTRIB_RELEASE", "VERSION_ID"]),
      ("codename", ["DISTRIB_CODENAME", "VERSION_CODENAME"]), ("description", ["DISTRIB_DESCRIPTION", "PRETTY_NAME"]),
    ]
    return names.map { ($0.0, value(of: $0.1, in: content, separator: "=").map(Self.unquoted)) }
  }

  /// A limit of a Linux process, as the kernel prints it.
  package struct Limit: Sendable {
    package let name: String
    package let soft: Value
    package let hard: Value
    /// Such as "bytes"; nil if the kernel has none for it.
    package let unit: String?

    package enum Value: Sendable, Hashable {
      case unlimited
      case number(UInt64)
      /// Neither of both.
      case unknown
    }
  }

  /// Nil if the dump has no /proc/self/limits.
  package var processLimits: [Limit]? {
    guard let content = snapshot.linux?.limits else { return nil }
    let text = dump.file.withBytes { snapshot.text(content.prefix(min(content.count, 8192)), in: $0) }
    return text.split(whereSeparator: \.isNewline).dropFirst().compactMap { Self.limit(String($0)) }
  }

  /// A row of a table whose columns are two or more blanks apart: "Max open files            1024                 524288               files     ".
  private static func limit(_ line: String) -> Limit? {
    var columns: [String] = []
    for word in line.split(separator: " ", omittingEmptySubsequences: false) {
      // An empty word is a second blank: a column ends.
      if word.isEmpty {
        if columns.last?.isEmpty == false { columns.append("") }
      } else if columns.last?.isEmpty == false {
        columns[columns.count - 1] += " " + word
      } else {
        if columns.last == nil { columns.append("") }
        columns[columns.count - 1] = String(word)
      }
    }
    columns.removeAll { $0.isEmpty }
    guard columns.count >= 3 else { return nil }
    func value(_ text: String) -> Limit.Value {
      text == "unlimited" ? .unlimited : UInt64(text).map { .number($0) } ?? .unknown
    }
    return Limit(
      name: TextFormat.printable(columns[0]), soft: value(columns[1]), hard: value(columns[2]),
      unit: columns.count > 3 ? TextFormat.printable(columns[3]) : nil)
  }

  /// The number of mappings of a Linux process; nil if the dump has no /proc/self/maps.
  package var mappingCount: Int? {
    guard let maps = snapshot.linux?.maps else { return nil }
    return dump.file.withBytes { input in
      snapshot.withBytes(of: maps, in: input) { bytes in
        var count = 0
        var isAtStart = true
        for index in 0..<bytes.byteCount {
          let byte = bytes.uint8(at: index)
          if isAtStart, byte != 0x0a { count += 1 }
          isAtStart = byte == 0x0a
        }
        return count
      }
    }
  }
}
