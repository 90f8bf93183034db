import CrashpadJSON
import CrashpadSignatures

/// A signature as other documents have it.
enum SignatureJSON {
  /// - Parameter saysNamed: whether it has the member `"named"`.
  static func write(_ signature: Signature?, saysNamed: Bool = false, to json: inout JSONWriter) {
    guard let signature else { return json.null() }
    json.object { json in
      json.member("id", signature.id)
      json.member("text", signature.text)
      json.member("raw", signature.raw)
      if saysNamed { json.member("named", signature.isNamed) }
      json.member("flags", signature.flags.map(\.rawValue))
    }
  }
}
