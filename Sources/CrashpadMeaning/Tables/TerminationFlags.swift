// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func flag(_ bit: UInt64, _ name: String, _ event: String, advice: [String]) -> CodeMeaning {
    CodeMeaning(
      .terminationFlag, name, [Number(value: bit, platform: .any)], event,
      endedBy: "The namespace and code say it; flags do not", advice: advice, .xnu("bsd/sys/reason.h"))
  }

  /// The bits of `termination.flags`.
  static let terminationFlags: [CodeMeaning] = [
    flag(0x1, "NO_CRASH_REPORT", "No crash report was wanted", advice: ["Nothing."]),
    flag(0x2, "GENERATE_CRASH_REPORT", "A crash report was asked for", advice: ["Nothing: this is ordinary."]),
    flag(
      0x4, "FROM_USERSPACE", "A process asked for the termination, and not the kernel",
      advice: ["Look at the terminating process in the report."]),
    flag(
      0x8, "FAILED_DATA_COPYIN", "The explanation could not be copied from the process",
      advice: ["The text is missing or cut."]),
    flag(
      0x10, "PAYLOAD_TRUNCATED", "The explanation was longer than allowed and is cut",
      advice: ["Look in the system's log for the rest."]),
    flag(
      0x20, "BAD_PARAMS", "The termination was asked for with wrong parameters",
      advice: ["Treat code and text with care."]),
    flag(
      0x40, "CONSISTENT_FAILURE", "The cause will end the process again at each start",
      advice: ["Do not start it again without a change: it crashes again."]),
    flag(0x80, "ONE_TIME_FAILURE", "A single event ended the process", advice: ["A new start may work."]),
    flag(
      0x100, "NO_CRASHED_TID", "No thread of the process caused the termination",
      advice: ["Do not blame the thread that is marked as crashed, which is mostly 0: read the termination's text."]),
    flag(
      0x200, "ABORT", "The process ended itself (abort_with_reason, abort_with_payload)",
      advice: ["Read its text: it says why."]),
    flag(
      0x400, "SHAREDREGION_FAULT", "The fault was in the shared cache of libraries",
      advice: ["Look at the address, and at ktriageinfo."]),
    flag(
      0x800, "CAPTURE_LOGS", "The report is to have the system's log with it", advice: ["Read the log in the report."]),
    flag(
      0x1000, "SECURITY_SENSITIVE", "The event matters for security",
      advice: ["Treat the crash as a possible attack until its cause is known."]),
  ]

  private static let bandSource = Source.xnu("bsd/sys/kern_memorystatus.h, xnu-11417 (iOS 18)")

  private static func band(_ number: UInt64, _ name: String, _ event: String) -> CodeMeaning {
    CodeMeaning(
      .jetsamBand, name, [Number(value: number, platform: .any)], event,
      endedBy: "Nothing: a band is the order in which jetsam ends processes, the lowest first",
      advice: ["Compare the band with what the app did: a band below 100 is not the foreground."],
      myth: "Older systems have a tenth of these numbers: 10 was the foreground on iOS 12 and before.", bandSource)
  }

  /// The jetsam priorities in current systems.
  static let jetsamBands: [CodeMeaning] = [
    band(0, "IDLE", "The process is idle and is ended first"),
    band(10, "AGING_BAND1", "A daemon became idle a short while ago"),
    band(15, "AGING_BAND1_STUCK", "A system process stayed in the first band of aging"),
    band(20, "AGING_BAND2", "An app became idle a short while ago, or runs in the background when there is room"),
    band(30, "BACKGROUND", "The process works in the background"),
    band(40, "MAIL", "The process is Mail, or an app that is kept although it is inactive"),
    band(50, "PHONE", "The process is the telephone's"), band(75, "FREEZER", "The process is frozen to disk"),
    band(80, "UI_SUPPORT", "The process supports the user interface"),
    band(90, "FOREGROUND_SUPPORT", "The process supports the app in the foreground"),
    band(100, "FOREGROUND", "The process is the app in the foreground"),
    band(120, "AUDIO_AND_ACCESSORY", "The process plays audio, or serves an accessory"),
    band(130, "CONDUCTOR", "The process conducts others"),
    band(150, "DRIVER_APPLE", "The process is a driver of Apple"),
    band(160, "HOME", "The process is the home screen"),
    band(170, "EXECUTIVE", "The process is an executive of the system"),
    band(180, "IMPORTANT", "The process is important to the system; this is the default of daemons"),
    band(190, "CRITICAL", "The system does not work without the process"),
    band(210, "MAX", "The process is ended last"),
  ]
}
