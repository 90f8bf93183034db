internal import CLinux
internal import Glibc

/// Calls `body` on so many threads at once, and waits for all.
///
/// These are plain threads: libdispatch sets priorities, which a service's filter of system calls may forbid and which undoes
/// nice(1), and it waits for ever where no thread can be had. With fewer threads than asked for, fewer call `body`; with none,
/// the caller's thread does.
///
/// The caller's thread is not one of them otherwise: a connection that is closed raises SIGPIPE where TLS writes to it, which
/// would end a program that does not handle it. `body` runs with it blocked, and what is pending ends with the thread.
package func onThreads(_ count: Int, _ body: @Sendable () -> Void) {
  withoutActuallyEscaping(body) { body in
    var threads: [pthread_t] = []
    for _ in 0..<max(1, count) {
      guard let thread = startThread(body) else { break }
      threads.append(thread)
    }
    if threads.isEmpty { withoutBrokenPipes(body) }
    for thread in threads { _ = pthread_join(thread, nil) }
  }
}

/// Enough for the deepest recursion of any parser, whatever RLIMIT_STACK says; memory is used as far as the stack grows.
private let stackSize = 8 << 20

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Nil if there is no thread to be had.
private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
  // Several modules have the header of this type, and which of them its initializer belongs to depends on the build.
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
