// SPDX-License-Identifier: Apache-2.0
import CrashKinds
import Glibc

/// The options of the command line.
struct Options {
  enum Handlers: String { case none, before, after }
  enum Place: String { case main, other, queue, task }

  static let usage = """
    usage: crashing-program KIND [options]
      --threads N            so many threads in all, the main one with them; default 1
      --blocking N           so many more that block every signal
      --spinning N           so many more that run in user space
      --spinning-blocking N  so many more that do both
      --in-handler N         so many more that stand in a signal handler on an alternate stack
      --in-handler-blocking N  so many more that do, and block every signal
      --workers N            so many more of libdispatch's
      --thread-stack BYTES   of each of these; default the system's
      --in main|other|queue|task   which thread crashes: the main one (default), a pthread named "crashing", a worker of
                             libdispatch's, one of Swift concurrency's
      --signal N             for raise; default 6
      --database DIR         starts the handler that is linked in; without it there is none
      --program-id ID        default crashing-program
      --stack BYTES  --crashed-stack BYTES  --timeout MILLISECONDS  --flags N    the handler's options
      --other-handler before|after   another handler that hands on, installed before or after ours
      --restores-default     that handler restores the default action instead
      --forbid errno|trap|kill       ptrace, process_vm_readv and clone are forbidden so, when all threads run
      --close-files          closes all files, as daemons do
      --fault PART           that part of the capture crashes itself
      --dump N               first N dumps without crash; "dumped PATH" on standard output for each
    """

  var kind = Kind.exit
  var threads: Int32 = 1
  var blocking: Int32 = 0
  var spinning: Int32 = 0
  var spinningBlocking: Int32 = 0
  var inHandler: Int32 = 0
  var inHandlerBlocking: Int32 = 0
  var workers = 0
  var threadStack: UInt = 0
  var place = Place.main
  var signal: Int32 = SIGABRT
  var database: String?
  var programID = "crashing-program"
  var stackLimit: UInt32 = 0
  var crashedStackLimit: UInt32 = 0
  var timeout: UInt32 = 0
  var flags: UInt32 = 0
  var handlers = Handlers.none
  var restoresDefault = false
  var dumps = 0
  var forbidden: String?
  var closesFiles = false
  var fault: String?

  init(_ arguments: [String]) {
    var rest = arguments.dropFirst()
    func value<Value>(_ make: (String) -> Value?) -> Value {
      guard let text = rest.popFirst(), let value = make(text) else { Self.fail() }
      return value
    }
    kind = value { Kind(rawValue: $0) }
    while let option = rest.popFirst() {
      switch option {
      case "--threads": threads = value { Int32($0) }
      case "--blocking": blocking = value { Int32($0) }
      case "--spinning": spinning = value { Int32($0) }
      case "--spinning-blocking": spinningBlocking = value { Int32($0) }
      case "--in-handler": inHandler = value { Int32($0) }
      case "--in-handler-blocking": inHandlerBlocking = value { Int32($0) }
      case "--workers": workers = value { Int($0) }
      case "--thread-stack": threadStack = value { UInt($0) }
      case "--in": place = value { Place(rawValue: $0) }
      case "--signal": signal = value { Int32($0) }
      case "--database": database = value { $0 }
      case "--program-id": programID = value { $0 }
      case "--stack": stackLimit = value { UInt32($0) }
      case "--crashed-stack": crashedStackLimit = value { UInt32($0) }
      case "--timeout": timeout = value { UInt32($0) }
      case "--flags": flags = value { UInt32($0) }
      case "--other-handler": handlers = value { Handlers(rawValue: $0) }
      case "--restores-default": restoresDefault = true
      case "--forbid": forbidden = value { $0 }
      case "--close-files": closesFiles = true
      case "--fault": fault = value { $0 }
      case "--dump": dumps = value { Int($0) }
      default: Self.fail()
      }
    }
  }

  private static func fail() -> Never {
    unsafe say(2, usage + "\nkinds: " + Kind.allCases.map(\.rawValue).joined(separator: " ") + "\n")
    exit(64)
  }
}
