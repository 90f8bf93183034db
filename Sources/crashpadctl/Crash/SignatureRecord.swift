// SPDX-License-Identifier: Apache-2.0
import CrashpadSignatures

/// A signature in JSON documents.
enum SignatureRecord {
  static let record = Record<Signature>(members)

  /// The same, with whether the function at fault has a name.
  static let withNamed = Record<Signature>(
    [
      members[0], members[1], members[2], .flag("named", "Whether the function at fault has a name.") { $0.isNamed },
      members[3],
    ])

  private static let members: [Member<Signature>] = [
    .text("id", "Sixteen hexadecimal digits, which crashes with the same fault share.", .always) { $0.id },
    .text("text", "The signature in words; see crashpadctl-group(5).", .always) { $0.text },
    .text("raw", "The same without symbols.", .always) { $0.raw },
    .texts(
      "flags", of: .oneOf(Signature.Flag.allCases.map(\.rawValue)),
      "`no-thread` (no thread crashed, or it has no stack), `system` (no function of the program is in the stack), "
        + "`runtime-only` and `idle`."
    ) { $0.flags.map(\.rawValue) },
  ]
}
