// SPDX-License-Identifier: Apache-2.0
package import CrashpadJSON

/// Signatures on their way from one process to another, without the explanation.
extension Signature {
  package func write(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("text", text)
    json.member("raw", raw)
    json.member("named", isNamed)
    json.member("flags", flags.map(\.rawValue))
  }

  package init?(_ value: JSONValue) {
    guard let id = value["id"]?.string, let text = value["text"]?.string, let raw = value["raw"]?.string else {
      return nil
    }
    self.init(
      id: id, text: text, raw: raw, isNamed: value["named"]?.bool == true,
      flags: value["flags"]?.strings.compactMap { Flag(rawValue: $0) } ?? [], explanation: [])
  }
}
