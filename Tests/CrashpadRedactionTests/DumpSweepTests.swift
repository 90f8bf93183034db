// SPDX-License-Identifier: Apache-2.0
import CrashpadRedaction
import DumpSynth
import Testing

/// Personal data in each text of a dump and of its minidump.
@Suite("Personal data in the texts of dumps")
struct DumpSweepTests {
  /// The places of texts in a dump.
  enum Place: CaseIterable {
    case annotationName, annotation, object, message, threadName, modulePath, executable, argument, variable, release
    case kernelRelease, kernelVersion, distribution, processor
  }

  private static func dump(_ text: String, at place: Place) -> [UInt8] {
    var dump = SynthLinuxDump(.x86_64)
    switch place {
    case .annotationName: dump.annotations = [(text, "v")]
    case .annotation: dump.annotations = [("note", text)]
    case .object: dump.modules[0].objects = [("note", 1, Array(text.utf8))]
    case .message: dump.modules[0].message1 = text
    case .threadName: dump.threads[1].name = text
    case .modulePath: dump.modules[1].path = "/opt/" + text
    case .executable: dump.executable = "/opt/" + text
    case .argument: dump.arguments = ["/opt/x", text]
    case .variable: dump.environment = ["NOTE=" + text]
    case .kernelRelease: dump.kernelRelease = text
    case .kernelVersion: dump.kernelVersion = text
    case .distribution: dump.distribution = text
    case .processor: dump.cpuModel = text
    case .release: dump.release = "PRETTY_NAME=\"\(text)\"\n"
    }
    return dump.bytes
  }

  /// The longest part of an example that must not stay.
  private static func secret(_ text: String, _ rest: String) -> String {
    var parts: [String] = [""]
    for (character, left) in zip(text, rest) {
      if character == left { parts.append("") } else { parts[parts.count - 1].append(character) }
    }
    return parts.max { $0.count < $1.count } ?? ""
  }

  @Test("It is gone", arguments: Place.allCases)
  func gone(_ place: Place) throws {
    for (kind, text, rest) in PersonalKindTests.examples {
      let secret = Self.secret(text, rest)
      try #require(!secret.isEmpty)
      let bytes = Self.dump(text, at: place)
      for bytes in [bytes, try minidump(of: bytes)] {
        let redacted = try Redacted(bytes).bytes
        let isKept =
          redacted.firstRange(of: Array(secret.utf8)) != nil
          || redacted.firstRange(of: secret.utf16.flatMap { Bytes.of($0) }) != nil
        // Short texts may stand anywhere else.
        if secret.utf8.count > 3 { #expect(!isKept, "\(kind): \(text)") }
        #expect(try Redacted(redacted).bytes == redacted)
      }
    }
  }
}
