// SPDX-License-Identifier: Apache-2.0
// Stands for FoundationEssentials in the tool, which needs none of it: ArgumentParser asks whether an error is a
// `LocalizedError`, which none of ours is, and makes JSON of its commands for `--experimental-dump-help`.
import Glibc

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
}

public struct Data {}

open class JSONEncoder {
  public struct OutputFormatting: OptionSet {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    public static let sortedKeys = OutputFormatting(rawValue: 2)
  }

  public init() {
    fputs("crashpadctl: --experimental-dump-help needs a build without scripts/release-tool\n", stderr)
    exit(64)
  }
}

extension String {
  public struct Encoding {
    var rawValue: UInt
    public static let utf8 = Encoding(rawValue: 4)
  }

  public init?(data: __shared Data, encoding: Encoding) { return nil }
}
