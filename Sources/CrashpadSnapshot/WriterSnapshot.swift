// SPDX-License-Identifier: Apache-2.0
/// An object of the kernel that the process had open.
package struct HandleSnapshot: Sendable, Hashable {
  package var handle: UInt64
  /// Such as "File" or "Event".
  package var typeName: SnapshotBytes?
  /// The path of a file, or the name of another object.
  package var objectName: SnapshotBytes?

  package init(handle: UInt64, typeName: SnapshotBytes?, objectName: SnapshotBytes?) {
    self.handle = handle
    self.typeName = typeName
    self.objectName = objectName
  }
}

/// An assertion that failed, as a handler within the process found it.
package struct AssertionSnapshot: Sendable, Hashable {
  package var expression: SnapshotBytes
  package var function: SnapshotBytes
  package var file: SnapshotBytes
  /// From 1 on; 0 if unknown.
  package var line: UInt32
  /// 1 for an invalid argument of the C library, 2 for the call of a pure virtual function.
  package var kind: UInt32

  package init(expression: SnapshotBytes, function: SnapshotBytes, file: SnapshotBytes, line: UInt32, kind: UInt32) {
    self.expression = expression
    self.function = function
    self.file = file
    self.line = line
    self.kind = kind
  }
}

/// The section `__crash_info` of a Mach-O module, in which libraries leave the reason for an abort.
package struct CrashInfoSnapshot: Sendable, Hashable {
  package var thread: UInt64
  package var dialogMode: UInt64
  /// Nil in older versions of the section.
  package var abortCause: UInt64?
  package var module: SnapshotBytes?
  package var message: SnapshotBytes?
  package var signature: SnapshotBytes?
  package var backtrace: SnapshotBytes?
  package var secondMessage: SnapshotBytes?

  package init(thread: UInt64, dialogMode: UInt64, abortCause: UInt64? = nil) {
    self.thread = thread
    self.dialogMode = dialogMode
    self.abortCause = abortCause
  }
}
