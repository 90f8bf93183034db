// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// Copies of this process that answer its requests. A request that takes too much time or memory, or ends its process by a
/// signal, has no answer, and the next one gets a new process.
///
/// Sendable although it has a variable: it is used with `monitor` locked.
package final class HelperProcesses: @unchecked Sendable {
  private let monitor = Monitor()
  private var free: [FileDescriptor] = []
  private var count = 0

  /// For a process without other threads. Throws `Errno`.
  ///
  /// - Parameter answer: what each copy does with a request.
  package init(count: Int, _ limits: HelperLimits, answer: ([UInt8]) -> [UInt8]) throws(Errno) {
    for _ in 0..<count {
      var ends: [Int32] = [-1, -1]
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
      let child = linux_fork()
      if child < 0 { throw Errno(rawValue: errno) }
      if child == 0 {
        // The end of requests is there for a process only if no other has this side.
        for other in free + [FileDescriptor(rawValue: ends[0])] { try? other.close() }
        HelperKeeper(FileDescriptor(rawValue: ends[1]), limits).run(answer)
      }
      close(ends[1])
      free.append(FileDescriptor(rawValue: ends[0]))
    }
    self.count = count
  }

  /// Waits for a process that is free, and for its answer.
  package func ask(_ request: [UInt8]) -> HelperAnswer {
    let helper = monitor.locked {
      monitor.wait { !free.isEmpty || count == 0 }
      return free.popLast()
    }
    guard let helper else { return .lost }
    let answer = HelperMessage.exchange(request, with: helper)
    monitor.locked {
      if case .lost = answer { count -= 1 } else { free.append(helper) }
      monitor.signal()
    }
    return answer
  }
}
