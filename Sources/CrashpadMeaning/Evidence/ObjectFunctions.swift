// SPDX-License-Identifier: Apache-2.0

extension CrashEvidence.Frame {
  /// Whether it is a function of a runtime that uses an object for its caller, and takes nil.
  var usesObject: Bool {
    guard let function else { return false }
    return Self.objectFunctions.contains { function.hasPrefix($0) }
  }

  private static let objectFunctions = [
    "objc_msgSend", "_objc_msgSend", "objc_msgLookup", "objc_retain", "_objc_retain", "objc_release", "_objc_release",
    "objc_autorelease", "_objc_autorelease", "_objc_root", "objc_opt_", "objc_object::", "objc_storeStrong",
    "swift_retain", "_swift_retain", "swift_release", "_swift_release", "swift_nonatomic_", "swift_bridgeObject",
    "swift_unknownObject", "swift_weak", "swift_unowned", "swift_isUniquelyReferenced", "swift_getObjectType",
    "swift_dynamicCast", "swift_arrayDestroy",
  ]
}
