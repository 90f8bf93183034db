// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Testing

@Suite("Parts of reports")
struct CutReportTests {
  // MARK: The start

  private static let head = """
    Process:             Orrery [391]
    Identifier:          com.example.orrery
    OS Version:          iPhone OS 16.1.2 (20B110)

    Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
    Exception Codes: 0x0000000000000001, 0x0000000000000010
    Termination Reason: SIGNAL 11 Segmentation fault: 11
    Triggered by Thread:  1

    """

  private static let stacks = """
    Last Exception Backtrace:
    0   CoreFoundation                	0x1a0000010 __exceptionPreprocess + 16
    1   libobjc.A.dylib               	0x1a0000020 objc_exception_throw + 32
    2   Orrery                        	0x100000030 -[Wheel turn] + 48

    Thread 0:
    0   libsystem_kernel.dylib        	0x1a0000110 mach_msg_trap + 8
    1   CoreFoundation                	0x1a0000120 __CFRunLoopRun + 16
    2   Orrery                        	0x100000040 main + 16

    Thread 1 Crashed:
    0   libobjc.A.dylib               	0x1a0000210 objc_release + 16
    1   Orrery                        	0x100000230 -[Wheel dealloc] + 48
    2   libsystem_pthread.dylib       	0x1a0000240 thread_start + 8

    """

