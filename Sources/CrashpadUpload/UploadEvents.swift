// SPDX-License-Identifier: Apache-2.0
public import CrashpadDatabase
public import CrashpadFiles
public import CrashpadSnapshot

extension ReportUploader {
  /// Why an attempt failed.
  public enum Failure: Sendable, Equatable {
    /// The status in the server's answer.
    case status(Int)
    /// The status in the answer of the server or of the proxy in front of it.
    case proxyStatus(Int)
    /// The server redirects to another address. Redirects are not followed: a report
    /// goes only where the user sends it.
    case redirection(Int, location: String?)
    /// A web page in place of an id, as from a network that requires a login first. The collector was not reached.
    case webPage
    /// The server states that it discarded the report, and why.
    case discarded(String)
    case transfer(TransferFailure)
  }

  /// The outcome for one report.
  public enum Outcome: Sendable {
    /// The server has the report, and assigned this id.
    case uploaded(serverID: [UInt8], byteCount: Int)
    /// The server has the report and assigned this id; but the report is still pending, until the next run moves it.
    case unmoved(serverID: [UInt8], byteCount: Int, ReportChangeFailure)
    /// The server has the report and assigned this id, which could not be recorded: the report will be sent again.
    case unrecorded(serverID: [UInt8], FileFailure)
    /// An earlier run uploaded the report and died; the report is marked as completed now.
    case completedEarlierUpload
    /// The settings do not allow uploads. The report is now completed without an upload.
    case skipped
    /// The settings do not allow uploads. The report stays pending.
    case kept
    /// The report has to wait until this time, in seconds since 1970: because an attempt failed, or because the rate
    /// is limited.
    case waits(until: Int64, limitsRate: Bool)
    /// The report stays pending; the next attempt is due at this time, in seconds since 1970.
    case failed(Failure, nextAttempt: Int64)
    /// The report stays pending, and the attempt does not count: the server may be at fault and not the report.
    case deferred(Failure)
    /// The report is now completed without an upload. Its file stays.
    case givenUp(Failure)
    /// Nothing is sent to the server until this time, in seconds since 1970.
    case pausedUntil(Int64)
    /// The report could not be read or changed; nothing was sent.
    case unusable(any Error)
    /// The report's lock is held, or its holder cannot be determined.
    case busy(LockState)
    /// Another run handled the report first, or the report does not exist.
    case gone
    /// The run ended before this report.
    case notTried
    /// In a forecast: the report would be sent with these fields.
    case planned(UploadFields, byteCount: Int)
  }

  /// The result of one report.
  public struct ReportResult: Sendable {
    /// The report's id.
    public let id: UUIDBytes
    /// The outcome of its upload.
    public let outcome: Outcome
  }

  /// Why a run ends before all reports are handled. Times are in seconds since 1970; until then later runs send
  /// nothing to the server.
  public enum Stop: Sendable, Equatable {
    /// The server, or the connection to it, is not available.
    case unavailable(Failure, until: Int64)
    /// The server rejects the address, its keys or the options.
    case wrongAddress(Failure, until: Int64)
    /// This many reports failed in a row.
    case failures(Int, until: Int64)
    /// The server asked for a pause.
    case paused(until: Int64)
    /// An earlier run ended because of the server. `isRequested` is true if the server asked for the pause.
    case backsOff(until: Int64, isRequested: Bool)
    /// The answer of a server could not be recorded.
    case unrecorded(FileFailure)
    /// The settings no longer allow uploads.
    case consentWithdrawn
    /// The settings no longer state whether uploads are allowed.
    case settings(SettingsFailure)
    /// The run was asked to end.
    case ended
  }

  /// Progress reported during a run.
  public enum Event: Sendable {
    /// The number of reports to handle.
    case begins(count: Int)
    case result(ReportResult)
    case stops(Stop)
    /// The time of the last attempt could not be written into the settings. Reported once.
    case attemptNotNoted(FileFailure)
  }
}
