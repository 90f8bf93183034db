// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let sigkill = Source.apple("EXC_CRASH (SIGKILL)")

  private static func termination(
    _ code: Number, _ name: String, in namespaces: [String], _ event: String, endedBy: String, causes: [String],
    advice: [String], myth: String? = nil, _ source: Source = sigkill
  ) -> CodeMeaning {
    CodeMeaning(
      .terminationCode, name, [code], aliases: namespaces, event, endedBy: endedBy, causes: causes, advice: advice,
      myth: myth, source)
  }

  /// Termination codes, which spell words in hexadecimal. `aliases` are the namespaces in which they occur.
  static let terminationCodes: [CodeMeaning] = watchdogCodes + lockCodes + resourceCodes + watchCodes + otherCodes

  private static let watchdogCodes = [
    termination(
      0x8bad_f00d, "ate bad food", in: ["FRONTBOARD", "SPRINGBOARD", "CAROUSEL", "RUNNINGBOARD", "ASSERTIOND"],
      "The watchdog ended the process: a launch, a change of scene or an exit was not finished in the time allowed,"
        + " or a background task outlived its time",
      endedBy: "FrontBoard or SpringBoard, on watchOS Carousel; of background tasks RunningBoard",
      causes: [
        "The main thread waited: for the network, a lock, another process, or a file.",
        "The main thread computed or loaded more than fits in the allowance.",
        "A background task was begun and not ended; the main thread is then idle in the report.",
        "The whole system was busy or hot, and the process got too little CPU time.",
      ],
      advice: [
        "Read the allowance and the event in the termination's text (\"scene-create\", \"process-exit\").",
        "Compare the application's CPU time with the allowance: near it the app was busy; far below it the app waited.",
        "Read the main thread's stack; where it waits for a lock, find the thread that holds it.",
        "Test without a debugger: with one attached the watchdog is off.",
      ],
      myth: "There is no fixed table of limits (20, 10, 6 s): the allowance is in the text. \"Elapsed total CPU time\""
        + " is that of the whole system, not of the app."),
    termination(
      0x2182_bad2, "background task overdue", in: ["RUNNINGBOARD"],
      "A background task was not completed in time", endedBy: "RunningBoard",
      causes: ["The task has no expiration handler, or the handler does not complete the task."],
      advice: ["Set an expiration handler, stop the work in it, and call setTaskCompleted(success:)."]),
    termination(
      0x2182_bad3, "background URL session overdue", in: ["RUNNINGBOARD"],
      "The events of a background URL session were not handled in time", endedBy: "RunningBoard",
      causes: ["The completion handler of the session's events was not called, or too late."],
      advice: ["Call the handler of handleEventsForBackgroundURLSession as soon as the session's events are in."]),
    termination(
      0x2182_bad4, "background fetch overdue", in: ["RUNNINGBOARD"],
      "A background fetch was not completed in time", endedBy: "RunningBoard",
      causes: ["The fetch's completion handler was not called, or too late."],
      advice: ["Call the completion handler on every path; move long work to a background task."]),
    termination(
      0xbada_5e47, "bad asset", in: ["RUNNINGBOARD", "ASSERTIOND"],
      "The process held too many background-task assertions at once, about 1,000",
      endedBy: "RunningBoard or assertiond",
      causes: ["beginBackgroundTask is called often, and endBackgroundTask is not."],
      advice: ["Count the calls in pairs; give each task a name; end it in its expiration handler too."],
      myth: "It does not mean that a background task ran for more than 30 seconds; that is 0x8badf00d.",
      .users("an engineer of Apple explained it in the developer forums; Apple's page does not list it")),
  ]

  private static let lockCodes = [
    termination(
      0xdead_10cc, "dead lock", in: ["RUNNINGBOARD", "SPRINGBOARD"],
      "The process was suspended while it held a lock on a file or an SQLite database", endedBy: "RunningBoard",
      causes: [
        "A write to a database in a shared container (an App Group) was under way when the app was suspended.",
        "The write began without a background task, or after its time.",
      ],
      advice: [
        "Look at the threads other than the main one for sqlite3_, fcntl, flock, NSFileCoordinator and Core Data.",
        "Call beginBackgroundTask before the write begins; in an extension ProcessInfo.performExpiringActivity.",
        "Keep databases out of shared containers where no other process reads them.",
      ],
      myth: "It is no deadlock of threads, and the thread that is marked as crashed is not the culprit.")
  ]

  private static let resourceCodes = [
    termination(
      0xd00d_2bad, "dude, too bad", in: ["RUNNINGBOARD"], "The process used too many of the system's key resources",
      endedBy: "the system", causes: ["Too much work is started at once."],
      advice: ["Work on less in parallel, and finish tasks before starting more."]),
    termination(
      0xc000_10ff, "cool off", in: ["SPRINGBOARD", "RUNNINGBOARD"], "The system ended the process because of heat",
      endedBy: "the system's thermal management",
      causes: ["Sustained use of CPU, GPU or radio.", "The device's surroundings: sun, a case, a charger."],
      advice: ["Measure energy with Instruments; reduce work when ProcessInfo.thermalState rises."],
      myth: "It is not always the app's fault: the device or its surroundings may be too warm."),
    termination(
      0xbadd_d15c, "bad disc", in: ["RUNNINGBOARD"],
      "The system ended the process so that it could delete its caches, because the disk was full",
      endedBy: "the system's cache deletion", causes: ["The disk has little space left."],
      advice: ["Keep caches and temporary files small, and delete what is no longer needed."],
      myth: "It is no crash of the app; on macOS it mostly leaves no report."),
    termination(
      0xbaad_ca11, "bad call", in: ["RUNNINGBOARD", "SPRINGBOARD"],
      "The process received a PushKit push for a call and reported no call to CallKit", endedBy: "the system",
      causes: ["A path of the push handler returns without reportNewIncomingCall."],
      advice: ["Report a call on every path, also for invalid pushes and calls that have ended."]),
    termination(
      0xbad2_2222, "VoIP resumed too often", in: ["SPRINGBOARD", "RUNNINGBOARD"],
      "A VoIP app was ended because it resumed too often", endedBy: "the system",
      causes: ["Pushes, sockets or timers wake the app too often."],
      advice: ["Measure how often the app is resumed; merge pushes."],
      myth: "That it stands for network use in the background is said in books, and not by Apple."),
  ]

  private static let watchCodes = [
    termination(
      0xc51b_ad01, "background CPU time", in: ["CAROUSEL", "SPRINGBOARD"],
      "watchOS ended the app because a background task used too much CPU time", endedBy: "Carousel, watchOS's shell",
      causes: ["The task computes too much."],
      advice: ["Make the task cheaper, or do less in the background."]),
    termination(
      0xc51b_ad02, "background time", in: ["CAROUSEL", "SPRINGBOARD"],
      "watchOS ended the app because a background task was not completed in the time allowed",
      endedBy: "Carousel, watchOS's shell", causes: ["The task waits, or does too much."],
      advice: ["Do less in a background task, and call setTaskCompleted early."]),
    termination(
      0xc51b_ad03, "background time, busy system", in: ["CAROUSEL", "SPRINGBOARD"],
      "watchOS ended the app because a background task was not completed, while the system was too busy to run it",
      endedBy: "Carousel, watchOS's shell", causes: ["The system was busy; the app got too little run time."],
      advice: ["Nothing is proved against the app. Less work in the background makes it less likely."],
      myth: "It is not the app's fault: Apple says that the code does not indicate that the app did anything wrong."),
  ]

  private static let otherCodes = [
    termination(
      0x2bad_45ec, "insecure drawing", in: ["SPRINGBOARD"],
      "The process drew insecurely while the display was in secure mode, as when the device is locked",
      endedBy: "SpringBoard", causes: ["Rendering goes on after the device was locked."],
      advice: ["Stop rendering when the scene enters the background or protected data becomes unavailable."],
      .reports("Apple does not document it")),
    termination(
      0xdead_fa11, "dead fall", in: ["SPRINGBOARD"],
      "The user forced the app to quit with the buttons of the device", endedBy: "the user",
      causes: ["The user held the side button until the power slider came, and then the Home button."],
      advice: ["Look for what made the app unusable before: a hang leaves no report of its own here."],
      myth: "A swipe in the app switcher is not this code: it leaves no crash report at all.",
      .file("Apple", "Technical Note TN2151, which is withdrawn; later pages do not list it")),
    termination(
      0xbaaa_aaad, "stackshot", in: [], "The report is a stackshot of the whole system, and not a crash",
      endedBy: "Nothing was ended", causes: ["Buttons were pressed to capture the system, or a tool asked for it."],
      advice: ["Look for the report of the crash itself, near it in time."],
      myth: "It is not a crash of the process whose name stands in it.", .reports("bug type 288")),
    termination(
      0xdead_feed, "service spawn time-out", in: [], "A service was not started in time, as users say",
      endedBy: "not known", causes: [],
      advice: ["Treat this meaning with care; collect the text of the termination."],
      .users("no documentation and no report confirms it")),
  ]
}
