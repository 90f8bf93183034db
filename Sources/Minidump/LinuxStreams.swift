internal import BinaryFormat
internal import Snapshot

/// What a minidump of a Linux process has in place of Crashpad's streams. Source: Breakpad,
/// `client/linux/minidump_writer/minidump_writer.cc`.
extension MinidumpWriter {
  /// Files of /proc and /etc as they are.
  var linuxTexts: [(type: MinidumpStreamType, content: Content)] {
    guard snapshot.system.isLinux, let linux = snapshot.linux else { return [] }
    let texts: [(MinidumpStreamType, Content?)] = [
      (.linuxCPUInfo, linux.cpuInfo), (.linuxProcessStatus, linux.processStatus), (.linuxRelease, linux.release),
      (.linuxCommandLine, linux.commandLine), (.linuxEnvironment, linux.environment),
      (.linuxAuxiliaryVector, linux.auxiliaryVector), (.linuxMaps, linux.maps),
    ]
    return texts.compactMap { type, content in content.map { (type, $0) } }
  }

  /// Whether there is something that only Crashpad's stream can carry.
  var hasCrashpadInfo: Bool {
    snapshot.reportID != .zero || snapshot.clientID != .zero || !snapshot.annotations.isEmpty
      || snapshot.system.addressMask != nil || snapshot.modules.contains { $0.hasAnnotations }
  }

  /// The oldest form of MiscInfo: Linux has no use for the others' members.
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
  /// Whether minidumps of it are of Breakpad's kind.
  var isLinux: Bool { [.linux, .android].contains(operatingSystem) }
}
