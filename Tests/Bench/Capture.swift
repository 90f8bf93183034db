// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// The costs of the handler within a process: when it starts, when the program crashes, and when it is asked for a dump. Beside
/// Breakpad's Linux client, whose build folder BREAKPAD_CLIENT names, and Swift's own backtracer, where they are installed.
extension Bench {
  func capture() throws {
    // No test waits for cores.
    var none = rlimit()
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    let library = URL(fileURLWithPath: workspace.tool).deletingLastPathComponent().resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "handler/libcrashpad_handler.so").path
    guard FileManager.default.isExecutableFile(atPath: library) else {
      return print("\nThe handler: left out, as there is no \(library)")
    }
    let handler = Handler(library: library, workspace: workspace)
    try handlerStart(handler)
    guard let programs = try CrashPrograms(workspace) else {
      return print("\nThe handler's crashes: left out, as there is no C++ compiler")
    }
    try underRun(library)
    try starts(programs, library)
    try handlerMemory(handler, programs)
    for threads in [8, 200] { try crashes(handler, programs, threads: threads) }
    try swiftCrashes(threads: 8)
    try pauses(threads: 8)
  }

  // MARK: Start

  private func handlerStart(_ handler: Handler) throws {
    let rounds = full(200, quick: 40)
    title("Start of a program with the handler preloaded; \(rounds) runs")
    let plain = Command("/bin/true", [])
    let results = try workspace.interleave(
      [
        Contender("/bin/true", plain),
        Contender("/bin/true, handler", handler.preloaded(plain)),
      ], rounds: rounds)
    let instructions = try Callgrind(workspace).map { callgrind in
      let handler = Handler(library: try callgrind.stripped(handler.library), workspace: workspace)
      return try [plain, handler.preloaded(plain)].map { try callgrind.instructions(of: $0) }
    }
    var table = Table("", "median ms", "min ms", "more ms", "more, min", "instructions, millions")
    for (index, result) in results.enumerated() {
      table.add(
        result.name, Text.milliseconds(result.wall.median), Text.milliseconds(result.wall.minimum),
        Text.fixed((result.wall.median - results[0].wall.median) * 1000, 2),
        Text.fixed((result.wall.minimum - results[0].wall.minimum) * 1000, 2),
        instructions.map { Text.millions($0[index]) } ?? "-")
    }
    table.show()
    print("  " + Text.goal("2 ms more", results[1].wall.median - results[0].wall.median <= 0.002))
  }

  private func run(_ command: Command, _ library: String) -> Command {
    var command = Command(
      workspace.tool,
      ["run", "--quiet", "--handler-library", library, "--database", workspace.file("run"), "--", command.path]
        + command.arguments)
    command.environment = ["HOME=\(workspace.path)"]
    return command
  }

  private func underRun(_ library: String) throws {
    let rounds = full(200, quick: 40)
    title("/bin/true, by itself and under run; \(rounds) runs")
    let plain = Command("/bin/true", [])
    let results = try workspace.interleave(
      [Contender("/bin/true", plain), Contender("crashpadctl run -- /bin/true", run(plain, library))], rounds: rounds)
    var table = Table("", "median ms", "min ms", "more ms", "more, min")
    for result in results {
      table.add(
        result.name, Text.milliseconds(result.wall.median), Text.milliseconds(result.wall.minimum),
        Text.fixed((result.wall.median - results[0].wall.median) * 1000, 2),
        Text.fixed((result.wall.minimum - results[0].wall.minimum) * 1000, 2))
    }
    table.show()
    let more = results[1].wall.paired(with: results[0].wall, -)
    print("  Beside the run without, median of the pairs: \(Text.milliseconds(more.median)) ms more")
    print("  " + Text.goal("4 ms more", more.median <= 0.004))
    try workspace.remove(workspace.file("run"))
  }

  /// The time that a program started under `run` takes longer, as each child and each thread has the handler too.
  private func starts(_ programs: CrashPrograms, _ library: String) throws {
    let rounds = full(31, quick: 7)
    title(
      """
      Starts of children, programs and threads in a program, and 1,000 changes of masks and jumps that restore one, by itself \
      and under run; microseconds, \(rounds) pairs
      """)
    var table = Table("", "median", "under run", "ratio of pairs", "10 %", "under run", "ratio of pairs")
    var goals: [String] = []
    let calls = [
      ("fork", 500, 1.10), ("posix_spawn", 300, 1.20), ("pthread_create", 3000, 1.08), ("sigprocmask", 200, 1.5),
      ("siglongjmp", 200, 1.5),
    ]
    for (what, count, limit) in calls {
      let plain = programs.command(programs.plain, what, threads: count)
      var figures = [[Samples(), Samples()], [Samples(), Samples()]]
      for round in 0...rounds {
        for (place, command) in [plain, run(plain, library)].enumerated() {
          let numbers = try workspace.read(command).split(separator: " ").compactMap { Double($0) }
          guard numbers.count == 2 else { throw BenchError(text: "no figures of \(what)") }
          guard round > 0 else { continue }
          for (index, number) in numbers.enumerated() { figures[place][index].values.append(number / 1000) }
        }
      }
      let (without, with) = (figures[0].map(\.median), figures[1].map(\.median))
      let ratios = zip(figures[1], figures[0]).map { $0.paired(with: $1, /).median }
      table.add(
        what, Text.fixed(without[0], 1), Text.fixed(with[0], 1), Text.ratio(ratios[0]), Text.fixed(without[1], 1),
        Text.fixed(with[1], 1), Text.ratio(ratios[1]))
      goals.append(Text.goal("\(what) at \(Text.ratio(limit))", ratios[0] <= limit))
    }
    table.show()
    for goal in goals { print("  " + goal) }
    try workspace.remove(workspace.file("run"))
  }

  private func handlerMemory(_ handler: Handler, _ programs: CrashPrograms) throws {
    title("Memory of a program of one thread, of which private to it; KiB, one run each")
    let plain = programs.command(programs.plain, "memory", threads: 1)
    let figures = try [plain, handler.preloaded(plain)].map { command in
      let text = try workspace.read(command)
      let numbers = text.split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 2 else { throw BenchError(text: "no memory figures: \(text)") }
      return numbers
    }
    var table = Table("", "resident", "private")
    for (name, numbers) in zip(["without", "handler"], figures) { table.add(name, "\(numbers[0])", "\(numbers[1])") }
    table.add("more", "\(figures[1][0] - figures[0][0])", "\(figures[1][1] - figures[0][1])")
    table.show()
    print("  " + Text.goal("1 MiB more, private", figures[1][1] - figures[0][1] <= 1024))
  }

  // MARK: Crashes

  private func crashes(_ handler: Handler, _ programs: CrashPrograms, threads: Int) throws {
    let rounds = full(25, quick: 5)
    title(
      "A crash of a program of \(threads) threads with 64 KiB of stack each, from there to its end; \(rounds) runs")
    let plain = programs.command(programs.plain, "crash", threads: threads)
    var contenders = [
      Contender("no handler", plain),
      Contender("handler", handler.preloaded(plain), output: handler.database),
    ]
    let folder = workspace.file("minidumps")
    if let breakpad = programs.breakpad {
      contenders.append(
        Contender(
          "Breakpad", programs.command(breakpad, "crash", threads: threads, folder: folder), output: folder,
          prepare: { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }))
    } else {
      print("  BREAKPAD_CLIENT names no folder of Breakpad's client")
    }
    let results = try interleaveCrashes(contenders, rounds: rounds)
    showCrashes(results)
    var durations = Samples()
    for _ in 0..<rounds {
      try workspace.run(handler.preloaded(plain))
      durations.values.append(try handler.duration())
      try workspace.remove(handler.database)
    }
    let limit = threads > 8 ? 0.1 : 0.01
    print(
      "  The capture says it took \(Text.milliseconds(durations.median)) ms, at least \(Text.milliseconds(durations.minimum))."
    )
    print("  " + Text.goal("\(Text.fixed(limit * 1000, 0)) ms", durations.median <= limit))
    if results.count > 2 { print("  " + goalBeside("Breakpad", results, peer: 2)) }
  }

  /// The same program has the handler linked in, or Swift's backtracer.
  private func swiftCrashes(threads: Int) throws {
    guard let backtracer = Self.backtracer else {
      return print("\nswift-backtrace is not beside the swift on the PATH")
    }
    let rounds = full(9, quick: 3)
    title("A crash of a Swift program of \(threads) threads with 64 KiB of stack each; \(rounds) runs")
    let database = workspace.file("swift-database")
    var none = Command(workspace.program, [CaptureChild.option, "crash", "\(threads)"])
    none.signal = SIGSEGV
    var own = none
    own.arguments.append(database)
    func traced(_ options: String) -> Command {
      var command = none
      let settings = "enable=yes,interactive=no,color=no,threads=all,timeout=none,\(options)"
      command.environment = ["SWIFT_BACKTRACE=\(settings)swift-backtrace=\(backtracer)"]
      return command
    }
    let results = try interleaveCrashes(
      [
        Contender("no handler", none), Contender("handler", own, output: database),
        Contender("swift-backtrace, no names", traced("symbolicate=off,")), Contender("swift-backtrace", traced("")),
      ], rounds: rounds)
    showCrashes(results)
    print("  " + goalBeside("swift-backtrace", results, peer: 3))
  }

  private static let backtracer: String? = {
    guard let swift = Command.find("swift") else { return nil }
    let folder = URL(fileURLWithPath: swift).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "libexec/swift/linux")
    return ["swift-backtrace-static", "swift-backtrace"].map { folder.appending(path: $0).path }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }()

  /// How long each takes from the crash to its end. The program says on standard output when it crashes, in nanoseconds of
  /// the monotonic clock.
  private func interleaveCrashes(_ contenders: [Contender], rounds: Int) throws -> [(name: String, time: Samples)] {
    var results = contenders.map { (name: $0.name, time: Samples()) }
    for round in 0...rounds {
      for (index, contender) in contenders.enumerated() {
        if let output = contender.output { try workspace.putAside(output) }
        try contender.prepare?()
        let text = try workspace.read(contender.command)
        let end = CaptureChild.now()
        guard let start = UInt64(text.prefix { $0.isNumber }), start < end else {
          throw BenchError(text: "\(contender.name) does not say when it crashes: \(text)")
        }
        if round > 0 { results[index].time.values.append(Double(end - start) / 1e9) }
      }
    }
    for contender in contenders {
      if let output = contender.output { try workspace.putAside(output) }
    }
    try workspace.remove(workspace.aside)
    return results
  }

  /// The first is without, the second ours.
  private func showCrashes(_ results: [(name: String, time: Samples)]) {
    var table = Table("", "median ms", "min ms", "more ms", "more, min", "to handler's", "min")
    for (index, result) in results.enumerated() {
      let (more, own) = (more(result.time, results[0].time), more(results[1].time, results[0].time))
      table.add(
        [result.name, Text.milliseconds(result.time.median), Text.milliseconds(result.time.minimum)]
          + (index == 0
            ? ["", "", "", ""]
            : [
              Text.milliseconds(more.median), Text.milliseconds(more.minimum), Text.ratio(more.median / own.median),
              Text.ratio(more.minimum / own.minimum),
            ]))
    }
    table.show()
  }

  private func more(_ time: Samples, _ base: Samples) -> (median: Double, minimum: Double) {
    (time.median - base.median, time.minimum - base.minimum)
  }

  private func goalBeside(_ name: String, _ results: [(name: String, time: Samples)], peer: Int) -> String {
    let base = results[0].time
    let (own, theirs) = (more(results[1].time, base), more(results[peer].time, base))
    return Text.goal("5 times as fast as \(name)", theirs.median >= 5 * own.median)
  }

  // MARK: Dumps without crash

  private func pauses(threads: Int) throws {
    let dumps = full(200, quick: 40)
    title(
      "\(dumps) dumps without crash of a program of \(threads) threads: what a thread that looks at the clock misses")
    let text = try workspace.read(
      Command(workspace.program, [CaptureChild.option, "pause", "\(threads)", workspace.file("pauses"), "\(dumps)"]))
    var table = Table("", "median ms", "min ms", "max ms")
    var gaps: [Substring: Samples] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let nanoseconds = Double(words[1]) else { continue }
      gaps[words[0], default: Samples()].values.append(nanoseconds / 1e9)
    }
    for (name, label) in [("idle", "no dump for 3 ms"), ("dump", "dump")] {
      let samples = gaps[Substring(name)] ?? Samples()
      table.add(
        label, Text.milliseconds(samples.median), Text.milliseconds(samples.minimum),
        Text.milliseconds(samples.values.max() ?? .nan))
    }
    table.show()
    print("  " + Text.goal("a pause of 5 ms", (gaps["dump"]?.median ?? .infinity) <= 0.005))
    try workspace.remove(workspace.file("pauses"))
  }
}
