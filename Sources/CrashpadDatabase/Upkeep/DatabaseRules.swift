// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The rules of a database directory. Codes are stable; crashpadctl-database(5) has a paragraph for each.
package enum DatabaseRules {
  // The directory
  package static let unreadable = Rule("unreadable", .error, "This can't be read, so its contents are unknown")
  package static let missingDirectory = Rule(
    "missing-directory", .note,
    "A directory of the database is missing; the next program that opens the database creates it")
  package static let notADirectory = Rule(
    "not-a-directory", .error, "The database has a directory of this name, but this is something else")
  package static let notAFile = Rule(
    "not-a-file", .error, "The database has a file of this name, but this is something else")
  package static let unknownEntry = Rule("unknown-entry", .note, "This is not part of a database")
  package static let writableByOthers = Rule(
    "writable-by-others", .warning, "Users other than the owner may write")
  package static let readableByOthers = Rule(
    "readable-by-others", .note, "Users other than the owner may read, and reports hold memory of processes")

  // Settings
  package static let settingsMissing = Rule(
    "settings-missing", .note, "The settings are missing; a client id is made when one is needed")
  package static let settingsDamaged = Rule(
    "settings-damaged", .error, "The settings can't be read; Crashpad replaces them, with a new client id")
  package static let settingsExtraBytes = Rule(
    "settings-extra-bytes", .note, "The settings have extra bytes at their end, perhaps from a newer Crashpad")
  package static let settingsKeptAside = Rule(
    "settings-kept-aside", .note, "Damaged settings were replaced, and this copy of them was kept")
  package static let zeroClientID = Rule("zero-client-id", .note, "The client id is all zeros")

  // Reports
  package static let badReportName = Rule(
    "bad-report-name", .error, "The name of a report is not a UUID; Crashpad deletes the file when it lists reports")
  package static let upperCaseName = Rule(
    "upper-case-name", .warning, "The UUID in a name has upper-case letters; it is not found by its id")
  package static let missingMetadata = Rule(
    "missing-metadata", .error, "A report has no metadata; Crashpad deletes the report when it reads it")
  package static let truncatedMetadata = Rule(
    "truncated-metadata", .error, "A report's metadata is too short; Crashpad deletes the report when it reads it")
  package static let unknownMetadataVersion = Rule(
    "unknown-metadata-version", .error, "The metadata has an unknown version; Crashpad deletes the report")
  package static let metadataInAttributes = Rule(
    "metadata-in-attributes", .warning,
    "The metadata is in attributes, as Apple's systems have them; Crashpad on Linux deletes the report")
  package static let metadataWithoutReport = Rule(
    "metadata-without-report", .warning, "The metadata has no report; Crashpad removes it")
  package static let oversizedMetadata = Rule(
    "oversized-metadata", .warning, "The metadata is larger than any valid metadata")
  package static let duplicateReport = Rule(
    "duplicate-report", .error, "A report is both pending and completed; only the pending one is found")
  package static let emptyReport = Rule("empty-report", .warning, "A report is empty")
  package static let notAMinidump = Rule(
    "not-a-minidump", .warning, "A report does not begin with MDMP, as minidumps do")

  // Impossible or inconsistent metadata
  package static let negativeAttempts = Rule(
    "negative-attempts", .warning, "The number of upload attempts is negative")
  package static let negativeTime = Rule("negative-time", .warning, "A time is before 1970")
  package static let futureTime = Rule("future-time", .warning, "A time is in the future")
  package static let uploadedInPending = Rule(
    "uploaded-in-pending", .warning, "A pending report was uploaded already; Crashpad would upload it again")
  package static let requestedInCompleted = Rule(
    "requested-in-completed", .note, "The upload of a completed report was requested; only pending reports are uploaded"
  )
  package static let uploadedWithoutID = Rule(
    "uploaded-without-id", .note, "A report was uploaded, but the server returned no id")
  package static let idWithoutUpload = Rule(
    "id-without-upload", .note, "A report has an id from the server, but was not uploaded")

  // Locks
  package static let lockHeld = Rule("lock-held", .note, "A running program holds this report")
  package static let lockOfUnknown = Rule(
    "lock-of-unknown", .note,
    "A program has locked this report, or died with the lock; which is unknown until the lock expires")
  package static let abandonedLock = Rule("abandoned-lock", .warning, "The program that made this lock has ended")
  package static let expiredLock = Rule(
    "expired-lock", .warning, "A lock has expired; Crashpad deletes the report beside it when it cleans up")
  package static let futureLock = Rule(
    "future-lock", .warning, "The time of a lock is in the future; the lock expires three days later")
  package static let damagedLock = Rule(
    "damaged-lock", .warning, "A lock is too short to hold its time; for Crashpad it never expires")

  // new/
  package static let unfinishedReport = Rule(
    "unfinished-report", .note, "A report is being written, or was abandoned")
  package static let staleReport = Rule(
    "stale-report", .warning, "An unfinished report has not changed for three days; Crashpad removes it")
  package static let deadRun = Rule(
    "dead-run", .note, "A run of crashpadctl that was killed left this; the next run removes it")

  // attachments/
  package static let orphanedAttachments = Rule(
    "orphaned-attachments", .warning, "The attachments have no report; Crashpad removes them")
  package static let badAttachmentName = Rule(
    "bad-attachment-name", .warning, "The name of an attachment has characters that Crashpad refuses")

  // pending-serialized-ios-dump/
  package static let dumpWithoutUUID = Rule(
    "dump-without-uuid", .warning, "The name of a pending dump does not end with @ and a UUID")
  package static let duplicateDump = Rule("duplicate-dump", .warning, "Two pending dumps have the same UUID")
  package static let futureDump = Rule(
    "future-dump", .warning, "The modification time of a locked dump is in the future, so its age is unknown")
  package static let expiredDumpLock = Rule(
    "expired-dump-lock", .note, "A dump has been locked for 60 days, so its program has ended")
  package static let emptyDump = Rule(
    "empty-pending-dump", .note,
    "A pending dump is empty: its process ended without a crash, was killed, or found no room on the disk")

  // rejected/
  package static let rejectedWithoutReason = Rule(
    "rejected-without-reason", .note, "A rejected file has no reason beside it")
  package static let reasonWithoutDump = Rule("reason-without-dump", .note, "A reason has no rejected file beside it")

  // Anywhere
  package static let foreignEntry = Rule("foreign-entry", .note, "Neither Crashpad nor crashpadctl put this here")
  package static let hardLink = Rule(
    "hard-link", .error,
    "The file has another name too, and may be any file of this system; it is neither changed nor sent")
  package static let orphanedAppleDouble = Rule(
    "orphaned-apple-double", .note, "An AppleDouble file has attributes of a file that does not exist")

  package static let all = [
    unreadable, missingDirectory, notADirectory, notAFile, unknownEntry, writableByOthers, readableByOthers,
    settingsMissing, settingsDamaged, settingsExtraBytes, settingsKeptAside, zeroClientID, badReportName, upperCaseName,
    missingMetadata, truncatedMetadata, unknownMetadataVersion, metadataInAttributes, metadataWithoutReport,
    oversizedMetadata, duplicateReport, emptyReport, notAMinidump, negativeAttempts, negativeTime, futureTime,
    uploadedInPending, requestedInCompleted, uploadedWithoutID, idWithoutUpload, lockHeld, lockOfUnknown, abandonedLock,
    expiredLock, futureLock, damagedLock, unfinishedReport, staleReport, deadRun, orphanedAttachments,
    badAttachmentName, dumpWithoutUUID, duplicateDump, futureDump, expiredDumpLock, emptyDump, rejectedWithoutReason,
    reasonWithoutDump, foreignEntry, hardLink, orphanedAppleDouble,
  ]
}
