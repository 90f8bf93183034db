// SPDX-License-Identifier: Apache-2.0
import Foundation
import IntermediateDump
import Testing

/// crashpadctl-dump(5) and the header of the handler repeat the key table.
@Suite(.serialized) struct KeyTableTests {
  struct Copy: Sendable, CustomTestStringConvertible {
    let file: String
    let part: String
    /// The beginning of a line of comment.
    let comment: String
    let text: String

    var testDescription: String { "\(file), \(part)" }
  }

  static let copies = [
    Copy(file: "man/crashpadctl-dump.5", part: "keys", comment: ".\\\"", text: KeyTableText.keys),
    Copy(file: "man/crashpadctl-dump.5", part: "structure", comment: ".\\\"", text: KeyTableText.structure),
    Copy(file: "Sources/CCrashCapture/crash/dump_keys.h", part: "keys", comment: "//", text: KeyTableText.enumerators),
  ]

  @Test(arguments: copies)
  func `A copy of the key table is that of the sources`(copy: Copy) throws {
    let source = try Repository.text(copy.file)
    let start = try #require(source.range(of: "\(copy.comment) BEGIN \(copy.part)\n")?.upperBound)
    let stop = try #require(source.range(of: "\(copy.comment) END \(copy.part)\n")?.lowerBound)
    if Repository.isUpdating {
      try Repository.write(source[..<start] + copy.text + source[stop...], to: copy.file)
    } else {
      #expect(source[start..<stop] == copy.text, "UPDATE_DOCS=1 writes it anew")
    }
  }
}

/// The key table as man(7), and as C.
enum KeyTableText {
  /// A constant for each key.
  static var enumerators: String { KeyTable.all.map { "\($0.name) = \($0.key.rawValue),\n" }.joined() }

  /// A paragraph for each key.
  static var keys: String {
    var text = ""
    var heading = ""
    for key in KeyTable.all {
      let group = group(of: key.key.rawValue)
      if group != heading { text += ".SS \(group)\n" }
      heading = group
      text += ".TP\n.B \(key.key.rawValue) \(key.name)\n"
      text += "In \(containers(of: key)):\n\(shape(of: key)), \(presence(of: key)).\n"
      text += "\(key.summary).\n".replacingOccurrences(of: "\\", with: "\\e")
    }
    return text
  }

  /// The maps and arrays as they are nested.
  static var structure: String {
    ".EX\nroot map\n" + containers(in: KeyTable.root, indentation: "  ") + ".EE\n"
  }

  private static func containers(in container: DumpKey, indentation: String) -> String {
    var text = ""
    for key in KeyTable.all where key.containers.contains(container) {
      guard key.shape == .map || key.shape == .array else { continue }
      text += "\(indentation)\(key.name) \(key.shape == .map ? "(map)" : "(array)")\n"
      text += containers(in: key.key, indentation: indentation + "  ")
    }
    return text
  }

  private static func group(of number: UInt16) -> String {
    switch number {
    case ..<3000: "Version and exceptions"
    case ..<4000: "Modules"
    case ..<5000: "Process"
    case ..<6000: "System"
    case ..<7000: "Threads"
    default: "Linux processes"
    }
  }

  private static func containers(of key: KeyDescriptor) -> String {
    let names = key.containers.map { $0 == KeyTable.root ? "the root map" : KeyTable.name(of: $0) }
    guard let last = names.last, names.count > 1 else { return names.joined() }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  private static func shape(of key: KeyDescriptor) -> String {
    let unit = key.unit == .none ? "" : ", unit \(key.unit.rawValue)"
    let shape =
      switch key.shape {
      case .map: "map"
      case .array: "array"
      case .boolean: "boolean, 1 byte"
      case .integer(let bytes, let signed):
        "\(signed ? "i" : "u")\(8 * bytes), \(bytes == 1 ? "1 byte" : "\(bytes) bytes")"
      case .time: "time, 16 bytes"
      case .duration: "duration, 8 bytes"
      case .uuid: "UUID, 16 bytes"
      case .text: "text"
      case .bytes: "bytes"
      case .words: "words, 8 bytes each"
      case .state(let arm64, let x86_64): "state, \(arm64) bytes (arm64) or \(x86_64) bytes (x86_64)"
      }
    return shape + unit
  }

  private static func presence(of key: KeyDescriptor) -> String {
    switch key.presence {
    case .required: "required"
    case .expected: "expected"
    case .optional: "optional"
    }
  }
}
