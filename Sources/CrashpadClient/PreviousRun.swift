/// What became of the runs of this program before the present one.
public struct PreviousRun: Sendable, Hashable {
  public enum End: String, Sendable {
    /// There was none, or nobody knows of it.
    case none
    /// It ended in good order; or its dump was processed, uploaded and pruned since.
    case exited
    /// It left a dump.
    case crashed
    /// It ended without a word: by SIGKILL, for want of memory, with the machine.
    case killed
  }

  /// How the run ended that began last of those that are over.
  public let end: End
  /// How long it ran, in seconds; nil if it did not crash.
  public let uptime: Int64?
  /// How many runs in a row, up to the last one, crashed so soon after their start that the program can not be used. The
  /// interval is ``CrashpadClient/Options/startCrashInterval``.
  public let startCrashes: Int
  /// How many dumps of hangs there were in which a run died. They are pending now.
  public let hangs: Int

  public static let unknown = PreviousRun(end: .none, uptime: nil, startCrashes: 0, hangs: 0)
}
