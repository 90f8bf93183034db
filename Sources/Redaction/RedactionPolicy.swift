/// What of a dump or minidump stays as it is. Everything that is neither listed here nor understood is overwritten.
public struct RedactionPolicy: Sendable {
  /// What becomes of captured memory.
  public enum Memory: String, Sendable, CaseIterable {
    /// Stacks keep return addresses and frame pointers; other memory goes.
    case stacks
    /// All memory is treated as stacks are.
    case pointers
    /// All memory stays as it is.
    case all
  }

  /// If there are any, only the annotations stay whose name one of these matches.
  public var keptAnnotations: [NamePattern] = []
  /// Annotations whose name one of these matches go, whatever `keptAnnotations` says.
  public var removedAnnotations: [NamePattern] = []
  /// Text that is overwritten wherever text stays.
  public var hiddenText: [TextPattern] = []
  /// Whether the part of a path that names a user is overwritten.
  public var hidesUserNames = true
  /// Whether user info and query values of URLs, e-mail addresses and long random words are overwritten.
  public var hidesSecrets = true
  public var memory = Memory.stacks
  /// Whether general-purpose and vector registers stay that hold neither zero nor an address of code or of a stack.
  public var keepsRegisters = false
  /// Whether words of stacks and registers stay whose magnitude is at most 4096.
  public var keepsSmallNumbers = false
  /// Environment variables whose values stay.
  public var keptVariables: [NamePattern] = []
  /// Whether the arguments behind the program's name stay.
  public var keepsArguments = false

  /// The name under which messages are matched that have none: those of `__crash_info`, of the dynamic loader, of lists.
  public static let messageName = "message"

  /// Names of users that paths of the dump contain; they are overwritten in all texts.
  var userNames: [UserName] = []

  public init() {}

  /// Whether the annotation `name` (UTF-8) stays.
  func keeps(annotation name: [UInt8]) -> Bool {
    if removedAnnotations.contains(where: { $0.matches(name, ignoringCase: true) }) { return false }
    return keptAnnotations.isEmpty || names(name)
  }

  /// Whether the owner has asked for it by its name.
  func names(_ name: [UInt8]) -> Bool { keptAnnotations.contains { $0.matches(name, ignoringCase: false) } }
}
