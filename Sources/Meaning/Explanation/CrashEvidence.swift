internal import BinaryFormat
package import Snapshot

/// A crash as an explanation looks at it: text in place of bytes, and stacks with names.
package struct CrashEvidence: Sendable {
  package struct Frame: Sendable, Hashable {
    /// Demangled; nil without a name.
    package var function: String?
    package var module: String?
    /// In the module, in bytes.
    package var offset: UInt64?
    /// "Scene.swift:12"
    package var location: String?
    /// Whether the code is the application's, and not the system's.
    package var isOfApp: Bool

    package init(function: String?, module: String?, offset: UInt64?, location: String?, isOfApp: Bool) {
      self.function = function
      self.module = module
      self.offset = offset
      self.location = location
      self.isOfApp = isOfApp
    }

    /// "Scene.load() in Orrery (Scene.swift:12)"
    package var text: String {
      let place = module ?? "no module"
      guard let function else { return offset.map { "\(place) + \(hex($0))" } ?? place }
      return "\(function) in \(place)" + (location.map { " (\($0))" } ?? "")
    }
  }

  package struct Thread: Sendable {
    /// In the report.
    package var index: Int
    package var name: String?
    /// Label of its dispatch queue.
    package var queue: String?
    /// The innermost first.
    package var frames: [Frame]

    package init(index: Int, name: String?, queue: String?, frames: [Frame]) {
      self.index = index
      self.name = name
      self.queue = queue
      self.frames = frames
    }

    package func has(_ words: [String]) -> Bool { first(words) != nil }

    /// The innermost frame whose function has one of these words.
    package func first(_ words: [String]) -> Int? {
      frames.firstIndex { frame in
        guard let function = frame.function else { return false }
        return words.contains { function.contains($0) }
      }
    }

    /// The innermost frame of the application. Its main function calls everything and says nothing, and a check of libc++
    /// is inlined into the code that failed it.
    package var firstOfApp: Int? {
      frames.firstIndex { $0.isOfApp && $0.function != "main" && $0.function?.holds("/include/c++/v1/") != true }
    }

    /// "thread 3 (com.example.store)"
    package var title: String { "thread \(index)" + ((queue ?? name).map { " (\($0))" } ?? "") }
  }

  package var exception: ExceptionSnapshot?
  package var system: SystemSnapshot
  package var report: ReportSnapshot?
  package var processName: String?
  package var threads: [Thread]
  /// Index in `threads` of the one that crashed, or that the report names.
  package var crashed: Int?
  /// The stack of the uncaught exception, if there is one.
  package var lastException: [Frame]
  /// What programs and libraries said about the end.
  package var messages: [String]

  package init(
    exception: ExceptionSnapshot?, system: SystemSnapshot, report: ReportSnapshot?, processName: String?,
    threads: [Thread], crashed: Int?, lastException: [Frame] = [], messages: [String]
  ) {
    self.exception = exception
    self.system = system
    self.report = report
    self.processName = processName
    self.threads = threads
    self.crashed = crashed
    self.lastException = lastException
    self.messages = messages
  }

  var crashedThread: Thread? { crashed.flatMap { threads.indices.contains($0) ? threads[$0] : nil } }

  /// The main thread: that of the main queue, or else the first.
  var mainThread: Thread? {
    threads.first { $0.queue == "com.apple.main-thread" || $0.name?.holds("com.apple.main-thread") == true }
      ?? threads.first { $0.index == 0 }
  }

  /// All lines of a termination, as one text in small letters.
  var terminationText: String {
    ((report?.termination?.reasons ?? []) + (report?.termination?.details ?? [])).joined(separator: "\n")
  }
}
