// SPDX-License-Identifier: Apache-2.0
/// A name and a value, as bytes.
public struct Annotation: Sendable, Hashable {
  public var name: SnapshotBytes
  public var value: SnapshotBytes

  package init(name: SnapshotBytes, value: SnapshotBytes) {
    self.name = name
    self.value = value
  }

  /// The name of the one that says `ExceptionSnapshot.isRaisedAgain` in a minidump.
  package static let raisedAgain = "crashpad_raised_again"
}

/// A typed annotation. Crashpad defines type 1, a string; types from 0x8000 on belong to the application.
public struct AnnotationObject: Sendable, Hashable {
  public var name: SnapshotBytes
  /// The type: 1 is text, numbers from 0x8000 on belong to programs.
  public var type: UInt16
  public var value: SnapshotBytes

  package init(name: SnapshotBytes, type: UInt16, value: SnapshotBytes) {
    self.name = name
    self.type = type
    self.value = value
  }
}

/// The kinds of annotations, by what their values hold.
package enum AnnotationKind: Sendable {
  /// The part of a value that redaction leaves if the policy allows its name. A kind has to name one.
  package enum Privacy: Sendable {
    /// Text in which addresses of people, numbers and paths of users are hidden.
    case text
    /// Nothing, unless the policy names the annotation.
    case bytes
  }

  /// A message of the runtime or of the dynamic loader; it has no name.
  case message
  /// An entry of a dictionary.
  case simple
  /// A typed annotation of type 1.
  case string
  /// A typed annotation of another type; only the application knows its content.
  case other

  package init(objectType: UInt16?) { self = objectType == 1 ? .string : .other }

  package var privacy: Privacy {
    switch self {
    case .message, .simple, .string: .text
    case .other: .bytes
    }
  }
}
