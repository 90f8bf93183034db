// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The parts of a dump that stay. All parts that are not understood or not allowed here are overwritten.
public struct RedactionPolicy: Sendable {
  /// The treatment of captured memory.
  public enum Memory: String, Sendable, CaseIterable {
    /// Stacks keep return addresses and frame pointers; other memory is removed.
    case stacks
    /// All memory is treated like stacks.
    case pointers
    /// All memory stays.
    case all
  }

  /// If not empty, only annotations whose name matches one of these patterns stay.
  public var keptAnnotations: [NamePattern] = []
  /// Annotations whose name matches one of these patterns are removed, even if `keptAnnotations` allows them.
  public var removedAnnotations: [NamePattern] = []
  /// Text to overwrite in all texts that stay.
  public var hiddenText: [TextPattern] = []
  /// Whether the part of a path that names a user is overwritten.
  public var hidesUserNames = true
  /// Whether user info and query values of URLs, e-mail addresses, passwords and tokens are overwritten.
  public var hidesSecrets = true
  /// Kinds of personal data that stay.
  public var keptKinds: Set<PersonalKind> = []
  /// The memory that is kept.
  public var memory = Memory.stacks
  /// Whether general-purpose and vector registers stay that are neither zero nor a code or stack address.
  public var keepsRegisters = false
  /// Whether words in stacks and registers stay if their magnitude is at most 4096.
  public var keepsSmallNumbers = false
  /// Environment variables whose values stay.
  public var keptVariables: [NamePattern] = []
  /// Whether the arguments after the program's name stay.
  public var keepsArguments = false

  /// The name used for messages without a name: those of `__crash_info`, of the dynamic loader, and in lists.
  package static let messageName = "message"

  /// User names found in paths of the dump; they are overwritten in all texts.
  var userNames: [UserName] = []

  /// The default policy.
  public init() {}

  /// All kinds that stay.
  var kept: Set<PersonalKind> {
    var kept = keptKinds
    if !hidesUserNames { kept.insert(.users) }
    if !hidesSecrets { kept.formUnion(PersonalKind.allCases.filter(\.row.isSecret)) }
    return kept
  }

  /// Whether the annotation `name` (UTF-8) stays.
  func keeps(annotation name: [UInt8]) -> Bool {
    if removedAnnotations.contains(where: { $0.matches(name, ignoringCase: true) }) { return false }
    return keptAnnotations.isEmpty || names(name)
  }

  /// Whether `keptAnnotations` matches this name.
  private func names(_ name: [UInt8]) -> Bool { keptAnnotations.contains { $0.matches(name, ignoringCase: false) } }

  private func tellsPersonalData(_ name: [UInt8]) -> Bool {
    KeyedValues.kind(named: name).map { !kept.contains($0) } ?? false
  }

  /// The part of an annotation's value that stays.
  enum AnnotationValue {
    case text
    case whole
    case zeros
    /// As many asterisks: the name tells that the value is personal data.
    case asterisks
  }

  func value(of kind: AnnotationKind, named name: [UInt8]) -> AnnotationValue {
    switch kind.privacy {
    case .text: !names(name) && tellsPersonalData(name) ? .asterisks : .text
    case .bytes: names(name) ? .whole : .zeros
    }
  }
}
