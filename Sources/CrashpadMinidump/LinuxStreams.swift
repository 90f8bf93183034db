// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The streams of a Linux process' minidump that differ from Crashpad's. Source: Breakpad,
/// `client/linux/minidump_writer/minidump_writer.cc`.
extension MinidumpWriter {
  /// Whether Crashpad's stream is written; for Linux, only if there is data that nothing else can hold.
  var hasCrashpadInfo: Bool {
    !snapshot.system.isLinux || snapshot.reportID != .zero || snapshot.clientID != .zero
      || !snapshot.annotations.isEmpty
      || snapshot.system.addressMask != nil || snapshot.modules.contains { $0.hasAnnotations }
  }

  /// Writes the oldest version of MiscInfo: Linux has no data for the members of the later ones.
  func writeShortMiscInfo(to writer: inout ByteWriter) {
    writer.uint32(UInt32(MinidumpFormat.miscInfoSize))
    let hasTimes = snapshot.startTime != nil || snapshot.userTime != nil || snapshot.systemTime != nil
    // Flags1: process id, process times
    writer.uint32((snapshot.processID == nil ? 0 : 1) | (hasTimes ? 2 : 0))
    writer.uint32(UInt32(clamping: max(0, snapshot.processID ?? 0)))
    writer.uint32(UInt32(truncatingIfNeeded: snapshot.startTime?.seconds ?? 0))
    writer.uint32(Self.roundedSeconds(snapshot.userTime))
    writer.uint32(Self.roundedSeconds(snapshot.systemTime))
  }
}

extension SystemSnapshot {
  /// Whether minidumps of this system have Breakpad's form.
  var isLinux: Bool { [.linux, .android].contains(operatingSystem) }
}
