// SPDX-License-Identifier: Apache-2.0
internal import CrashpadCore
package import CrashpadSignatures
internal import CrashpadSnapshot
package import SystemPackage

extension CrashFacts {
  /// - Parameters:
  ///   - dump: the input.
  ///   - snapshot: its snapshot.
  ///   - input: the name of the input.
  ///   - path: that of the input; nil for standard input.
  ///   - displayed: converts a text from the input to the form in which groups show it.
  package init(
    _ dump: Dump, _ snapshot: ProcessSnapshot, input: String, at path: FilePath?,
    displayed: @escaping (String) -> String
  ) {
    self.init(
      snapshot, dump.file, by: CrashAccount.Writer(dump.format), input: input,
      sharedID: dump.sharedCrashID(path)?.text, displayed: displayed)
  }
}

extension CrashAccount.Writer {
  /// The writer of inputs in a format.
  init(_ format: InputFormat) {
    switch format {
    case .ips, .crash: self = .system
    case .metricKit: self = .metricKit
    case .intermediateDump, .minidump, .microdump, .json, .core, .ksCrash, .swiftBacktrace: self = .process
    }
  }
}
