// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import SystemPackage

/// The crash of an input on its way from the process that read it.
enum CrashAnswer {
  // MARK: Requests

  static func request(_ input: InputList.Input) -> [UInt8] {
    JSONWriter.bytes(.compact) { json in
      json.object { json in
        json.member("name", input.name)
        json.member("argument", input.argument)
      }
    }
  }

  static func input(_ request: [UInt8]) -> InputList.Input? {
    guard let root = unsafe JSONTree(request.span.bytes).root, let name = root["name"]?.string,
      let argument = root["argument"]?.string
    else { return nil }
    return InputList.Input(name: name, argument: argument, relativePath: FilePath(), isFound: false)
  }

  // MARK: Answers

  /// - Parameters:
  ///   - faults: lines about files with symbols.
  ///   - isWhole: whether all files with symbols could be examined.
  ///   - mayGetNames: whether a later run may find names that this one did not.
  static func bytes(
    _ result: BatchResult<CrashReader.Crash>, faults: [String], isWhole: Bool, mayGetNames: Bool
  ) -> [UInt8] {
    JSONWriter.bytes(.compact) { json in
      json.object { json in
        json.member("status", result.status.rawValue)
        json.member("messages", result.messages)
        json.member("failure", result.failure?.text)
        json.member("reports", result.reportCount)
        json.member("faults", faults)
        json.member("whole", isWhole)
        json.member("open", mayGetNames)
        guard let crash = result.value else { return }
        json.object("signature") { crash.signature.write(to: &$0) }
        if let compared = crash.compared { json.object("compared") { compared.write(to: &$0) } }
        json.object("crash") { crash.facts.write(to: &$0) }
      }
    }
  }

  /// The answer of a process.
  struct Received {
    var result: BatchResult<CrashReader.Crash>
    let faults: [String]
    let isWhole: Bool
    let mayGetNames: Bool

    /// Nil for bytes that are no answer.
    init?(_ bytes: [UInt8]) {
      guard let root = unsafe JSONTree(bytes.span.bytes).root,
        let status = root["status"]?.int64.flatMap({ ExitStatus(rawValue: Int32(truncatingIfNeeded: $0)) })
      else { return nil }
      result = BatchResult(status: status, messages: root["messages"]?.strings ?? [])
      result.failure = root["failure"]?.string.map { FailureText($0, status) }
      result.reportCount = root["reports"]?.int64.flatMap { Int(exactly: $0) } ?? 0
      faults = root["faults"]?.strings ?? []
      isWhole = root["whole"]?.bool == true
      mayGetNames = root["open"]?.bool != false
      guard let signature = root["signature"].flatMap({ Signature($0) }),
        let facts = root["crash"].flatMap({ CrashFacts($0) })
      else { return }
      result.value = CrashReader.Crash(
        signature: signature, compared: root["compared"].flatMap { Signature($0) }, facts: facts)
    }
  }
}
