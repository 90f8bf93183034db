// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options and arguments that many commands have, each with its names, its value and its completion. What a command
/// prints or changes is its own, and so is the help that says so.
extension OptionRows {
  mutating func format<Format: ExpressibleByArgument>(_ value: inout Format, _ help: String) {
    option(&value, "-f, --format <form>", help)
  }

  mutating func quiet(_ value: inout Bool) {
    flag(&value, "-q, --quiet", "Print only errors.")
  }

  mutating func verbose(_ value: inout Bool, _ help: String) {
    flag(&value, "-v, --verbose", help)
  }

  mutating func dryRun(_ value: inout Bool, _ help: String) {
    flag(&value, "-n, --dry-run", help)
  }

  mutating func jobs(_ value: inout Int, _ help: String) {
    option(&value, "-j, --jobs <n>", help)
  }

  mutating func output(
    _ value: inout String?, _ help: String, extensions: [String] = []
  ) {
    option(&value, "-o, --output <file>", help, .file(extensions: extensions))
  }

  /// `--output` of a file or a directory.
  mutating func outputPath(_ value: inout String?, _ help: String) {
    option(&value, "-o, --output <path>", help, .file())
  }

  mutating func symbols(_ value: inout [String], _ help: String) {
    option(&value, "-s, --symbols <path>", help, .file())
  }

  mutating func dumps(_ value: inout [String], isRequired: Bool = true) {
    arguments(
      &value, "<dumps>", "Dumps, or directories to search for dumps; - is standard input.", .file(),
      isRequired: isRequired)
  }

  mutating func inputs(_ value: inout [String], _ help: String, isRequired: Bool = true) {
    arguments(&value, "<inputs>", help, .file(), isRequired: isRequired)
  }

  mutating func clientID<Value: ExpressibleByArgument>(_ value: inout Value?, _ help: String) {
    option(&value, "--client-id <uuid>", help)
  }

  mutating func bundleIDs(_ value: inout [String], _ help: String) {
    option(&value, "--bundle-id <id>", help)
  }

  mutating func limit(_ value: inout Int?, _ help: String) {
    option(&value, "--limit <n>", help)
  }
}
