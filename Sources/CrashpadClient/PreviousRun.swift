// SPDX-License-Identifier: Apache-2.0
/// The result of earlier runs of this program.
public struct PreviousRun: Sendable, Hashable {
  /// The end of a run.
  public enum End: String, Sendable {
    /// There was none, or it is not known.
    case none
    /// It ended normally, or this process is the one that replaced itself by another program (exec); or its dump was
    /// processed, uploaded and pruned since.
    case exited
    /// It left a dump.
    case crashed
    /// It was killed without notice: by SIGKILL, for lack of memory, or with the machine.
    case killed
  }

  /// The end of the last run that is over.
  public let end: End
  /// The duration of the run, in seconds; nil if it did not crash.
  public let uptime: Int64?
  /// The number of successive runs, up to the last one, that crashed too soon after their start for the program to be
  /// usable. The interval is ``CrashpadClient/Options/startCrashInterval``.
  public let startCrashes: Int
  /// The number of hang dumps from runs that died during the hang. They are pending now.
  public let hangs: Int

  package static let unknown = PreviousRun(end: .none, uptime: nil, startCrashes: 0, hangs: 0)
}
