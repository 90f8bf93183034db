// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The rules of Breakpad's microdumps. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum MicrodumpRules {
  package static let cut = Rule("microdump-cut", .error, "The log ends before the microdump does")
  package static let badLine = Rule(
    "microdump-line", .warning, "A line of the microdump can't be read; it is left out")
  package static let registers = Rule(
    "microdump-registers", .warning, "The registers do not fit the processor of the microdump")
  package static let gap = Rule("microdump-gap", .warning, "Lines of the stack are missing in the log")
  package static let noReason = Rule(
    "microdump-no-reason", .note, "The microdump does not name the signal that ended the process")
  package static let several = Rule(
    "microdump-several", .note, "The log has a further microdump, which is not read")

  package static let all = [cut, badLine, registers, gap, noReason, several]
}
