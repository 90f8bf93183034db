// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils

/// An entry that contains others whose names it qualifies.
struct EntryScope {
  enum Kind {
    case namespace, type, function

    init?(tag: Int) {
      switch tag {
      case DW_TAG_namespace: self = .namespace
      case DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type: self = .type
      case DW_TAG_subprogram: self = .function
      default: return nil
      }
    }
  }
  let kind: Kind
  /// Offsets in `.debug_info`.
  let start: UInt64
  var end: UInt64
  /// The index of the scope around it; nil for none.
  let parent: Int?
}
