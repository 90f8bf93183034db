// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
@testable import IntermediateDump
import Testing

/// A damaged dump, what is wrong with it, and what is left of it.
struct FramingCase: Sendable, CustomTestStringConvertible {
  let code: String
  let bytes: [UInt8]
  let offset: Int?
  var path = ""
  var kept = ""
  var expected: Finding.Value?
  var found: Finding.Value?
  var testDescription: String { "\(code) at \(offset.map(String.init) ?? "no place") in \(bytes.count) bytes" }
}

private func dump(_ body: (inout DumpBuilder) -> Void) -> [UInt8] {
  var builder = DumpBuilder()
  builder.rootStart()
  body(&builder)
  return builder.bytes
}

/// kVersion as the first record behind the root's start; the next record begins at 13.
private let version: [UInt8] = [5, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]

private let framingCases: [FramingCase] = [
  FramingCase(code: "empty-file", bytes: [], offset: nil),
  FramingCase(code: "bad-start", bytes: [7], offset: 0, expected: .code(6), found: .code(7)),
  FramingCase(code: "bad-start", bytes: [0x7b, 6], offset: 0, expected: .code(6), found: .code(0x7b)),
  FramingCase(code: "no-root-end", bytes: [6], offset: 1),
  FramingCase(code: "no-root-end", bytes: [6] + version, offset: 13, kept: "kVersion:1"),
  FramingCase(
    code: "no-root-end", bytes: [6] + version + [3, 0x70, 0x17, 1], offset: 17, path: "kThreads[0]",
    kept: "kVersion:1 kThreads[{}]"),
  FramingCase(
    code: "no-root-end", bytes: [6, 3, 0x70, 0x17, 1, 2, 1, 2], offset: 8, path: "kThreads", kept: "kThreads[{}{}]"),
  FramingCase(code: "bad-command", bytes: [6, 0], offset: 1, found: .code(0)),
  FramingCase(code: "bad-command", bytes: [6] + version + [8], offset: 13, kept: "kVersion:1", found: .code(8)),
  FramingCase(
    code: "bad-command", bytes: [6, 3, 0x70, 0x17, 255], offset: 4, path: "kThreads", kept: "kThreads[]",
    found: .code(255)),
  FramingCase(code: "truncated-key", bytes: [6, 5], offset: 1),
  FramingCase(code: "truncated-key", bytes: [6, 5, 1], offset: 1),
  FramingCase(code: "truncated-key", bytes: [6, 1, 0xa0], offset: 1),
  FramingCase(code: "truncated-key", bytes: [6, 3], offset: 1),
  FramingCase(
    code: "truncated-key", bytes: [6, 1, 0xa0, 0x0f, 3, 1], offset: 4, path: "kProcessInfo", kept: "kProcessInfo{}"),
  FramingCase(code: "truncated-length", bytes: [6, 5, 1, 0], offset: 1, path: "kVersion"),
  FramingCase(code: "truncated-length", bytes: [6] + version.prefix(10), offset: 1, path: "kVersion"),
  FramingCase(
    code: "truncated-value", bytes: [6] + version.prefix(11), offset: 1, path: "kVersion", expected: .byteCount(1),
    found: .byteCount(0)),
  FramingCase(
    code: "truncated-value",
    bytes: dump {
      $0.arrayStart(number: 6000)
      for _ in 0..<2 { $0.mapInArray { $0.property(.threadID, uint64: 1) } }
      $0.mapStartInArray()
      $0.property(.threadID, uint64: 7)
      $0.property(number: 6006, claiming: 4096, [1, 2, 3])
    },
    offset: 66, path: "kThreads[2].kStackRegionData",
    kept: "kThreads[{kThreadID:8}{kThreadID:8}{kThreadID:8}]", expected: .byteCount(4096), found: .byteCount(3)),
  FramingCase(
    code: "trailing-bytes", bytes: [6] + version + [7, 0], offset: 14, kept: "kVersion:1", found: .byteCount(1)),
  FramingCase(
    code: "trailing-bytes", bytes: [6] + version + [7, 6, 7], offset: 14, kept: "kVersion:1", found: .byteCount(2)),
  FramingCase(code: "second-root", bytes: [6, 6], offset: 1),
  FramingCase(code: "second-root", bytes: [6, 3, 0x70, 0x17, 6], offset: 4, path: "kThreads", kept: "kThreads[]"),
  FramingCase(
    code: "root-end-nested", bytes: [6, 1, 0xa0, 0x0f, 7], offset: 4, path: "kProcessInfo", kept: "kProcessInfo{}"),
  FramingCase(
    code: "record-in-array", bytes: [6, 3, 0x70, 0x17] + version, offset: 4, path: "kThreads", kept: "kThreads[]"),
  FramingCase(
    code: "record-in-array", bytes: [6, 3, 0x70, 0x17, 1, 2, 3, 1, 0], offset: 6, path: "kThreads", kept: "kThreads[{}]"
  ),
  FramingCase(
    code: "wrong-end", bytes: [6, 1, 0xa0, 0x0f, 4], offset: 4, path: "kProcessInfo", kept: "kProcessInfo{}"),
  FramingCase(code: "wrong-end", bytes: [6, 3, 0x70, 0x17, 2], offset: 4, path: "kThreads", kept: "kThreads[]"),
  FramingCase(code: "end-at-root", bytes: [6] + version + [2], offset: 13, kept: "kVersion:1"),
  FramingCase(code: "end-at-root", bytes: [6, 4], offset: 1),
  FramingCase(code: "zero-key", bytes: [6] + version + [5, 0, 0], offset: 13, kept: "kVersion:1"),
  FramingCase(code: "zero-key", bytes: [6, 1, 0, 0, 2, 7], offset: 1),
  FramingCase(code: "zero-key", bytes: [6, 3, 0, 0, 4, 7], offset: 1),
  FramingCase(
    code: "value-too-long", bytes: dump { $0.propertyHeader(number: 4002, length: 64 << 20 + 1) }, offset: 1,
    path: "kPID",
    expected: .byteCount(64 << 20), found: .byteCount(64 << 20 + 1)),
  FramingCase(
    code: "value-too-long", bytes: dump { $0.propertyHeader(number: 9999, length: .max) }, offset: 1, path: "9999",
    expected: .byteCount(64 << 20), found: .byteCount(.max)),
  FramingCase(
    code: "truncated-value", bytes: dump { $0.propertyHeader(number: 4002, length: 64 << 20) }, offset: 1, path: "kPID",
    expected: .byteCount(64 << 20), found: .byteCount(0)),
  FramingCase(
    code: "too-deep", bytes: dump { $0.nested(levels: 10, number: 8000) }, offset: 31,
    path: Array(repeating: "8000", count: 10).joined(separator: "."),
    kept: String(repeating: "8000{", count: 10) + String(repeating: "}", count: 10)),
]

