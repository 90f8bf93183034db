public import ArgumentParser
import CrashpadFiles
public import CrashpadRedaction

extension RedactionPolicy.Memory: ExpressibleByArgument {}

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
struct RedactionOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Keep only annotations of this name; * and ? are wildcards. May be repeated.",
      valueName: "pattern"))
  var keepAnnotation: [NamePattern] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Remove annotations of this name, ignoring case. May be repeated.", valueName: "pattern"))
  var removeAnnotation: [NamePattern] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Overwrite this in all remaining text; * matches anything but blanks and quotation marks, ? one character. "
        + "May be repeated.", valueName: "text"))
  var hide: [TextPattern] = []

  @Flag(name: .long, help: "Keep user names in paths and in other text.")
  var keepUserNames = false

  @Flag(name: .long, help: "Keep e-mail addresses, tokens, and user info and query values of URLs.")
  var keepSecrets = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Memory to keep: addresses in stacks, addresses in all memory, or all memory unchanged.", valueName: "memory"))
  var keepMemory: RedactionPolicy.Memory = .stacks

  @Flag(name: .long, help: "Keep all registers, not only addresses of code and stacks.")
  var keepRegisters = false

  @Flag(name: .long, help: "Keep numbers up to 4096 in stacks and registers.")
  var keepNumbers = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Keep the values of environment variables of this name. May be repeated.", valueName: "pattern"))
  var keepVariable: [NamePattern] = []

  @Flag(name: .long, help: "Keep command-line arguments.")
  var keepArguments = false

  /// Whether the command line has any of these options.
  var isGiven: Bool {
    !keepAnnotation.isEmpty || !removeAnnotation.isEmpty || !hide.isEmpty || keepUserNames || keepSecrets
      || keepMemory != .stacks || keepRegisters || keepNumbers || !keepVariable.isEmpty || keepArguments
  }

  var policy: RedactionPolicy {
    var policy = RedactionPolicy()
    policy.keptAnnotations = keepAnnotation
    policy.removedAnnotations = removeAnnotation
    policy.hiddenText = hide
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
