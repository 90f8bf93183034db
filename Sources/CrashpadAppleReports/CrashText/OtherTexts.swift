// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Texts about crashes that no reader knows, so that they can be refused by their names.
package enum OtherTexts {
  private struct Kind {
    /// Words that all are in the text, or on one line of it in this order.
    let words: [String]
    let name: String
    let isLine: Bool

    func isIn(_ text: TextBytes) -> Bool {
      isLine ? text.split(separator: 0x0a).contains { isOn($0) } : words.allSatisfy { text.first(of: $0) != nil }
    }

    func isOn(_ line: TextBytes) -> Bool {
      var rest = line
      for word in words {
        guard let start = rest.first(of: word) else { return false }
        rest = rest[(start + word.utf8.count)...]
      }
      return true
    }
  }

  private static func line(_ words: String..., name: String) -> Kind { Kind(words: words, name: name, isLine: true) }
  private static func text(_ words: String..., name: String) -> Kind { Kind(words: words, name: name, isLine: false) }

  private static let tombstone = "a tombstone of Android"
  private static let anr = "a report of Android about an app that does not respond"
  private static let glibc = "a message of the C library"
  private static let dotNet = "a stack of .NET"
  private static let javaScript = "a stack of JavaScript"
  private static let kernel = "a message of the Linux kernel"
  private static let unreal = "a log of Unreal Engine"
  private static let java = "a stack of Java"
  private static let mono = "a stack that Mono wrote"
  private static let services = "a stack of App Center or HockeyApp"
  private static let go = "a traceback of Go"
  private static let ruby = "a traceback of Ruby"
  private static let windbg = "the output of a debugger of Windows"
  private static let gdb = "a session of gdb"
  private static let coredump = "a message of systemd-coredump"
  private static let darwin = "a message of Apple's kernel"
  private static let walker = "the JSON of minidump-stackwalk"
  private static let windows = "an event of Windows about a crash"
  private static let sentry = "an event of Sentry"
  private static let kscrash = "a part of KSCrash's report"

  /// In the order in which they are tried: what tells more stands before.
  private static let kinds: [Kind] = [
    line("ERROR: AddressSanitizer", name: "a report of AddressSanitizer"),
    line("ERROR: HWAddressSanitizer", name: "a report of HWAddressSanitizer"),
    line("ERROR: LeakSanitizer", name: "a report of LeakSanitizer"),
    line("WARNING: ThreadSanitizer", name: "a report of ThreadSanitizer"),
    line("WARNING: MemorySanitizer", name: "a report of MemorySanitizer"),
    line("UndefinedBehaviorSanitizer", name: "a report of UndefinedBehaviorSanitizer"),
    line("\"instrumentation_class\"", "AddressSanitizer", name: "a report of AddressSanitizer"),
    line("SUMMARY: AddressSanitizer: ", name: "a report of AddressSanitizer"),
    line("SUMMARY: ThreadSanitizer: ", name: "a report of ThreadSanitizer"),
    line("SUMMARY: MemorySanitizer: ", name: "a report of MemorySanitizer"),
    line("panic: runtime error: ", name: go), line("goroutine ", "[running]:", name: go),
    line("[signal SIG", " code=0x", " addr=0x", " pc=0x", name: go), line("goroutine ", " [", "]:", name: go),
    line(": runtime error: ", name: "a report of UndefinedBehaviorSanitizer"),
    line("ERROR: libFuzzer: ", name: "a report of libFuzzer"),
    line("Direct leak of ", " byte(s) in ", name: "a report of LeakSanitizer"),
    line("Indirect leak of ", " byte(s) in ", name: "a report of LeakSanitizer"),
    line("==", "== Invalid ", " of size ", name: "a report of Valgrind"),
    line("==", "== Conditional jump or move depends on uninitialised", name: "a report of Valgrind"),
    line("==", "== Invalid free() / delete", name: "a report of Valgrind"),
    line("==", "== Process terminating with default action of signal ", name: "a report of Valgrind"),
    line("==", " lost in loss record ", name: "a report of Valgrind"),
    line("J9Generic_Signal", "Signal_Number=", name: "an error report of a Java VM (OpenJ9)"),
    line(
      "A fatal error has been detected by the Java Runtime Environment", name: "an error report of a Java VM (hs_err)"),
    line("*** *** *** *** *** ***", name: tombstone), line("Build fingerprint: '", name: tombstone),
    line("pid: ", ", tid: ", ", name: ", ">>> ", " <<<", name: tombstone),
    text("DEBUG   : backtrace:", "#00 pc ", name: tombstone),
    line("ANR in ", name: anr), line("\"main\" prio=", " tid=", name: anr),
    line("----- pid ", " at ", " -----", name: anr),
    line("signal ", " (SIG", "), code ", " (", "), fault addr ", name: tombstone),
    line("#", " pc ", ".so (", name: "a stack of Android"),
    line("#", " pc ", "/lib", ".so", name: "a stack of Android"),
    line("#0", " pc 0x", ".so", name: "a stack of Android"),
    text("free(): ", name: glibc), text("malloc(): ", name: glibc), text("double free or corruption (", name: glibc),
    text("munmap_chunk(): ", name: glibc), text("*** stack smashing detected ***", name: glibc),
    text("*** buffer overflow detected ***", name: glibc),
    line("Unhandled exception. System.", name: dotNet), line("Unhandled Exception: System.", name: dotNet),
    text("   at System.", "(", name: dotNet), text("   at Microsoft.", "(", name: dotNet),
    text("Unhandled exception:", "#0 ", "(file:", name: "a stack of Dart"),
    text("Unhandled exception:", "#0 ", "(package:", name: "a stack of Dart"),
    text("    at ", " (", ".js:", ")", name: javaScript), text("    at ", " (node:internal/", name: javaScript),
    line("=erl_crash_dump:", name: "a crash dump of Erlang"),
    text("Slogan: ", "System version: Erlang", name: "a crash dump of Erlang"),
    line("= OUTPUTTING STACK TRACE =", name: "a stack of Unity"),
    line("type=ANOM_ABEND ", " sig=", name: "a message of the audit system of Linux"),
    line("handle_crash: Program crashed with signal ", name: "a message of Godot"),
    line("=== Critical error: ===", name: unreal), line("Fatal error: [File:", "] [Line: ", name: unreal),
    line("Unhandled Exception: EXCEPTION_", name: unreal),
    line(" Address = 0x", " [in ", "]", name: unreal), line("[Callstack] ", "0x", name: unreal),
    text("Fatal Python error: ", "File \"", name: "a traceback of Python"),
    line("Traceback (most recent call last):", name: "a traceback of Python"),
    line("Got a SIG", "while executing native code", name: mono),
    line("Got a ", " while executing native code", name: mono),
    line("Native Crash Reporting", name: mono), line("(wrapper managed-to-native)", name: dotNet),
    line("### Stacktrace ###", name: services), text("## Stacktrace", ".m;", name: services),
    line("  File \"", "\", line ", name: "a stack of Sentry's form"),
    line("\tat ", ".java:", name: java), line("    at ", ".java:", name: java),
    line("\tat ", ".kt:", name: "a stack of Kotlin"), line("thread '", "panicked at", name: "a message of Rust"),
    line("thread '", "' has overflowed its stack", name: "a message of Rust"),
    line("fatal runtime error: ", name: "a message of Rust"),
    line("memory allocation of ", " bytes failed", name: "a message of Rust"),
    line("[BUG] ", "ruby ", name: ruby), text("[BUG] ", "-- Control frame information --", name: ruby),
    line(".rb:", ":in `", name: ruby), line(".rb:", ":in '", name: ruby),
    line("# Fatal error in ", ", line ", name: "a message of V8"),
    line("# Fatal process out of memory", name: "a message of V8"),
    line("<--- Last few GCs --->", name: "a message of V8"),
    text("\"dumpEventTime\"", "\"nodejsVersion\"", name: "a diagnostic report of Node"),
    line("FATAL ERROR: ", "JavaScript heap out of memory", name: "a message of V8"),
    line("PID ", " received SIG", " for address: ", name: "a stack of node-segfault-handler"),
    line("Faulting application name: ", name: windows), line("Faulting module name: ", name: windows),
    line("(!!! second chance !!!)", name: windbg), line("FAULTING_IP:", name: windbg),
    line("STACK_TEXT:", name: windbg),
    line("Child-SP ", "RetAddr", name: windbg), line("ChildEBP RetAddr", name: windbg),
    line("Core was generated by `", name: gdb), line("Program received signal SIG", name: gdb),
    line("Program terminated with signal SIG", name: gdb), line("Thread ", " received signal SIG", name: gdb),
    text("(gdb)", "#0 ", name: gdb), line("#", " in ", "<optimized out>", name: gdb),
    line("#", "<signal handler called>", name: gdb),
    line("Process ", " of user ", " dumped core", name: coredump),
    line("Stack trace of thread ", ":", name: coredump),
    text(" PID: ", " Signal: ", "Command Line: ", name: "the output of coredumpctl"),
    line("------------[ cut here ]------------", name: kernel), line("kernel BUG at ", name: kernel),
    line(": 00", " [#", "]", name: kernel), line("BUG: soft lockup - CPU#", name: kernel),
    line("BUG: unable to handle ", name: kernel), line("Unable to handle kernel ", name: kernel),
    line("Kernel panic - not syncing", name: kernel), line("Internal error: Oops: ", name: kernel),
    line("WARNING: CPU: ", " PID: ", name: kernel), line("WARNING: at ", ".c:", name: kernel),
    line("WARNING: at ", ".h:", name: kernel),
    line("INFO: task ", " blocked for more than ", name: kernel),
    line("segfault at ", " ip ", " sp ", " error ", name: kernel), line("traps: ", "] ", " ip:", " sp:", name: kernel),
    line("memorystatus: ", "exceeded mem limit", name: "a message of the kernel about memory"),
    line("EXC_RESOURCE -> ", "exceeded mem limit", name: "a message of the kernel about memory"),
    line("CODE SIGNING: ", name: "a message of the kernel about code signatures"),
    line("Sandbox: ", " deny(", name: "a message of the sandbox"),
    line("memorystatus: ", "kill", name: "a message of the kernel about memory"),
    line("EXC_GUARD AST: type=", name: darwin + " about a guard"),
    line("process ", " caught ", "wakeups", name: darwin + " about wakeups"),
    line("process ", " caught burning CPU", name: darwin + " about CPU time"),
    line("Panicked task 0x", " pages", name: "a part of the text of a panic"),
    line("error while loading shared libraries: ", name: "a message of the loader of Linux"),
    line("PC=0x", " m=", " sigcode=", name: go),
    text("\"imageOffset\"", "\"imageIndex\"", name: "a part of an .ips report without its beginning"),
    text("\"captureTime\"", "\"procExitAbsTime\"", name: "a part of an .ips report without its stacks"),
    text("\"crash_info\"", "\"crashing_thread\"", name: walker),
    text("\"crash_reason\"", "\"crash_address\"", name: walker),
    text("\"mac_crash_info\"", "\"num_records\"", name: walker),
    text("\"binaryUUID\"", "\"offsetIntoBinaryTextSegment\"", name: "a part of a MetricKit diagnostic"),
    text("\"rpages\"", "\"lifetimeMax\"", name: "a part of a JetsamEvent report without its beginning"),
    text("\"binary_images\"", "\"start_addr\"", name: "an event of a crash service"),
    line("exception.type=", name: "an event of a crash service"),
    text("\"event_id\"", "\"platform\"", name: sentry), text("\"debug_meta\"", "\"images\"", name: sentry),
    text("\"culprit\"", "\"platform\"", name: sentry),
    text("\"instruction_addr\" = ", name: kscrash + " as a property list"),
    text("\"exception_name\" = ", "\"code_name\" = ", name: kscrash + " as a property list"),
    text("\"instruction_addr\"", "\"backtrace\"", name: kscrash),
    text("[View on Bugsnag]", "## Stacktrace", name: "a message of Bugsnag"),
    line("Execution of the command buffer was aborted", name: "a message of Metal about the graphics processor"),
    line("Powerstats for: ", "[", "]", name: "a part of a resource report without its head"),
    line(" (in ", ") + ", " [0x", name: "a part of the output of sample"),
    text("\"exception\"", "\"EXC_", name: "a part of an .ips report without its beginning"),
  ]

  /// The name of the text; nil if its start does not say.
  package static func name(_ start: [UInt8]) -> String? { kinds.first { $0.isIn(start[...]) }?.name }

  /// Whether a line is of such a text, whatever frames stand below it.
  static func isIn(_ line: TextBytes) -> Bool { kinds.contains { $0.isLine && $0.isOn(line) } }
}
