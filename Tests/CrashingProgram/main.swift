// SPDX-License-Identifier: Apache-2.0
import CCrashCapture
import CrashKinds
import Dispatch
import Glibc

// It says "KIND pid P thread T" on standard output when all is ready, then ends as it was told. Of two threads that crash
// each says so too.
func text(_ bytes: [CChar]) -> String {
  String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

let options = Options(CommandLine.arguments)

if options.handlers == .before { install_other_handler(options.restoresDefault ? 1 : 0) }
if let database = options.database {
  var message = [CChar](repeating: 0, count: 512)
  let failure = unsafe database.withCString { database in
    unsafe options.programID.withCString { programID in
      var capture = unsafe crash_capture_options(
        database: database, program_id: programID, run_id: nil, environment: nil, time_zone: nil,
        crashed_stack_limit: options.crashedStackLimit, stack_limit: options.stackLimit,
        stop_timeout: options.timeout, reserve: 0, flags: options.flags)
      return unsafe crash_capture_install(&capture, &message, message.count)
    }
  }
  if failure != 0 {
    unsafe say(2, "crashing-program: \(failure): \(text(message))\n")
    exit(96)
  }
}
if options.handlers == .after { install_other_handler(options.restoresDefault ? 1 : 0) }

start_threads(options.threads - 1, THREAD_WAITS, options.threadStack)
start_threads(options.blocking, THREAD_BLOCKS_SIGNALS, options.threadStack)
start_threads(options.spinning, THREAD_SPINS, options.threadStack)
start_threads(options.spinningBlocking, THREAD_SPINS_BLOCKING, options.threadStack)
start_threads(options.inHandler, THREAD_IN_HANDLER, options.threadStack)
start_threads(options.inHandlerBlocking, THREAD_IN_HANDLER_BLOCKING, options.threadStack)
for _ in 0..<options.workers { DispatchQueue.global().async { wait_forever() } }

for _ in 0..<options.dumps {
  var path = [CChar](repeating: 0, count: 4096)
  let failure = unsafe crash_capture_dump(nil, &path, path.count)
  if failure != 0 {
    unsafe say(2, "crashing-program: a dump without crash: \(failure)\n")
    exit(95)
  }
  unsafe say(1, "dumped \(text(path))\n")
}

if let fault = options.fault { unsafe crash_capture_set_test_fault(fault) }
if options.closesFiles { close_files() }
if let forbidden = options.forbidden {
  let failure = unsafe forbidden.withCString { unsafe forbid_calls($0) }
  if failure != 0 { exit(94) }
}

let crash = Crash(kind: options.kind, signal: options.signal)
switch options.place {
case .main: crash.happen()
case .other: crash.happenOnOtherThread()
case .queue: crash.happenOnQueue()
case .task: await Task.detached { crash.happen() }.value
}
