// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Divides memory into the threads' stacks and the rest.
extension CoreReader {
  /// A leaf function may use 128 bytes below the stack pointer (the x86-64 ABI's red zone).
  private static let redZone: UInt64 = 128
  /// The stack pointer of a stack that overflowed is below the stack, in its inaccessible guard pages.
  private static let maximumGap: UInt64 = 1 << 20

  private struct StackStart {
    let segment: Int
    let address: UInt64
    let thread: Int
  }

  /// Assigns each thread its stack, from just below the stack pointer upwards, and adds the rest to the snapshot's
  /// memory.
  mutating func divideMemory() {
    var starts: [StackStart] = []
    for (index, thread) in snapshot.threads.enumerated() {
      guard let pointer = thread.context?.stackPointer, let place = stackStart(pointer) else { continue }
      starts.append(StackStart(segment: place.segment, address: place.address, thread: index))
    }
    starts.sort { ($0.segment, $0.address, $0.thread) < ($1.segment, $1.address, $1.thread) }
    var cuts: [(segment: Int, region: MemoryRegion)] = []
    var next = starts.count
    for index in starts.indices.reversed() {
      // If several stacks are in one segment, each ends where the next begins; threads with the same start share one
      // stack.
      let start = starts[index]
      if index + 1 < starts.count,
        starts[index + 1].segment != start.segment || starts[index + 1].address != start.address
      {
        next = index + 1
      }
      let segment = space.segments[start.segment]
      var end = segment.lastByte
      if next < starts.count, starts[next].segment == start.segment { end = starts[next].address - 1 }
      let isCrashed = snapshot.exception?.threadID == snapshot.threads[start.thread].id
      let limit =
        isCrashed || isKnownStack(from: start.address, segment, snapshot.threads[start.thread])
        ? options.maximumKnownStack : options.maximumStack
      let count = min(limit, Int(end - start.address) + 1)
      let offset = segment.bytes.offset + Int(start.address - segment.address)
      let region = MemoryRegion(address: start.address, content: SnapshotBytes(inputOffset: offset, count: count))
      snapshot.threads[start.thread].stack = ThreadSnapshot.Stack(region: region)
      if cuts.last?.region.address != region.address {
        cuts.append((start.segment, region))
      } else if let last = cuts.last, last.region.content.count < count {
        cuts[cuts.count - 1].region = region
      }
    }
    keepRest(beside: cuts.reversed())
  }

  /// Whether the memory above an address is a stack by what lies at its upper end: the data of the thread in C libraries,
  /// the process's arguments in the kernel. A program may point the register at any other memory, and have much of it.
  private func isKnownStack(from start: UInt64, _ segment: CoreSegment, _ thread: ThreadSnapshot) -> Bool {
    [thread.dataAddress, notes.auxiliaryValues[CoreFormat.auxExecutableName]].contains { end in
      end.map { $0 > start && $0 <= segment.lastByte } ?? false
    }
  }

  private func stackStart(_ pointer: UInt64) -> (segment: Int, address: UInt64)? {
    let start = (pointer < Self.redZone ? 0 : pointer - Self.redZone) & ~15
    if let index = space.segment(at: pointer), case let segment = space.segments[index],
      pointer - segment.address < UInt64(segment.bytes.count)
    {
      return (index, max(start, segment.address))
    }
    // The first segment above the pointer that has bytes.
    let index = space.firstIndex(behind: pointer)
    for index in index..<min(index + 2, space.segments.count) {
      let segment = space.segments[index]
      if segment.bytes.count > 0, segment.address - pointer <= Self.maximumGap { return (index, segment.address) }
    }
    return nil
  }

  /// Adds all bytes of the segments except the stacks.
  private mutating func keepRest(beside cuts: some Sequence<(segment: Int, region: MemoryRegion)>) {
    var rest: [MemoryRegion] = []
    rest.reserveCapacity(space.segments.count)
    var cuts = cuts.makeIterator()
    var cut = cuts.next()
    for (index, segment) in space.segments.enumerated() {
      var place = 0
      func add(upTo end: Int) {
        if end <= place { return }
        rest.append(
          MemoryRegion(
            address: segment.address + UInt64(place),
            content: SnapshotBytes(inputOffset: segment.bytes.offset + place, count: end - place)))
      }
      while let (cutSegment, region) = cut, cutSegment == index {
        let start = Int(region.address - segment.address)
        add(upTo: start)
        place = start + region.content.count
        cut = cuts.next()
      }
      add(upTo: segment.bytes.count)
    }
    snapshot.extraMemory = rest
  }

  // MARK: The initial stack

  /// Reads the whole command line and the environment: NT_PRPSINFO has only 80 bytes of the command line and no
  /// environment.
  ///
  /// The initial stack of a process contains, upwards: the number of arguments, a pointer to each, 0, a pointer to each
  /// variable, 0, the auxiliary vector, and above it the strings in the same order (Linux, `fs/binfmt_elf.c`,
  /// `create_elf_tables`).
  mutating func readInitialStack(_ bytes: RawSpan) {
    let size = layout.wordSize
    guard let vector = notes.auxiliaryVector, vector.count >= 4 * size,
      let name = notes.auxiliaryValues[CoreFormat.auxExecutableName], let index = space.segment(at: name)
    else { return }
    let segment = space.segments[index]
    // From here on, offsets are relative to the segment; a word is available if it is in the file.
    func word(_ offset: Int) -> UInt64? {
      guard offset >= 0, offset <= segment.bytes.count - size else { return nil }
      return layout.word(bytes, at: segment.bytes.offset + offset)
    }
    func offset(of address: UInt64?) -> Int? {
      guard let address, address >= segment.address, address - segment.address < UInt64(segment.bytes.count) else {
        return nil
      }
      return Int(address - segment.address)
    }
    let above = [CoreFormat.auxRandom, CoreFormat.auxPlatform, CoreFormat.auxExecutableName]
      .compactMap { offset(of: notes.auxiliaryValues[$0]) }.min()
    guard let above, let end = offset(of: name) else { return }
    let firsts = (0..<4).map { layout.word(bytes, at: vector.offset + size * $0) }
    var place = above & ~(size - 1)
    let lowest = max(0, place - vector.count - 4096)
    while place >= lowest, !(0..<4).allSatisfy({ word(place + size * $0) == firsts[$0] }) { place -= size }
    guard place >= lowest, word(place - size) == 0 else { return }
    // Go back over the variables to the zero before them, and over the arguments to their number.
    let limit = max(0, place - 8 << 20)
    var variables = place - 2 * size
    while variables >= limit, word(variables) != 0 { variables -= size }
    var arguments = variables - size
    var count = 0
    while arguments >= limit, word(arguments) != UInt64(count) {
      arguments -= size
      count += 1
    }
    guard arguments >= limit, count > 0, let first = offset(of: word(arguments + size)) else { return }
    let firstVariable = variables + size < place - size ? offset(of: word(variables + size)) : nil
    let middle = firstVariable ?? end
    guard first < middle, middle <= end else { return }
    snapshot.linux?.commandLine = SnapshotBytes(inputOffset: segment.bytes.offset + first, count: middle - first)
    if middle < end {
      snapshot.linux?.environment = SnapshotBytes(inputOffset: segment.bytes.offset + middle, count: end - middle)
    }
  }
}
