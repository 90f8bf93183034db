// SPDX-License-Identifier: Apache-2.0
import CrashKinds
import Dispatch
import Synchronization

struct Crash: Sendable {
  let kind: Kind
  let signal: Int32

  /// The frame that every stack has below that of the crash.
  @inline(never)
  func happen() {
    unsafe kind.rawValue.withCString { unsafe tell_ids($0) }
    kind.run(signal: signal)
  }

  func happenOnOtherThread() {
    let crash = self
    Self.waiting.withLock { $0 = crash }
    run_on_other_thread { Crash.waiting.withLock { $0 }?.happen() }
  }

  private static let waiting = Mutex<Crash?>(nil)

  func happenOnQueue() {
    let end = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      happen()
      end.signal()
    }
    end.wait()
  }
}
