// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// Protects a program from a mapped file that another program truncates, or whose disk has a bad sector: the kernel
/// raises SIGBUS for the page. The handler replaces the page by zeros and marks the mapping as failed; readers of the
/// file check for that at the end (`InputFile.checkReading`), so a bad input fails alone.
package enum MappingGuard {
  /// Handles SIGBUS from now on. One outside of all inputs calls `otherwise`, which has to end the process and may only
  /// call functions that are safe in a signal handler. Files are mapped only after this was called.
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
      if !MappingGuard.mapZeros(at: address) { unsafe fallback?() }
      errno = saved
    }
    guard unsafe sigaction(SIGBUS, &action, nil) == 0 else { return }
    isInstalled.store(true, ordering: .releasing)
  }

  static var isActive: Bool { isInstalled.load(ordering: .acquiring) }

  /// Registers a mapping. Nil if there are too many.
  static func register(_ base: UnsafeRawPointer, count: Int) -> Int? {
    let start = UInt(bitPattern: base)
    let first = nextSlot.load(ordering: .relaxed)
    for number in 0..<slotCount {
      let index = (first + number) % slotCount
      guard
        unsafe (slots + index).pointee.start.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
      else {
        continue
      }
      unsafe slots[index].end.store(start + UInt(count), ordering: .relaxed)
      unsafe slots[index].hasFailed.store(false, ordering: .relaxed)
      unsafe slots[index].start.store(start, ordering: .releasing)
      nextSlot.store((index + 1) % slotCount, ordering: .relaxed)
      return index
    }
    return nil
  }

  static func hasFailed(_ slot: Int) -> Bool { unsafe slots[slot].hasFailed.load(ordering: .acquiring) }

  static func unregister(_ slot: Int) { unsafe slots[slot].start.store(0, ordering: .releasing) }

  /// Called in the signal handler: nothing here allocates or waits.
  private static func mapZeros(at address: UInt) -> Bool {
    for index in 0..<slotCount {
      let start = unsafe slots[index].start.load(ordering: .acquiring)
      let end = unsafe slots[index].end.load(ordering: .relaxed)
      guard start > 1, address >= start, address < end else { continue }
      let page = address & ~(pageSize - 1)
      // The mapping has failed anyway, so the rest of it needs no page of the file either.
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

/// `start` is 0 if the slot is free, and 1 while it is being taken.
private struct MappingSlot: ~Copyable {
  let start = Atomic<UInt>(0)
  let end = Atomic<UInt>(0)
  let hasFailed = Atomic<Bool>(false)
}

/// More files with symbols than programs have modules.
private let slotCount = 1 << 14
/// Free slots begin here, as a rule.
private let nextSlot = Atomic(0)

/// Never deallocated: a signal may come at any time.
private nonisolated(unsafe) let slots: UnsafeMutablePointer<MappingSlot> = {
  // Memory from calloc is zeros, as new slots are; pages of it that are never used cost nothing.
  guard let memory = unsafe calloc(slotCount, MemoryLayout<MappingSlot>.stride) else { fatalError("no memory") }
  return unsafe memory.bindMemory(to: MappingSlot.self, capacity: slotCount)
}()
private let pageSize = UInt(sysconf(Int32(_SC_PAGESIZE)))
private let isInstalled = Atomic<Bool>(false)
/// Written once, before the handler is installed.
private nonisolated(unsafe) var fallback: (@convention(c) () -> Void)?
