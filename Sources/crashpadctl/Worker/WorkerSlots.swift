// SPDX-License-Identifier: Apache-2.0
import Glibc
import CrashpadJSON
import Synchronization

/// The current dump of each thread, for the handler of the signals that a fault raises: it writes the answer `crashed` for the dump, and
/// lets the process end.
///
/// The handler allocates nothing and takes no lock: the answer was made before the dump was looked at.
final class WorkerSlots: Sendable {
  private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS]

  private let count: Int

  init(count: Int) {
    self.count = count
    let made = UnsafeMutablePointer<WorkerSlot>.allocate(capacity: count)
    for index in 0..<count { unsafe (made + index).initialize(to: WorkerSlot()) }
    unsafe slots = made
    Self.endWriting()
    placeCount.store(count, ordering: .releasing)
    for number in Self.signals { Self.install(number) }
  }

  private static func install(_ number: Int32) {
    // MappingGuard handles SIGBUS of a file that was cut short, and calls this for every other one.
    if number == SIGBUS { return }
    var action = sigaction()
    unsafe sigemptyset(&action.sa_mask)
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_ONSTACK | SA_NODEFER
    unsafe action.__sigaction_handler.sa_handler = { number in
      WorkerSlots.reportCrash(number)
      // A fault would come again; what another process sent would not.
      raise(number)
    }
    unsafe _ = sigaction(number, &action, nil)
  }

  /// Makes the calling thread that of a place, with a stack for the handler: the thread's own may have overflowed.
  func take(_ number: Int) {
    let size = 64 << 10
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    var stack = unsafe stack_t(ss_sp: memory, ss_flags: 0, ss_size: size)
    unsafe sigaltstack(&stack, nil)
    unsafe slots[number].thread.store(UInt(pthread_self()), ordering: .releasing)
  }

  func begin(_ request: WorkerRequest, at number: Int) {
    // Two digits of the signal's number come in place of the zeros.
    let answer = WorkerAnswer(
      request.id, request.operation, .crashed, exit: .temporaryFailure, signal: WorkerSlots.placeholder)
    unsafe slots[number].set(answer.bytes)
  }

  func end(at number: Int) { unsafe slots[number].length.store(0, ordering: .releasing) }

  fileprivate static let placeholder = 99

  // MARK: Signals

  /// While another thread writes an answer, the handler waits.
  static func beginWriting() { isWriting.store(true, ordering: .sequentiallyConsistent) }
  static func endWriting() { isWriting.store(false, ordering: .sequentiallyConsistent) }

  /// Writes the answer for the calling thread's dump. For handlers of signals.
  static func reportCrash(_ signal: Int32) {
    let thread = UInt(pthread_self())
    for index in 0..<placeCount.load(ordering: .acquiring)
    where unsafe slots[index].thread.load(ordering: .acquiring) == thread {
      let length = unsafe slots[index].length.exchange(0, ordering: .acquiring)
      if length > 0 { unsafe slots[index].write(length, signal) }
    }
  }
}

/// Safe although it has memory of its own: only the thread of the place writes it, while no answer is there.
@safe
private struct WorkerSlot: ~Copyable {
  /// 0 before a thread took it.
  let thread = Atomic<UInt>(0)
  /// Bytes of the answer; 0 where no dump is looked at.
  let length = Atomic<Int>(0)
  private var memory: UnsafeMutableRawBufferPointer = unsafe .init(start: nil, count: 0)

  mutating func set(_ answer: [UInt8]) {
    if unsafe memory.count < answer.count {
      unsafe memory.deallocate()
      unsafe memory = .allocate(byteCount: answer.count * 2, alignment: 16)
    }
    unsafe memory.copyBytes(from: answer)
    length.store(answer.count, ordering: .releasing)
  }

  /// Ends with `99}` and a line feed, of which the digits become the signal's.
  func write(_ length: Int, _ signal: Int32) {
    let digits = length - 4
    unsafe memory[digits] = UInt8(truncatingIfNeeded: signal < 10 ? 0x20 : 0x30 + signal / 10)
    unsafe memory[digits + 1] = UInt8(truncatingIfNeeded: 0x30 + signal % 10)
    var pause = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    var rest = 2000
    while isWriting.load(ordering: .sequentiallyConsistent), rest > 0 {
      unsafe nanosleep(&pause, nil)
      rest -= 1
    }
    guard rest > 0 else { return }
    var written = 0
    while written < length {
      let count = unsafe Glibc.write(1, memory.baseAddress! + written, length - written)
      if count <= 0 { return }
      written += count
    }
  }
}

/// Never deallocated: a signal may come at any time.
private nonisolated(unsafe) var slots: UnsafeMutablePointer<WorkerSlot> = .allocate(capacity: 1)
private let placeCount = Atomic(0)
private let isWriting = Atomic(false)
