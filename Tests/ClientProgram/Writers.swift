// SPDX-License-Identifier: Apache-2.0
import CrashpadClient
import Glibc
import Synchronization

/// Threads that set annotations all the time: each its own object, one that all have, and a text by its name.
enum Writers {
  static let length = 200
  private static let shared = StringAnnotation("shared", maximumLength: length)
  private static let isRunning = Atomic<Bool>(false)
  private static let running = Atomic<Int>(0)

  private final class Writer: Sendable {
    let number: Int
    let own: StringAnnotation
    init(_ number: Int) {
      self.number = number
      own = StringAnnotation("own-\(number)", maximumLength: length)
    }

    /// One letter many times: a mixture of two values would show.
    func write() {
      var round = 0
      while isRunning.load(ordering: .relaxed) {
        round += 1
        let letter = String(UnicodeScalar(UInt8(97 + (round + number) % 26)))
        let text = String(repeating: letter, count: length - round % 100)
        own.set(text)
        shared.set(text)
        if round % 8 == 0 { CrashpadClient.setAnnotation("text-\(number % 4)", to: text) }
      }
      own.set("last of \(number)")
      running.subtract(1, ordering: .releasing)
    }
  }

  static func start(_ count: Int) {
    isRunning.store(true, ordering: .releasing)
    running.store(count, ordering: .releasing)
    for number in 0..<count {
      var thread = pthread_t()
      let writer = unsafe Unmanaged.passRetained(Writer(number)).toOpaque()
      unsafe _ = pthread_create(
        &thread, nil,
        { writer in
          if let writer = unsafe writer { unsafe Unmanaged<Writer>.fromOpaque(writer).takeRetainedValue().write() }
          return nil
        }, writer)
      pthread_detach(thread)
    }
  }

  static func stop() {
    isRunning.store(false, ordering: .releasing)
    while running.load(ordering: .acquiring) > 0 { usleep(1000) }
  }
}
