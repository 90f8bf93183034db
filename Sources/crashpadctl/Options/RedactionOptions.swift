// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import CrashpadFiles
public import CrashpadRedaction

extension RedactionPolicy.Memory: ExpressibleByArgument {}

extension PersonalKind: ExpressibleByArgument {}

extension NamePattern: ExpressibleByArgument {
  public init?(argument: String) {
    if argument.isEmpty || !ArgumentText.isUnicode(argument) { return nil }
    self.init(argument)
  }
}

extension TextPattern: ExpressibleByArgument {
  public init?(argument: String) {
    guard ArgumentText.isUnicode(argument) else { return nil }
    self.init(argument)
  }
}

/// The options for the content that stays in a redacted dump.
struct RedactionOptions: OptionTable {
  var keepAnnotation: [NamePattern] = []
  var removeAnnotation: [NamePattern] = []
  var hide: [TextPattern] = []
  var keep: [PersonalKind] = []
  var keepUserNames = false
  var keepSecrets = false
  var keepMemory: RedactionPolicy.Memory = .stacks
  var keepRegisters = false
  var keepNumbers = false
  var keepVariable: [NamePattern] = []
  var keepArguments = false

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &keepAnnotation, "--keep-annotation <pattern>",
      "Keep only annotations of this name; * and ? are wildcards. May be repeated.")
    row.option(
      &removeAnnotation, "--remove-annotation <pattern>",
      "Remove annotations of this name, ignoring case. May be repeated.")
    row.option(
      &hide, "--hide <text>",
      "Overwrite this in all remaining text; * matches anything but blanks and quotation marks, ? one character. "
        + "May be repeated.")
    row.option(
      &keep, "--keep <kind>",
      "Keep one kind of personal data, such as hosts or ips; crashpadctl-redact(1) has the kinds. May be repeated.")
    row.flag(&keepUserNames, "--keep-user-names", "Keep user names in paths and in other text, as --keep users does.")
    row.flag(
      &keepSecrets, "--keep-secrets",
      "Keep e-mail addresses, passwords, tokens, and user info and query values of URLs.")
    row.option(
      &keepMemory, "--keep-memory <memory>",
      "Memory to keep: addresses in stacks, addresses in all memory, or all memory unchanged.")
    row.flag(&keepRegisters, "--keep-registers", "Keep all registers, not only addresses of code and stacks.")
    row.flag(&keepNumbers, "--keep-numbers", "Keep numbers up to 4096 in stacks and registers.")
    row.option(
      &keepVariable, "--keep-variable <pattern>",
      "Keep the values of environment variables of this name. May be repeated.")
    row.flag(&keepArguments, "--keep-arguments", "Keep command-line arguments.")
  }

  /// Whether the command line has any of these options.
  var isGiven: Bool {
    !keepAnnotation.isEmpty || !removeAnnotation.isEmpty || !hide.isEmpty || !keep.isEmpty || keepUserNames
      || keepSecrets || keepMemory != .stacks || keepRegisters || keepNumbers || !keepVariable.isEmpty || keepArguments
  }

  var policy: RedactionPolicy {
    var policy = RedactionPolicy()
    policy.keptAnnotations = keepAnnotation
    policy.removedAnnotations = removeAnnotation
    policy.hiddenText = hide
    policy.keptKinds = Set(keep)
    policy.hidesUserNames = !keepUserNames
    policy.hidesSecrets = !keepSecrets
    policy.memory = keepMemory
    policy.keepsRegisters = keepRegisters
    policy.keepsSmallNumbers = keepNumbers
    policy.keptVariables = keepVariable
    policy.keepsArguments = keepArguments
    return policy
  }
}
