package import CrashpadBytes

/// The rules of a database directory. Codes are stable; crashpadctl-database(5) has a paragraph for each.
package enum DatabaseRules {
  // The directory
  package static let unreadable = Rule("unreadable", .error, "It can not be read, so its contents are unknown")
  package static let missingDirectory = Rule(
    "missing-directory", .note,
    "A directory of the database is missing; the next program that opens the database creates it")
  package static let notADirectory = Rule(
    "not-a-directory", .error, "Something else stands where the database has a directory")
  package static let notAFile = Rule("not-a-file", .error, "Something else stands where the database has a file")
  package static let unknownEntry = Rule("unknown-entry", .note, "The database knows nothing of this")
  package static let writableByOthers = Rule(
    "writable-by-others", .warning, "Other users than the owner may write")
  package static let readableByOthers = Rule(
    "readable-by-others", .note, "Others than the owner may read, and a report holds memory of a process")

  // Settings
  package static let settingsMissing = Rule(
    "settings-missing", .note, "There are no settings; the client id is made when it is asked for")
  package static let settingsDamaged = Rule(
    "settings-damaged", .error, "The settings can not be read; Crashpad replaces them, with another client id")
  package static let settingsExtraBytes = Rule(
    "settings-extra-bytes", .note, "There are bytes behind the settings, of a newer Crashpad or of none")
  package static let settingsKeptAside = Rule(
    "settings-kept-aside", .note, "A copy of damaged settings was kept when they were replaced")
  package static let zeroClientID = Rule("zero-client-id", .note, "The client id is all zeros")

  // Reports
  package static let badReportName = Rule(
    "bad-report-name", .error, "The name of a report is no UUID; Crashpad deletes such a file when it lists reports")
  package static let upperCaseName = Rule(
    "upper-case-name", .warning, "The UUID in a name has upper-case letters; nothing finds it by its id")
  package static let missingMetadata = Rule(
    "missing-metadata", .error, "A report has no metadata; Crashpad deletes it when it reads it")
  package static let truncatedMetadata = Rule(
    "truncated-metadata", .error, "The metadata of a report are too short; Crashpad deletes it when it reads it")
  package static let unknownMetadataVersion = Rule(
    "unknown-metadata-version", .error, "The metadata have an unknown version; Crashpad deletes the report")
  package static let metadataInAttributes = Rule(
    "metadata-in-attributes", .warning,
    "The metadata are in attributes, as Apple's systems have them; Crashpad on Linux deletes the report")
  package static let metadataWithoutReport = Rule(
    "metadata-without-report", .warning, "There are metadata, but no report; Crashpad removes them")
  package static let oversizedMetadata = Rule(
    "oversized-metadata", .warning, "The metadata are larger than any that are made")
  package static let duplicateReport = Rule(
    "duplicate-report", .error, "The same report is pending and completed; only the pending one is found")
  package static let emptyReport = Rule("empty-report", .warning, "A report has no bytes")
  package static let notAMinidump = Rule(
    "not-a-minidump", .warning, "A report does not begin as minidumps do, with MDMP")

  // Impossible or inconsistent metadata
  package static let negativeAttempts = Rule(
    "negative-attempts", .warning, "The number of upload attempts is below zero")
  package static let negativeTime = Rule("negative-time", .warning, "A time lies before 1970")
  package static let futureTime = Rule("future-time", .warning, "A time lies in the future")
  package static let uploadedInPending = Rule(
    "uploaded-in-pending", .warning, "A pending report was uploaded already; Crashpad would upload it again")
  package static let requestedInCompleted = Rule(
    "requested-in-completed", .note, "The upload of a completed report is asked for; only pending ones are uploaded")
  package static let uploadedWithoutID = Rule(
    "uploaded-without-id", .note, "A report was uploaded, but the server gave it no id")
  package static let idWithoutUpload = Rule(
    "id-without-upload", .note, "A report has an id of the server, but was not uploaded")

  // Locks
  package static let lockHeld = Rule("lock-held", .note, "A program that lives has this report")
  package static let lockOfUnknown = Rule(
    "lock-of-unknown", .note,
    "A program has locked this report, or died with the lock; which is unknown until the lock expires")
  package static let abandonedLock = Rule("abandoned-lock", .warning, "The program that made this lock is dead")
  package static let expiredLock = Rule(
    "expired-lock", .warning, "A lock expired; Crashpad deletes the report beside it when it cleans up")
  package static let futureLock = Rule("future-lock", .warning, "A lock was made in the future; it does not expire")
  package static let damagedLock = Rule(
    "damaged-lock", .warning, "A lock is too short to say when it was made; for Crashpad it never expires")

  // new/
  package static let unfinishedReport = Rule("unfinished-report", .note, "A report is being written, or was given up")
  package static let staleReport = Rule(
    "stale-report", .warning, "A report was given up: it has not changed for three days, and Crashpad removes it")
  package static let deadRun = Rule(
    "dead-run", .note, "A run of crashpadctl that died left this; the next one removes it")

  // attachments/
  package static let orphanedAttachments = Rule(
    "orphaned-attachments", .warning, "There are attachments, but no report; Crashpad removes them")
  package static let badAttachmentName = Rule(
    "bad-attachment-name", .warning, "The name of an attachment has characters that Crashpad refuses")

  // pending-serialized-ios-dump/
  package static let dumpWithoutUUID = Rule(
    "dump-without-uuid", .warning, "The name of a pending dump does not end with @ and a UUID")
  package static let duplicateDump = Rule("duplicate-dump", .warning, "Two pending dumps have the same UUID")
  package static let futureDump = Rule(
    "future-dump", .warning, "A locked dump was changed in the future, so its age is unknown")
  package static let expiredDumpLock = Rule(
    "expired-dump-lock", .note, "A dump has been locked for 60 days; its program is gone")
  package static let emptyDump = Rule(
    "empty-pending-dump", .note, "A pending dump has no bytes: its process did not crash")

  // rejected/
  package static let rejectedWithoutReason = Rule(
    "rejected-without-reason", .note, "Something was kept aside, and nothing says why")
  package static let reasonWithoutDump = Rule("reason-without-dump", .note, "A reason is there, but not what it is for")

  // Anywhere
  package static let foreignEntry = Rule("foreign-entry", .note, "Something that the database did not put here")
  package static let hardLink = Rule(
    "hard-link", .error,
    "The file has another name too, and may be any file of this system; it is neither changed nor sent")
  package static let orphanedAppleDouble = Rule(
    "orphaned-apple-double", .note, "An AppleDouble file has attributes of a file that is not there")

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

  /// The rules that `DatabaseRepair` repairs.
  package static let mended: Set<Rule> = [
    missingDirectory, writableByOthers, readableByOthers, settingsDamaged, upperCaseName, missingMetadata,
    truncatedMetadata, unknownMetadataVersion, metadataInAttributes, metadataWithoutReport, duplicateReport,
    uploadedInPending, abandonedLock, expiredLock, damagedLock, deadRun,
  ]
}
