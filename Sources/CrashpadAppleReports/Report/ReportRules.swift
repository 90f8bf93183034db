// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The validation rules for reports. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum ReportRules {
  package static let notJSON = Rule("report-not-json", .error, "The report ends early, or is not JSON from here on")
  package static let noBody = Rule("report-without-body", .error, "The report has a header and no body")
  package static let notACrash = Rule("report-not-a-crash", .error, "The report does not describe a crash")
  package static let noThreads = Rule("report-without-threads", .warning, "The crash report lists no threads")
  package static let noImages = Rule(
    "report-without-images", .warning, "The report lists no binary images")
  package static let moreDiagnostics = Rule(
    "report-more-diagnostics", .note, "The payload has more diagnostics; they are not read")
  package static let badFrame = Rule("report-bad-frame", .warning, "A frame of a stack can't be read")
  package static let badImage = Rule("report-bad-image", .warning, "A binary image can't be read")
  package static let missingImage = Rule(
    "report-missing-image", .warning, "A frame names an image that the report does not list")
  package static let badThread = Rule("report-bad-thread", .warning, "A thread can't be read")
  package static let badNumber = Rule("report-bad-number", .warning, "A number can't be read, or is out of range")
  package static let noCrashedThread = Rule(
    "report-thread-missing", .warning, "The thread that the report names is not in its list")
  package static let tooLarge = Rule("report-too-large", .error, "The report has too many values; the rest is not read")
  package static let cut = Rule("report-cut", .error, "The report ends early")

  package static let wrapped = Rule("report-wrapped", .note, "The report was embedded in other text, which was removed")
  package static let damagedWrapping = Rule(
    "report-wrapping-damaged", .warning, "The report was embedded in other text, and parts of it may be lost")

  package static let all = [
    notJSON, noBody, notACrash, noThreads, noImages, moreDiagnostics, badFrame, badImage, missingImage, badThread,
    badNumber,
    noCrashedThread,
    tooLarge, cut, wrapped, damagedWrapping,
  ]
}
