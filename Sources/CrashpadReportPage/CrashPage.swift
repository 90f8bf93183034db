/// The content of a page about one crash. Every text may be hostile: it comes from a dump or from a file with symbols.
package struct CrashPage: Sendable {
  /// The title of the window, and the first heading.
  package var title: String
  /// The file, its format, and whether it is whole.
  package var subtitle: String
  /// Whether parts of the dump are missing or damaged.
  package var isDamaged = false
  package var explanation: Explanation?
  package var facts: [Fact] = []
  /// The thread that crashed first, then groups of others.
  package var stacks: [Stack] = []
  /// The stack of the uncaught exception, where the input has it beside the threads.
  package var lastException: [Frame] = []
  package var instruction: Instruction?
  package var registers: [Register] = []
  /// "arm64, thread 0"
  package var registerTitle = ""
  package var messages: [Entry] = []
  package var annotations: [Entry] = []
  package var modules: [Module] = []
  package var memory: Memory?
  package var findings: [Finding] = []
  /// The number of findings that were not kept.
  package var droppedFindings = 0
  /// The records of the file in lines, or the streams.
  package var tree: Listing?
  /// The report as plain text, for tickets.
  package var text = ""
  /// "crashpadctl 0.1.0"
  package var generator: String

  package init(title: String, subtitle: String, generator: String) {
    self.title = title
    self.subtitle = subtitle
    self.generator = generator
  }

  package struct Explanation: Sendable {
    package var summary: String
    package var isCrash: Bool
    package var parts: [Part] = []
    package var sources: [String] = []

    package init(summary: String, isCrash: Bool) {
      self.summary = summary
      self.isCrash = isCrash
    }

    /// "Evidence" with what it says.
    package struct Part: Sendable {
      package var label: String
      package var items: [Item]

      package init(_ label: String, _ items: [Item]) {
        self.label = label
        self.items = items
      }
    }

    package struct Item: Sendable {
      package var text: String
      /// "thread 3, frame 2"
      package var place: String?
      /// The frame that it rests on.
      package var frame: FrameID?

      package init(_ text: String, place: String? = nil, frame: FrameID? = nil) {
        self.text = text
        self.place = place
        self.frame = frame
      }
    }
  }

  package struct FrameID: Sendable, Hashable {
    package var thread: Int
    package var number: Int

    package init(thread: Int, number: Int) {
      self.thread = thread
      self.number = number
    }
  }

  package struct Fact: Sendable {
    package var label: String
    package var values: [String]

    package init(_ label: String, _ values: [String]) {
      self.label = label
      self.values = values
    }
  }

  package struct Thread: Sendable {
    /// In the dump; nil of an exception whose thread is not in it.
    package var index: Int?
    /// "id 4711"
    package var id: String?
    package var name: String?
    package var queue: String?

    package init(index: Int?, id: String? = nil, name: String? = nil, queue: String? = nil) {
      self.index = index
      self.id = id
      self.name = name
      self.queue = queue
    }
  }

  /// Threads whose stacks are equal.
  package struct Stack: Sendable {
    package var threads: [Thread]
    package var isCrashed = false
    package var frames: [Frame] = []
    /// Frames between `frames[leftOutAt]` and the one before it that are not shown.
    package var leftOut = 0
    package var leftOutAt = 0
    /// Why the walk ended; nil of a whole stack.
    package var end: String?

    package init(threads: [Thread]) { self.threads = threads }
  }

  package struct Frame: Sendable {
    package var number: Int
    /// "main", "server + 0x12b0" without symbols
    package var name: String
    /// " + 12", or nothing.
    package var offset = ""
    /// "/src/main.cpp:42"
    package var location: String?
    /// "server + 0x12b0", "inlined"; nothing where that is the name.
    package var module = ""
    /// The way in which the frame was found, if it is a guess.
    package var trust = ""
    /// Whether the code is the program's, and not the system's.
    package var isOwn = false
    /// The first frame of the program's executable.
    package var isMarked = false
    package var source: Source?

    package init(number: Int, name: String) {
      self.number = number
      self.name = name
    }
  }

  /// Lines of a source file around a frame.
  package struct Source: Sendable, Hashable {
    /// Number of the first line, from 1.
    package var first: Int
    package var lines: [String]
    /// The line of the frame.
    package var line: Int

    package init(first: Int, lines: [String], line: Int) {
      self.first = first
      self.lines = lines
      self.line = line
    }
  }

  package struct Instruction: Sendable {
    package var address: String
    /// "main + 12, server + 0x12b0"
    package var place: String?
    /// "0f 0b …", from the instruction on.
    package var bytes: String
    /// "the dump", "the program's file"
    package var origin: String
    package var note: String?
    /// The instructions around it; empty without a disassembler.
    package var lines: [Line] = []
    /// Why there are none.
    package var hint: String?

    package struct Line: Sendable {
      package var address: String
      package var bytes: String
      package var text: String
      /// Whether it is the instruction itself.
      package var isAt: Bool

      package init(address: String, bytes: String, text: String, isAt: Bool) {
        self.address = address
        self.bytes = bytes
        self.text = text
        self.isAt = isAt
      }
    }

    package init(address: String, place: String?, bytes: String, origin: String) {
      self.address = address
      self.place = place
      self.bytes = bytes
      self.origin = origin
    }
  }

  package struct Register: Sendable {
    package var name: String
    package var value: String
    /// "stack of thread 0, 24 bytes above sp"; nothing where it points nowhere.
    package var target: String
    /// The captured memory there, as bytes or as text.
    package var content: String

    package init(name: String, value: String, target: String, content: String) {
      self.name = name
      self.value = value
      self.target = target
      self.content = content
    }
  }

  package struct Entry: Sendable {
    package var module: String?
    /// Nil of a message.
    package var name: String?
    package var value: String

    package init(module: String?, name: String?, value: String) {
      self.module = module
      self.name = name
      self.value = value
    }
  }

  package struct Module: Sendable {
    package enum State: String, Sendable, CaseIterable {
      case found
      case refused
      case missing = "not found"
      case unused = "not needed"
    }

    package var name: String
    package var path: String
    package var start: String
    package var end: String
    package var version: String
    package var identity: String
    package var state: State
    /// "found: /store/App.sym (breakpad)"
    package var symbols: String
    package var isOwn: Bool

    package init(
      name: String, path: String, start: String, end: String, version: String, identity: String, state: State,
      symbols: String, isOwn: Bool
    ) {
      self.name = name
      self.path = path
      self.start = start
      self.end = end
      self.version = version
      self.identity = identity
      self.state = state
      self.symbols = symbols
      self.isOwn = isOwn
    }
  }

  package struct Memory: Sendable {
    /// By address.
    package var ranges: [Range] = []
    /// The number of ranges that are not listed.
    package var leftOut = 0
    package var totalBytes = 0
    package var dumps: [Listing] = []

    package init() {}

    package struct Range: Sendable {
      package var start: String
      package var end: String
      /// Bytes.
      package var count: Int
      package var what: String

      package init(start: String, end: String, count: Int, what: String) {
        self.start = start
        self.end = end
        self.count = count
        self.what = what
      }
    }
  }

  package struct Finding: Sendable {
    /// "error"
    package var severity: String
    /// "0x1f3"; nil without a place.
    package var offset: String?
    package var text: String
    package var code: String

    package init(severity: String, offset: String?, text: String, code: String) {
      self.severity = severity
      self.offset = offset
      self.text = text
      self.code = code
    }
  }

  /// Lines of text, the first of a longer one.
  package struct Listing: Sendable {
    package var title: String
    package var text: String
    /// The command that prints the rest; nil if this is all.
    package var rest: String?

    package init(title: String, text: String, rest: String? = nil) {
      self.title = title
      self.text = text
      self.rest = rest
    }
  }
}
