// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let firstCaller = "The first frame of the app below it is the caller."

  /// A function that raises for one cause, which its message would name; iOS leaves messages out of many reports.
  private static func raising(
    _ name: String, _ others: [String] = [], need: Grounds.Need? = .objectiveCThrow, like message: String
  ) -> CodeMeaning {
    let row = self.message(named: message)
    return function(
      .cause, name, others, need: need, row.event, by: row.endedBy, causes: row.causes, advice: row.advice, row.source)
  }

  /// Functions of frameworks and of libraries that many programs use, by which a cause is known.
  static let frameworkFunctions: [CodeMeaning] = [
    raising(
      "addAppToAppDictionary:", ["FIRApp configure", "FirebaseApp.configure", "FIRApp configureWithName:options:"],
      like: "Firebase not configured"),
    raising("GADApplicationVerifyPublisherInitializedCorrectly", need: nil, like: "Google Ads without an id"),
    function(
      .cause, "__CRASHING_DUE_TO_PRIVACY_VIOLATION__", ["__TCC_CRASHING_DUE_TO_PRIVACY_VIOLATION__"],
      "The program asked for protected data without a reason in its Info.plist",
      by: "the system's privacy service, TCC, in the process itself",
      causes: ["A key that ends in UsageDescription is missing."],
      advice: ["Add the key to Info.plist: the program's log names it."],
      .apple("Requesting access to protected resources")),
    function(
      .cause, "RCTFatal", ["RCTExceptionsManager reportFatal", "RCTExceptionsManager reportException"],
      "React Native ended the app because of a JavaScript error that was not handled", by: uncaught,
      advice: ["Read the JavaScript error in the program's log; the native stack does not have it."],
      .file("React Native", "React/Base/RCTAssert.m")),
    function(
      .cause, "StartupProcedure.throwException",
      ["ErrorRecovery.crash", "EXUpdatesErrorRecovery crash", "EXUpdatesErrorRecovery throwException"],
      "A JavaScript error at the start of the bundle was not handled: Expo's updates library ended the app",
      by: uncaught,
      causes: ["An update whose JavaScript fails at its start."],
      advice: ["Read the JavaScript error in the program's log; roll the update back."],
      .file("Expo", "expo-updates, ErrorRecovery.swift")),
    raising(
      "[BGTaskScheduler submitTaskRequest:error:]",
      ["BGTaskScheduler registerForTaskWithIdentifier", "_handleSubmissionWithoutRegistrationForTaskRequest"],
      like: "Background task not registered"),
    raising(
      "_performBlockAfterCATransactionCommitSynchronizes:", ["_AssertAutoLayoutOnAllowedThreadsOnly"],
      like: "UI off the main thread"),
    raising(
      "_endCellAnimationsWithContext:", ["_Bug_Detected_In_Client_Of_UICollectionView_Invalid"],
      like: "Invalid update of a list"),
    raising(
      "instantiateViewControllerWithIdentifier:", ["UIStoryboard storyboardWithName:bundle:"],
      like: "Missing nib or storyboard"),
    raising(
      "dequeueReusableCellWithIdentifier:forIndexPath:", ["dequeueReusableCellWithReuseIdentifier:forIndexPath:"],
      like: "Cell not registered"),
    raising(
      "presentationTransitionWillBegin", ["UIPopoverPresentationController presentationTransitionWillBegin"],
      like: "Popover without an anchor"),
    raising("CA::Layer::set_position", ["CA::Layer::set_bounds"], like: "Layer geometry is not a number"),
    raising(
      "_writeJSONValue", ["[_NSJSONWriter dataWithRootObject:options:]", "dataWithJSONObject:options:error:"],
      like: "JSON of an unsupported type"),
    raising(
      "__Multithreading_Violation_AllThatIsLeftToUsIsHonor__", need: nil, like: "Core Data on another queue"),
    function(
      .cause, "MTLReportFailure", ["MTLReleaseAssertionFailure", "_MTLMessageContextEnd"],
      "Metal was used in a way that it does not allow: its validation failed", by: "Metal, by abort(): SIGABRT",
      causes: ["A resource that is not bound, or has another size, format, usage or offset than the call needs."],
      advice: [
        "Read the line with \"failed assertion\" in the program's log: it names the call and the resource.",
        "The method of MTLDebug below it is the call.",
      ],
      .apple("Validating your app's Metal API usage")),
    function(
      .kind, "Kotlin_terminateWithUnhandledException",
      [
        "kotlin::TerminateWithUnhandledException",
        "kotlin::ProcessUnhandledException", "Kotlin_ObjCExport_trapOnUndeclaredException",
        "terminateWithUnhandledException", "processUnhandledException",
      ],
      "A Kotlin exception was not caught, or reached Swift or Objective-C from a function without @Throws",
      by: "the Kotlin runtime, by abort(): SIGABRT", causes: ["A shared function that throws and is not annotated."],
      advice: [firstCaller], .file("Kotlin/Native", "runtime, Exceptions.cpp")),
    // Kotlin's handler of std::terminate, and its end for its own failed checks.
    function(
      .kind, "konan::abort", ["KonanTerminateHandler", "ReportBacktraceToIosCrashLog"],
      "The Kotlin runtime ended the process: for an exception that was not caught, or for a check of its own",
      by: "the Kotlin runtime, by abort(): SIGABRT",
      advice: ["Read the program's log: the runtime writes the reason there."],
      .file("Kotlin/Native", "runtime, Exceptions.cpp")),
    function(
      .kind, "xamarin_unhandled_exception_handler",
      ["xamarin_process_managed_exception", "mono_unhandled_exception", "mono_invoke_unhandled_exception_hook"],
      "An exception of .NET was not caught", by: "the runtime, by abort(): SIGABRT",
      advice: ["Read the managed exception in the program's log; the native stack does not have it."],
      .file(".NET", "macios, runtime.m")),
    function(
      .kind, "il2cpp::vm::Exception::Raise", ["il2cpp_unhandled_exception"],
      "A managed exception of Unity was not caught", by: "the runtime, by abort(): SIGABRT",
      advice: ["Read Unity's log: it has the managed stack."], .file("Unity", "IL2CPP")),
    function(
      .cause, "base::internal::OnNoMemoryInternal",
      [
        "OnNoMemory", "base::TerminateBecauseOutOfMemory", "base::internal::OnNoMemory",
        "partition_alloc::TerminateBecauseOutOfMemory", "partition_alloc::internal::OnNoMemoryInternal",
      ],
      "The program could not get the memory that it asked for", by: "Chromium's code, by a trap",
      advice: ["Look at the size that the caller asked for, and at the memory of the process."],
      .file("Chromium", "base/process/memory.h")),
    function(
      .kind, "logging::LogMessage::~LogMessage", ["logging::CheckFailure", "logging::CheckError::~CheckError"],
      "A check of the program (CHECK) does not hold", by: "the program, by a trap", advice: [firstCaller],
      .file("Chromium", "base/logging.h")),
    function(
      .kind, "absl::log_internal::LogMessageFatal",
      ["google::LogMessageFatal::~LogMessageFatal", "google::LogMessage::Fail"],
      "A check of the program (CHECK, LOG(FATAL)) does not hold", by: "the program, by abort(): SIGABRT",
      advice: [firstCaller, "Read the message in the program's log."], .file("Abseil and glog", "log/check.h")),
    raising(
      "v8::internal::V8::FatalProcessOutOfMemory",
      [
        "v8::internal::FatalProcessOutOfMemory", "v8::internal::Heap::FatalProcessOutOfMemory",
        "node::OOMErrorHandler",
      ],
      need: nil, like: "JavaScript heap exhausted"),
    function(
      .kind, "V8_Fatal", ["node::OnFatalError", "v8::base::OS::Abort"],
      "The JavaScript engine ended the process: a check failed, or no memory is left", by: "V8, by a trap or abort()",
      advice: ["Read the last lines of standard error: they name the check or the heap's size."],
      .file("V8", "src/base/logging.cc")),
    function(
      .kind, "node::Assert", [], "A check of Node.js does not hold", by: "Node.js, by abort(): SIGABRT",
      advice: ["Standard error has the condition and a native stack."], .file("Node.js", "src/node_errors.cc")),
    function(
      .kind, "g_assertion_message", ["g_assertion_message_expr", "g_logv", "g_log_structured_array", "g_error"],
      "GLib ended the process: an assertion does not hold, or an error was logged", by: "GLib, by abort() or a trap",
      advice: ["Standard error has the message."], .file("GLib", "glib/gtestutils.c and gmessages.c")),
    function(
      .kind, "QMessageLogger::fatal", ["qt_message_fatal", "qt_assert", "qt_assert_x"],
      "Qt ended the process: qFatal, or an assertion", by: "Qt, by abort(): SIGABRT",
      advice: ["Standard error has the message."], .file("Qt", "qtbase, qlogging.cpp")),
    function(
      .kind, "art::Runtime::Abort", ["__android_log_assert", "art::Runtime::Aborter"],
      "The Android runtime ended the process", by: "the Android runtime, by abort(): SIGABRT",
      advice: ["Read the abort message in the log: a Java exception, or a wrong use of JNI."],
      .file("Android", "art/runtime/runtime.cc")),
    function(
      .kind, "Py_FatalError", ["_Py_FatalErrorFunc", "_Py_FatalErrorFormat"],
      "The Python interpreter ended the process", by: "Python, by abort(): SIGABRT",
      advice: ["Standard error has the reason and the Python stack."], .file("CPython", "Python/pylifecycle.c")),
    function(
      .kind, "os::abort", ["VMError::report_and_die", "report_vm_error"], "The Java virtual machine ended the process",
      by: "the Java virtual machine, by abort(): SIGABRT",
      advice: ["Read hs_err_pidN.log in the program's directory."], .file("OpenJDK", "hotspot, vmError.cpp")),
  ]
}
