// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import Glibc

/// Calls `body` on this number of threads at once, and waits for all.
///
/// These are plain threads: libdispatch sets priorities, which a service's filter of system calls may forbid and which
/// undoes nice(1), and it waits forever if no thread can be started. If fewer threads can be started, fewer call
/// `body`; if none can, the calling thread does.
///
/// Otherwise the calling thread does not run `body`: when TLS writes to a closed connection, SIGPIPE is raised, which
/// ends a program that does not handle it. `body` runs with SIGPIPE blocked, and a pending one ends with the thread.
package func onThreads(_ count: Int, _ body: @Sendable () -> Void) {
  // The length of the path of this file is in the code of the check: builds in two folders would differ.
  #sourceLocation(file:"callback",line:1)
  withoutActuallyEscaping(body) { body in
    var threads: [pthread_t] = []
    for _ in 0..<max(1, count) {
      guard let thread = startThread(body) else { break }
      threads.append(thread)
    }
    if threads.isEmpty { withoutBrokenPipes(body) }
    for thread in threads { _ = pthread_join(thread, nil) }
  }
  #sourceLocation()
}

/// Work that runs on a thread of its own beside the caller's, with SIGPIPE blocked as on those of `onThreads`.
///
/// Not for several threads at once.
package final class BackgroundWork {
  /// Nil when the work has ended.
  private var thread: pthread_t?

  /// Starts the work; if no thread can be started, returns when it has ended.
  package init(_ body: @escaping @Sendable () -> Void) {
    thread = startThread(body)
    if thread == nil { withoutBrokenPipes(body) }
  }

  deinit { wait() }

  /// Returns when the work has ended.
  package func wait() {
    guard let running = thread else { return }
    _ = pthread_join(running, nil)
    thread = nil
  }
}

/// Enough for the deepest recursion of any parser, regardless of RLIMIT_STACK; memory is used only as the stack grows.
private let stackSize = 8 << 20

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Returns nil if no thread can be started.
private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
  // Several modules contain the header of this type, and the owner of its initializer depends on the build.
  let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
  defer { unsafe attributes.deallocate() }
  guard unsafe pthread_attr_init(attributes) == 0 else { return nil }
  defer { unsafe _ = pthread_attr_destroy(attributes) }
  unsafe _ = pthread_attr_setstacksize(attributes, stackSize)
  let box = unsafe Unmanaged.passRetained(ThreadBody(body))
  var thread = pthread_t()
  let failure = unsafe pthread_create(
    &thread, attributes,
    { box in
      var signals = brokenPipe()
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      if let box = unsafe box { unsafe Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().body() }
      return nil
    }, box.toOpaque())
  if failure == 0 { return thread }
  unsafe box.release()
  return nil
}

private func brokenPipe() -> sigset_t {
  var signals = sigset_t()
  unsafe sigemptyset(&signals)
  unsafe sigaddset(&signals, SIGPIPE)
  return signals
}

/// Calls `body` on this thread. A SIGPIPE that it raises is discarded.
private func withoutBrokenPipes(_ body: () -> Void) {
  var signals = brokenPipe()
  var before = sigset_t()
  unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
  body()
  if unsafe sigismember(&before, SIGPIPE) == 0 {
    var none = timespec()
    while unsafe sigtimedwait(&signals, nil, &none) == SIGPIPE {}
  }
  unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
}
