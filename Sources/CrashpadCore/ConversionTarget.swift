// SPDX-License-Identifier: Apache-2.0
/// The formats of the outputs of a conversion.
public enum ConversionTarget: String, Sendable, CaseIterable {
  case minidump
  case json
  case idump
  /// Apple's form of a crash report: a first line of JSON, and the body that `json` writes.
  case ips

  /// The extension of a file name, without the dot.
  package var fileExtension: String {
    switch self {
    case .minidump: "dmp"
    case .json: "json"
    case .idump: "idump"
    case .ips: "ips"
    }
  }
}
