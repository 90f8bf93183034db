// SPDX-License-Identifier: Apache-2.0
import CCrashCapture
import Glibc
import Synchronization

/// This program as one that crashes, or that dumps are taken of: `--capture crash THREADS [DATABASE]` and
/// `--capture pause THREADS DATABASE DUMPS`.
enum CaptureChild {
  static let option = "--capture"

  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count >= 3, let threads = Int(arguments[2]) else { return 64 }
    if arguments.count > 3, !install(arguments[3]) { return 96 }
    switch (arguments[1], arguments.count) {
    case ("crash", 3...4):
      start(.stays, threads - 1)
      use(stack: 64) { crash() }
      return 0
    case ("pause", 5):
      guard let dumps = Int(arguments[4]) else { return 64 }
      start(.stays, threads - 2)
      start(.watchesClock, 1)
      return pause(dumps)
    default: return 64
    }
  }

  private static func install(_ database: String) -> Bool {
    var message = [CChar](repeating: 0, count: 512)
    return unsafe database.withCString { database in
      unsafe "bench".withCString { name in
        var options = unsafe crash_capture_options(
          database: database, program_id: name, run_id: nil, environment: nil, time_zone: nil, crashed_stack_limit: 0,
          stack_limit: 0,
          stop_timeout: 0, reserve: 0, flags: 0)
        return unsafe crash_capture_install(&options, &message, message.count) == 0
      }
    }
  }

  // MARK: Threads

  private static let started = Atomic(0)

  private enum Kind { case stays, watchesClock }

  /// Returns when all run.
  private static func start(_ kind: Kind, _ count: Int) {
    let wanted = started.load(ordering: .relaxed) + count
    for _ in 0..<count {
      var thread = pthread_t()
      switch kind {
      case .stays:
        unsafe pthread_create(
          &thread, nil,
          { _ in
            CaptureChild.use(stack: 64) { CaptureChild.standStill() }
            return nil
          }, nil)
      case .watchesClock:
        unsafe pthread_create(
          &thread, nil,
          { _ in
            CaptureChild.watchClock()
            return nil
          }, nil)
      }
    }
    while started.load(ordering: .acquiring) < wanted { usleep(100) }
  }

  private static func standStill() -> Never {
    started.add(1, ordering: .releasing)
    while true { Glibc.pause() }
  }

  private static func crash() {
    print(now())
    fflush(nil)
    unsafe UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
  }

  /// Uses about so many KiB of stack before it calls.
  @inline(never)
  private static func use(stack kibibytes: Int, _ body: () -> Void) {
    var bytes = InlineArray<960, UInt8>(repeating: UInt8(truncatingIfNeeded: kibibytes))
    change(&bytes)
    if kibibytes > 0 { use(stack: kibibytes - 1, body) } else { body() }
    // Nothing that a tail call could leave behind.
    change(&bytes)
  }

  @inline(never)
  @_optimize(none)
  private static func change(_ bytes: inout InlineArray<960, UInt8>) { bytes[0] &+= 1 }

  // MARK: Pauses

  private static let ends = Atomic(false)
  /// The longest time between two looks at the clock, in nanoseconds.
  private static let largestGap = Atomic<UInt64>(0)

  /// Nanoseconds of the monotonic clock.
  static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static func watchClock() {
    started.add(1, ordering: .releasing)
    var last = now()
    while !ends.load(ordering: .relaxed) {
      let time = now()
      if time - last > largestGap.load(ordering: .relaxed) { largestGap.store(time - last, ordering: .relaxed) }
      last = time
    }
  }

  private static func pause(_ dumps: Int) -> Int32 {
    for _ in 0..<dumps {
      _ = largestGap.exchange(0, ordering: .relaxed)
      usleep(3000)
      let idle = largestGap.exchange(0, ordering: .relaxed)
      var path = [CChar](repeating: 0, count: 4096)
      let failure = unsafe crash_capture_dump(nil, &path, path.count)
      // The watch sees the end of its pause.
      usleep(1000)
      print("idle \(idle)\ndump \(largestGap.load(ordering: .relaxed))")
      unsafe unlink(path)
      if failure != 0 { return 95 }
    }
    ends.store(true, ordering: .relaxed)
    return 0
  }
}