@Suite("DumpTree: framing")
struct DumpTreeFramingTests {
  @Test("Each damage has its code, offset, path and values, and keeps what came before", arguments: framingCases)
  func damage(_ example: FramingCase) throws {
    try withBytes(example.bytes) { bytes in
      let tree = DumpTree(parsing: bytes)
      let cause = try #require(tree.incomplete)
      #expect(cause.rule.code == example.code)
      #expect(cause.offset == example.offset)
      #expect(cause.path == example.path)
      #expect(cause.severity == .error)
      #expect(cause.expected == example.expected)
      #expect(cause.found == example.found)
      #expect(tree.isEmpty == example.kept.isEmpty)
    }
    #expect(outline(example.bytes) == example.kept)
    // The table itself is held to the second reader, so that a slip in it is not taken for a bug.
    let naive = NaiveReader(example.bytes)
    #expect(naive.error == example.code)
    #expect(naive.errorOffset == example.offset)
  }

  @Test("Every framing rule has a case here")
  func everyRule() {
    let framing: [Rule] = [
      DumpRules.emptyFile, DumpRules.badStart, DumpRules.badCommand, DumpRules.noRootEnd, DumpRules.truncatedKey,
      DumpRules.truncatedLength, DumpRules.truncatedValue, DumpRules.trailingBytes, DumpRules.secondRoot,
      DumpRules.rootEndNested, DumpRules.recordInArray, DumpRules.wrongEnd, DumpRules.endAtRoot, DumpRules.zeroKey,
      DumpRules.valueTooLong, DumpRules.tooDeep,
    ]
    #expect(Set(framing.map(\.code)) == Set(framingCases.map(\.code)))
  }

  @Test("Codes are lower case with hyphens, and none is used twice")
  func codes() {
    let codes = DumpRules.all.map(\.code)
    #expect(Set(codes).count == codes.count)
    for code in codes {
      #expect(code.utf8.allSatisfy { $0 == 0x2d || (0x61...0x7a).contains($0) }, "\(code)")
    }
  }

  @Test("An empty root map is complete and empty")
  func emptyRoot() {
    withBytes([6, 7]) { bytes in
      let tree = DumpTree(parsing: bytes)
      #expect(tree.incomplete == nil)
      #expect(tree.isEmpty)
      #expect(tree.stopOffset == 2)
    }
  }

  @Test("Nine containers below the root are read, ten are not", arguments: 1...12)
  func depth(_ levels: Int) {
    var maps = DumpBuilder()
    maps.root { $0.nested(levels: levels, number: 8000) }
    // Arrays count as well: pairs of an array and the map in it.
    var pairs = DumpBuilder()
    pairs.root { builder in
      for level in 0..<levels {
        if level.isMultiple(of: 2) { builder.arrayStart(number: 6000) } else { builder.mapStartInArray() }
      }
      for level in (0..<levels).reversed() {
        if level.isMultiple(of: 2) { builder.arrayEnd() } else { builder.mapEnd() }
      }
    }
    for array in [maps.bytes, pairs.bytes] {
      withBytes(array) { bytes in
        let tree = DumpTree(parsing: bytes)
        #expect(tree.incomplete?.rule.code == (levels <= 9 ? nil : "too-deep"))
        #expect(tree.flattened(bytes).count == min(levels, 10))
        #expect(tree.flattened(bytes) == NaiveReader(array).records)
      }
    }
  }

  @Test("The limit of the depth can be set")
  func depthLimit() {
    var builder = DumpBuilder()
    builder.root { $0.nested(levels: 3, number: 8000) }
    withBytes(builder.bytes) { bytes in
      var limits = Limits()
      limits.maximumDepth = 3
      #expect(DumpTree(parsing: bytes, limits: limits).incomplete?.rule.code == "too-deep")
      limits.maximumDepth = 4
      #expect(DumpTree(parsing: bytes, limits: limits).incomplete == nil)
    }
  }

  @Test("A value of exactly 64 MiB is read, one byte more is not", arguments: [0, 1])
  func longestValue(_ more: Int) {
    let count = 64 << 20 + more
    var builder = DumpBuilder(capacity: count + 32)
    builder.rootStart()
    builder.property(number: 6006, [UInt8](repeating: 5, count: count))
    builder.rootEnd()
    withBytes(builder.bytes) { bytes in
      let tree = DumpTree(parsing: bytes)
      #expect(tree.incomplete?.rule.code == (more == 0 ? nil : "value-too-long"))
      #expect(tree.flattened(bytes).map(\.contentEnd) == (more == 0 ? [12 + count] : []))
      #expect(tree.stopOffset == (more == 0 ? bytes.byteCount : 1))
    }
  }
}
