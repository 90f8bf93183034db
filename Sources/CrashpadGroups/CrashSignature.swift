// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSignatures

/// The identity of a fault: equal for its crashes in every run, whatever the addresses of a build and the order of threads.
public struct CrashSignature: Sendable, Hashable {
  /// The reason why a signature may put different faults together.
  public enum Flag: String, Sendable, CaseIterable {
    /// No thread crashed, or it has no stack: only the kind of the crash counts.
    case noThread = "no-thread"
    /// The stack has no function of the program.
    case system
    /// The stack has only code of language runtimes.
    case runtimeOnly = "runtime-only"
    /// The thread waited for events.
    case idle
  }

  /// The digest of the signature: 16 hexadecimal digits.
  public let id: String
  /// The kind of the crash and the functions at fault, such as "bad-access[null] · Cart::total"; at most 200 bytes.
  public let text: String
  /// The same of modules and offsets alone. It is equal with and without symbols, and differs from build to build.
  public let raw: String
  /// Whether the function at fault has a name.
  public let isNamed: Bool
  /// The reasons why it may put different faults together.
  public let flags: [Flag]

  init(_ signature: Signature) {
    id = signature.id
    text = signature.text
    raw = signature.raw
    isNamed = signature.isNamed
    flags = signature.flags.map { flag in
      switch flag {
      case .noThread: .noThread
      case .system: .system
      case .runtimeOnly: .runtimeOnly
      case .idle: .idle
      }
    }
  }
}
