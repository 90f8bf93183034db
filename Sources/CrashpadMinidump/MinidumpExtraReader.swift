// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what only some writers add: handles, the assertion that failed, and the streams of Mozilla's writers.
extension MinidumpReader {
  mutating func readHandles(_ range: ByteRange, _ bytes: RawSpan) {
    let (offsets, _) = extendedEntries(
      of: range, minimumSize: 32, countBytes: 4, price: Price.handle, "HandleData", bytes)
    snapshot.handles = offsets.enumerated().map { index, offset in
      HandleSnapshot(
        handle: bytes.uint64(at: offset),
        typeName: optionalString(field: offset + 8, "HandleData[\(index)].Type", bytes),
        objectName: optionalString(field: offset + 12, "HandleData[\(index)].Name", bytes))
    }
  }

  /// Nil for an RVA of 0, which stands for none.
  private mutating func optionalString(
    field: Int, _ path: @autoclosure () -> String, _ bytes: RawSpan
  ) -> SnapshotBytes? {
    let rva = Int(bytes.uint32(at: field))
    return rva == 0 ? nil : string(at: rva, field: field, path(), bytes)
  }

  /// Reads Breakpad's MDRawAssertionInfo: three texts of 128 UTF-16 units, the line and the kind.
  mutating func readAssertion(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 776, "AssertionInfo") else { return }
    func text(_ index: Int) -> ByteRange { ByteRange(offset: range.offset + 256 * index, count: 256) }
    snapshot.assertion = AssertionSnapshot(
      expression: fixedString(text(0), "AssertionInfo.Expression", bytes),
      function: fixedString(text(1), "AssertionInfo.Function", bytes),
      file: fixedString(text(2), "AssertionInfo.File", bytes), line: bytes.uint32(at: range.offset + 768),
      kind: bytes.uint32(at: range.offset + 772))
  }

  /// Reads Windows' tables of functions that the program made, each behind a description, with entries of x86-64: the addresses of
  /// the first byte and behind the last one, and of the rules, relative to a base. Other processors have other entries.
  mutating func readFunctionTables(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 24, "FunctionTable"), snapshot.system.architecture == .x86_64 else { return }
    func number(_ index: Int) -> Int { Int(bytes.uint32(at: range.offset + 4 * index)) }
    let (header, description, native, size) = (number(0), number(1), number(2), number(3))
    guard header >= 24, header <= range.count, description >= 32, native <= range.count, size == 12 else { return }
    var place = range.offset + header + number(5)
    for index in 0..<number(4) {
      guard place <= range.end - description else {
        findings.append(Finding(MinidumpRules.streamTooShort, at: range.offset, path: "FunctionTable[\(index)]"))
        return
      }
      let base = bytes.uint64(at: place + 16)
      let count = Int(bytes.uint32(at: place + 24))
      let padding = Int(bytes.uint32(at: place + 28))
      let entries = entries(
        from: min(place + description + native, range.end), to: range.end, count: count, size: size,
        price: Price.function, "FunctionTable[\(index)]")
      for entry in entries {
        let (first, end) = (UInt64(bytes.uint32(at: entry)), UInt64(bytes.uint32(at: entry + 4)))
        if first < end { snapshot.madeFunctions.append(MadeFunction(address: base &+ first, end: base &+ end)) }
      }
      guard entries.count == count else { return }
      place += description + native + count * size + padding
    }
  }

  // MARK: Mozilla's streams. Source: rust-minidump, the description of its format

  /// Reads a list of at most 20 records, each with numbers of 64 bits and then five texts that end with a NUL.
  mutating func readCrashInfo(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 172, "MacCrashInfo") else { return }
    let count = Int(bytes.uint32(at: range.offset + 4))
    let textStart = Int(bytes.uint32(at: range.offset + 8))
    for index in 0..<min(count, 20) {
      let place = location(at: range.offset + 12 + 8 * index, bytes)
      guard let record = self.range(rva: place.rva, count: place.size, bytes), record.count >= 32,
        (32...record.count).contains(textStart)
      else {
        findings.append(
          Finding(MinidumpRules.streamTooShort, at: range.offset + 12 + 8 * index, path: "MacCrashInfo[\(index)]"))
        continue
      }
      snapshot.crashInfo.append(crashInfo(record, textStart: textStart, bytes))
    }
  }

  private func crashInfo(_ record: ByteRange, textStart: Int, _ bytes: RawSpan) -> CrashInfoSnapshot {
    let hasCause = bytes.uint64(at: record.offset + 8) >= 5 && textStart >= 40
    var info = CrashInfoSnapshot(
      thread: bytes.uint64(at: record.offset + 16), dialogMode: bytes.uint64(at: record.offset + 24),
      abortCause: hasCause ? bytes.uint64(at: record.offset + 32) : nil)
    var place = record.offset + textStart
    func text() -> SnapshotBytes? {
      guard place < record.end else { return nil }
      let end = bytes.firstZero(in: ByteRange(offset: place, count: record.end - place))
      defer { place = end + 1 }
      return end == place ? nil : SnapshotBytes(inputOffset: place, count: end - place)
    }
    info.module = text()
    info.message = text()
    info.signature = text()
    info.backtrace = text()
    info.secondMessage = text()
    return info
  }

  mutating func readBootArguments(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 12, "MacBootArgs") else { return }
    let rva = Int(clamping: bytes.uint64(at: range.offset + 4))
    guard rva <= bytes.byteCount else {
      findings.append(Finding(MinidumpRules.stringOutside, at: range.offset + 4, path: "MacBootArgs"))
      return
    }
    snapshot.bootArguments = string(at: rva, field: range.offset + 4, "MacBootArgs", bytes)
  }
}
