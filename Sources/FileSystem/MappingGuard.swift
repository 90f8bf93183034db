internal import Glibc
internal import Synchronization

/// Keeps a program alive that reads a mapped file which another program cuts short, or whose disk has a bad sector: the kernel
/// raises SIGBUS for the page. The handler puts zeros in its place and marks the mapping as failed; who reads the file asks for
/// that when done (`InputFile.checkReading`), so one bad input is one failure.
package enum MappingGuard {
  /// Handles SIGBUS from now on. One that is of no input calls `otherwise`, which has to end the process and may only call what
  /// is safe in a signal handler. Files are mapped only after this was called.
  package static func install(otherwise: @convention(c) () -> Void) {
    _ = unsafe slots
    _ = pageSize
    unsafe fallback = otherwise
    var action = sigaction()
    unsafe sigemptyset(&action.sa_mask)
    action.sa_flags = SA_SIGINFO
    unsafe action.__sigaction_handler.sa_sigaction = { _, information, _ in
      let saved = errno
      let address = unsafe UInt(bitPattern: information?.pointee._sifields._sigfault.si_addr)
      if !MappingGuard.mend(address) { unsafe fallback?() }
      errno = saved
    }
    guard unsafe sigaction(SIGBUS, &action, nil) == 0 else { return }
    isInstalled.store(true, ordering: .releasing)
  }

  static var isActive: Bool { isInstalled.load(ordering: .acquiring) }

  /// A mapping that is looked after. Nil if there are too many.
  static func register(_ base: UnsafeRawPointer, count: Int) -> Int? {
    let start = UInt(bitPattern: base)
    for index in 0..<slotCount {
      guard
        unsafe (slots + index).pointee.start.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
      else {
        continue
      }
      unsafe slots[index].end.store(start + UInt(count), ordering: .relaxed)
      unsafe slots[index].hasFailed.store(false, ordering: .relaxed)
      unsafe slots[index].start.store(start, ordering: .releasing)
      return index
    }
    return nil
  }

  static func hasFailed(_ slot: Int) -> Bool { unsafe slots[slot].hasFailed.load(ordering: .acquiring) }

  static func unregister(_ slot: Int) { unsafe slots[slot].start.store(0, ordering: .releasing) }

  /// Called in the signal's handler: nothing here allocates or waits.
  private static func mend(_ address: UInt) -> Bool {
    for index in 0..<slotCount {
      let start = unsafe slots[index].start.load(ordering: .acquiring)
      let end = unsafe slots[index].end.load(ordering: .relaxed)
      guard start > 1, address >= start, address < end else { continue }
      let page = address & ~(pageSize - 1)
      // What is read of it does not count any more, so the rest needs no page of the file either.
      let zeros = unsafe mmap(
        UnsafeMutableRawPointer(bitPattern: page), Int(end - page), PROT_READ,
        MAP_PRIVATE | Int32(MAP_ANONYMOUS) | MAP_FIXED, -1, 0)
      guard unsafe zeros != MAP_FAILED else { return false }
      unsafe slots[index].hasFailed.store(true, ordering: .releasing)
      return true
    }
    return false
  }
}

/// `start` is 0 where the slot is free, and 1 while it is being taken.
private struct MappingSlot: ~Copyable {
  let start = Atomic<UInt>(0)
  let end = Atomic<UInt>(0)
  let hasFailed = Atomic<Bool>(false)
}

private let slotCount = 1024

/// Never deallocated: a signal may come at any time.
private nonisolated(unsafe) let slots: UnsafeMutablePointer<MappingSlot> = {
  let slots = UnsafeMutablePointer<MappingSlot>.allocate(capacity: slotCount)
  for index in 0..<slotCount { unsafe (slots + index).initialize(to: MappingSlot()) }
  return unsafe slots
}()
private let pageSize = UInt(sysconf(Int32(_SC_PAGESIZE)))
private let isInstalled = Atomic<Bool>(false)
/// Written once, before the handler is installed.
private nonisolated(unsafe) var fallback: (@convention(c) () -> Void)?
