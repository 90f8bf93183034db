// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A lock with a condition, which Swift's own `Mutex` does not have.
///
/// Sendable and safe: the two objects of the C library are used by its functions alone, and live as long as this one.
@safe
package final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe pthread_cond_destroy(condition)
    unsafe mutex.deallocate()
    unsafe condition.deallocate()
  }

  package func locked<Result>(_ body: () -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe _ = pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Waits until `isTrue`, which is asked after each `signal()`. To be called within `locked`; other threads can take
  /// the lock meanwhile.
  package func wait(until isTrue: () -> Bool) {
    while !isTrue() { unsafe _ = pthread_cond_wait(condition, mutex) }
  }

  /// Wakes the threads that wait.
  package func signal() { unsafe _ = pthread_cond_broadcast(condition) }
}
