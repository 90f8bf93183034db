// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Words that stand in stacks where a function's name should.
package enum PlaceholderNames {
  /// Whether the words say that there is no name: "(Missing)", "(Missing UUID 4C4C…)", in any language.
  package static func isMissing(_ name: String) -> Bool {
    if ["missing", "???", "??", "(null)", "<unknown>"].contains(name) { return true }
    guard name.hasPrefix("("), let close = name.utf8.firstIndex(of: UInt8(ascii: ")")) else { return false }
    return name.utf8.index(after: close) == name.utf8.endIndex
  }

  /// Whether a module's name says nothing: reports write "???" for a module that is not known.
  package static func isMissingModule(_ name: String) -> Bool { name.isEmpty || name == "???" }

  /// Names of what the linker merged, of what a service left out, and of the whole code of a program in Dart.
  private static let many: Set<String> = [
    "<redacted>", "<deduplicated_symbol>", "<compiler-generated>", "kDartIsolateSnapshotInstructions",
    "_kDartIsolateSnapshotInstructions", "kDartVmSnapshotInstructions", "_kDartVmSnapshotInstructions",
    "_mh_execute_header", "__mh_execute_header",
  ]

  /// Whether a name is of no function of the program: the linker merged several, a service left it out, or a tool made it
  /// of the address.
  static func isMade(_ name: String) -> Bool {
    if many.contains(name) || isMissing(name) { return true }
    // Older versions of lldb write the module behind the number: "___lldb_unnamed_symbol17$$Orrery".
    let name = name.firstRange(of: "$$").map { String(name[..<$0.lowerBound]) } ?? name
    for start in ["func_", "sub_", "___lldb_unnamed_symbol"] where name.hasPrefix(start) {
      return name.utf8.dropFirst(start.utf8.count).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit || $0 == 0x24 }
    }
    return false
  }

  private static let libraries = [
    "std::", "void std::", "kfun:kotlin.", "kfun:kotlinx.", "core::", "alloc::",
    "runtime.",
    // Kotlin's, in C++.
    "konan::", "kotlin::", "Kotlin_", "ReportBacktraceToIosCrashLog",
    "(anonymous namespace)::terminateWithUnhandledException", "(anonymous namespace)::processUnhandledException",
    "(anonymous namespace)::TerminateHandler",
    "void (anonymous namespace)::$_0::operator()<(anonymous namespace)::terminateWithUnhandledException",
    "ThrowIllegalStateException", "ThrowIllegalArgumentException", "ThrowNullPointerException",
    "ThrowArrayIndexOutOfBoundsException", "ThrowClassCastException", "ThrowTypeCastException",
    "ThrowArithmeticException", "ThrowNumberFormatException", "ThrowNoWhenBranchMatchedException",
    "ThrowUninitializedPropertyAccessException", "ThrowKotlinNothingValueException",
  ]

  /// Whether a function is of a language's library, whose templates and inlined code are in the program's own file.
  static func isOfLanguage(_ name: String) -> Bool {
    libraries.contains { name.hasPrefix($0) }
  }
}