  @Test("A report without its first letters is the report", arguments: 1...5)
  func firstLetters(_ count: Int) {
    let first = Self.head.split(separator: "\n", omittingEmptySubsequences: false)
    for start in [0, 4] where start == 4 || count <= 3 {
      let text = first[start...].joined(separator: "\n") + "\n" + Self.stacks
      let (whole, cut) = (Reading(unwrapping: text), Reading(unwrapping: "It says:\n\n" + text.dropFirst(count)))
      #expect(cut.snapshot?.exception?.codes == whole.snapshot?.exception?.codes && whole.snapshot?.exception != nil)
      #expect(
        cut.report?.termination == whole.report?.termination && cut.report?.processName == whole.report?.processName)
      #expect(cut.snapshot?.threads.map(\.frames) == whole.snapshot?.threads.map(\.frames))
    }
  }

  @Test("Frames above the first title are of the stack that stands there, and no others")
  func frames() {
    let lines = Self.stacks.split(separator: "\n", omittingEmptySubsequences: false)
    let whole = Reading(Self.head + "\n" + Self.stacks)
    let names: [[RecordedFrame]] = [whole.report?.lastException ?? [], whole.frames(0), whole.frames(1)]
    for start in lines.indices where lines[start].first?.isNumber == true {
      let cut = Reading(unwrapping: "```\n" + lines[start...].joined(separator: "\n"))
      let isInLast = start < 4
      let isInMain = !isInLast && start < 9
      guard isInLast || isInMain else { continue }
      #expect(cut.report?.lastException.map(\.function) == (isInLast ? names[0].suffix(4 - start).map(\.function) : []))
      #expect(
        cut.frames(0).map(\.function) == (isInLast ? names[1][...] : names[1].suffix(9 - start)).map(\.function))
      #expect(cut.frames(1).map(\.function) == names[2].map(\.function))
      #expect(cut.report?.faultingThread == 1)
      #expect(cut.codes.contains("report-wrapping-damaged"))
    }
  }

  @Test("An intended address whose digits were cut is none", arguments: 1...16)
  func intendedAddress(_ digits: Int) {
    let address = "0000000a523fae3e"
    let reading = Reading(
      Self.head.replacing(
        "Exception Codes",
        with: "Exception Subtype: KERN_INVALID_ADDRESS at 0x2000000a523fae3e -> 0x"
          + address.prefix(digits) + "\nException Codes"))
    #expect(reading.report?.intendedAddress == (digits == 16 ? 0xa_523f_ae3e : nil))
  }

  // MARK: The end

  @Test("Words behind a report are not the line at which it was cut")
  func words() {
    let text = Self.head + "\n" + Self.stacks
    #expect(!Reading(text + "\nNote that the last call is in my own class").codes.contains("report-cut"))
    for end in ["3   Orr", "3   Orrery                        \t0x1000", "Thread 2", "Thread 2 name:  wor"] {
      #expect(Reading(text + end).codes.contains("report-cut"))
    }
  }

  @Test("A list of crashes is of crashes, wherever MetricKit's payload is cut")
  func metricKit() {
    let text = #"""
      {"timeStampEnd":"2022-10-24 08:16:00","crashDiagnostics":[{"version":"1.0.0","callStackTree":{"callStacks":[
      {"threadAttributed":true,"callStackRootFrames":[{"binaryUUID":"BF11D1BA-4690-38C9-9E08-946A3768A67B",
      "offsetIntoBinaryTextSegment":356604,"sampleCount":1}]}],"callStackPerThread":true}}]}
      """#
    let start = text.firstRange(of: #"[{"version""#)?.upperBound ?? text.endIndex
    for index in text[start...].indices.dropFirst() {
      #expect(Reading(String(text[..<index])).snapshot?.outcome == .crashed, "\(text[..<index])")
    }
    let hang = text.replacing("crashDiagnostics", with: "hangDiagnostics")
    #expect(Reading(hang).snapshot?.outcome == .wentOn)
  }

  static let jetsam = #"""
    {
      "crashReporterKey" : "ac04f558dd8014809888626463b0dfcda0a8cf8b",
      "kernel" : "Darwin Kernel Version 17.4.0",
      "product" : "AppleTV5,3",
      "date" : "2018-03-12 08:31:41.29 -0300",
      "build" : "Apple TVOS 11.2.6 (15K600)",
      "memoryStatus" : {
      "pageSize" : 16384,
      "memoryPages" : {
        "active" : 23021,
        "free" : 100
      }
    },
      "largestProcess" : "Orrery",
      "processes" : [
      {
        "rpages" : 770,
        "name" : "Orrery",
        "pid" : 141,
        "reason" : "vnode-limit"
      }
      ]
    }

    """#

  @Test("The body of a JetsamEvent is read without its header, wherever a message cuts it")
  func jetsam() {
    let lines = Self.jetsam.split(separator: "\n")
    for count in 8...lines.count {
      let body = lines.prefix(count).joined(separator: "\n")
      for text in [body, "Here it is:\n`" + body + "\n`\n\nThe movie was not done yet.\n", "\"name\":\"x\"}\n" + body] {
        let reading = Reading(unwrapping: text)
        #expect(reading.report?.kind == .jetsam && reading.snapshot?.system.platform?.name == .tvOS, "\(text)")
      }
    }
  }

  @Test(
    "Parts of a report's JSON are refused by their names",
    arguments: [
      (#"Queue","frames":[{"imageOffset":3928892,"symbol":"main","imageIndex":4},{"imageOffset""#, ".ips"),
      (#""sampleCount" : 1, "subFrames" : [ { "binaryUUID" : "A", "offsetIntoBinaryTextSegment" : 4 "#, "MetricKit"),
      (#""rpages" : 365, "states" : [ "daemon" ], "lifetimeMax" : 1375 }, {"#, "JetsamEvent"),
      (#"{"exceptions":[],"binary_images":[{"start_addr":"1084c4000","end_addr":"1084d1fff"}]}"#, "crash service"),
    ])
  func names(_ text: String, _ name: String) {
    let reading = Reading(unwrapping: text)
    #expect(reading.form == nil && OtherTexts.name(Array(text.utf8))?.contains(name) == true)
  }

  @Test("The start of an .ips report's body has its name, where it is not read")
  func bodyName() {
    let text = #"App","is_first_party":1}{ "captureTime" : "2024-01-02", "pid" : 4, "procExitAbsTime" : 12"#
    #expect(OtherTexts.name(Array(text.utf8))?.contains(".ips") == true)
  }

  // MARK: Several

  @Test("Reports below one head are several")
  func several() {
    func exception(_ reason: String) -> String {
      """
      Exception Type:  EXC_CRASH (SIGABRT)
      Exception Codes: 0x0000000000000000, 0x0000000000000000
      Triggered by Thread:  0

      Application Specific Information:
      *** Terminating app due to uncaught exception 'NSRangeException', reason: '\(reason)'

      Last Exception Backtrace:
      0   CoreFoundation                	0x1a0000010 __exceptionPreprocess + 16
      1   Orrery                        	0x100000030 -[Wheel turn] + 48


      """
    }
    for head in ["", "Process:             Orrery [391]\nIdentifier:          com.example.orrery\n\n"] {
      for count in 1...4 {
        let text = head + (0..<count).map { exception("index \($0)") + "## Next\n\n" }.joined()
        let result = unsafe Unwrapper.unwrap(Array(text.utf8).span.bytes)
        guard count > 1 else {
          if case .several = result { Issue.record("one report is not several") }
          continue
        }
        guard case .several(let parts) = result, parts.count == count else {
          Issue.record("\(count) reports are not \(count)")
          continue
        }
        for (index, part) in parts.enumerated() {
          let messages = Reading(part.bytes).report?.messages.map(\.text) ?? []
          #expect(messages.count == 1 && messages[0].contains("index \(index)'"))
        }
      }
    }
  }

  // MARK: Images

  @Test("A frame is in the image that it names, whatever image is at its address in the list")
  func image() {
    let text =
      Self.head + """

        Thread 1 Crashed:
        0   libobjc.A.dylib               	0x1a0000210 objc_release + 16
        1   Orrery                        	0x1a0000230 -[Wheel dealloc] + 48
        2   libstrange.dylib              	0x1a0000240 thread_start + 8

        Binary Images:
        0x100000000 - 0x10000ffff Orrery arm64  <abcdef1234567890abcdef1234567890> /Applications/Orrery.app/Orrery
        0x1a0000000 - 0x1a000ffff libobjc.A.dylib arm64  <bbcdef1234567890abcdef1234567890> /usr/lib/libobjc.A.dylib

        """
    let reading = Reading(text)
    #expect(reading.frames(0).map { reading.image($0) } == ["libobjc.A.dylib", "Orrery", "libobjc.A.dylib"])
    // No offset follows from an address outside of the image.
    #expect(reading.frames(0).map(\.moduleOffset) == [0x210, nil, 0x240])
  }

  @Test("The console's line above a report is its message, once")
  func console() {
    let line = "*** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3'"
    let information = "Application Specific Information:\n\(line)\n\n"
    for between in ["\n", "\nSeen on one device. No steps are known.\n\n", "\n" + information] {
      let reading = Reading(unwrapping: "2019-01-02 03:04:05 Orrery[1:2] " + line + "\n" + between + Self.stacks)
      #expect(reading.report?.messages.map(\.text) == [line])
      #expect(reading.report?.lastException.count == 3)
    }
  }
}

@Suite("Stacks of crash services in other layouts")
struct ServiceLayoutTests {
  private static let frames: [(image: String, place: String?, function: String)] = [
    ("libswift_Concurrency.dylib", nil, "swift::AsyncTask::~AsyncTask() + 404"),
    ("libswiftCore.dylib", nil, "_swift_release_dealloc + 56"),
    ("Orrery", "Wheel.swift - Line 7", "Wheel.turn.setter + 7"), ("UIKitCore", nil, "-[UIView layout] + 12"),
    ("Orrery", "main.swift - Line 1", "main + 1"),
  ]

  @Test("The parts of each frame on lines of their own are the frame", arguments: 3...frames.count)
  func vertical(_ count: Int) {
    let frames = Self.frames.prefix(count)
    let lines = frames.enumerated().flatMap { index, frame in
      [String(index), frame.image] + (frame.place.map { [$0] } ?? []) + [frame.function]
    }
    let text =
      "It crashed:\n```\nCrashed: com.example.queue\nEXC_BREAKPOINT 0x000000019dabe744\n"
      + lines.joined(separator: "\n") + "\n```\n\nWe believe it is a race.\n"
    let reading = Reading(unwrapping: text)
    let read = reading.frames(reading.report?.faultingThread)
    #expect(read.map { reading.image($0) } == frames.map(\.image))
    #expect(
      read.map(\.function)
        == frames.map {
          String($0.function.prefix($0.function.count - ($0.function.split(separator: " ").last?.count ?? 0) - 3))
        })
    #expect(read.map(\.line) == frames.map { $0.place.flatMap { UInt32($0.split(separator: " ").last ?? "") } })
  }

  @Test("Lists of numbers and words are no stacks")
  func lists() {
    let text = "Crashed: worker\n0  Orrery  0x1000 main + 4\n\n1\nfirst\nsecond\n\n0\none\ntwo\n"
    #expect(Reading(unwrapping: text).frames(0).map(\.function) == ["main"])
  }

  @Test("The wide colon of translated pages is a colon")
  func wideColon() {
    let text =
      "Crashed\u{ff1a}io.example.1.ui\nEXC_BAD_ACCESS KERN_INVALID_ADDRESS 0x10\n\nCrashed\u{ff1a}io.example.1.ui\n"
      + "0  Orrery                         0x46020 turn() + 12 (Wheel.cc:12)\n"
    let (wide, plain) = (Reading(text), Reading(text.replacing("\u{ff1a}", with: ": ")))
    #expect(wide.snapshot?.exception?.codes == plain.snapshot?.exception?.codes && wide.snapshot?.exception != nil)
    #expect(wide.frames(wide.report?.faultingThread) == plain.frames(plain.report?.faultingThread))
    #expect(wide.frames(wide.report?.faultingThread).count == 1)
  }

  @Test("A container's time before each line is none of the text")
  func timeStamps() {
    let lines = [
      "Received signal 11. Backtrace:", "0x55ba0c45b4f1, App.turn() -> () at /build/Wheel.swift:66", "0x7fb0bf00941f",
    ]
    let text = lines.enumerated().map { "2023-09-06T13:36:5\($0).114865247Z \($1)" }.joined(separator: "\n")
    let (stamped, plain) = (Reading(text), Reading(lines.joined(separator: "\n")))
    #expect(stamped.form == .crash && stamped.snapshot?.exception?.code == plain.snapshot?.exception?.code)
    #expect(stamped.frames(0) == plain.frames(0) && plain.frames(0).count == 2)
  }

  @Test(
    "The words of a debugger or an allocator alone are a report",
    arguments: [
      ("EXC_RESOURCE RESOURCE_TYPE_MEMORY (limit=650 MB, unused=0x0)", ProcessSnapshot.Outcome.notSaid),
      ("EXC_BAD_ACCESS (code=1, address=0x10)", .crashed),
      (
        "Orrery(70515,0x7440e00) malloc: *** error for object 0x5006ad0: pointer being freed was not allocated",
        .crashed
      ),
    ])
  func words(_ line: String, _ outcome: ProcessSnapshot.Outcome) {
    let reading = Reading("Hi,\n\nthis came:\n\n\(line)\n")
    #expect(reading.form == .crash && reading.snapshot?.outcome == outcome)
  }
}
