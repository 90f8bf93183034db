// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Makes the /proc texts that readers of Linux minidumps expect from the data of the core.
extension CoreReader {
  mutating func makeTexts(_ bytes: RawSpan) {
    makeStatus(bytes)
    makeMaps(bytes)
  }

  /// Makes /proc/PID/status from the fields of NT_PRPSINFO.
  private mutating func makeStatus(_ bytes: RawSpan) {
    guard let process = notes.process else { return }
    func number(_ offset: Int, size: Int = 4) -> String {
      String(bytes.number(at: process.offset + offset, size: size, false))
    }
    func ids(_ offset: Int) -> String {
      Array(repeating: number(offset, size: layout.userIDSize), count: 4).joined(separator: "\t")
    }
    let id = layout.processID
    let name = bytes.array(in: text(ByteRange(offset: process.offset + layout.processName, count: 16), bytes))
    var status = Array("Name:\t".utf8) + escaped(name)
    status += Array("\nTgid:\t\(number(id))\nPid:\t\(number(id))\nPPid:\t\(number(id + 4))\n".utf8)
    let (user, group) = (ids(layout.userID), ids(layout.userID + layout.userIDSize))
    status += Array("Uid:\t\(user)\nGid:\t\(group)\nThreads:\t\(snapshot.threads.count)\n".utf8)
    let content = snapshot.store(status)
    snapshot.linux?.processStatus = content
  }

  /// Makes /proc/PID/maps, with zeros for devices and inodes, which are not in a core.
  private mutating func makeMaps(_ bytes: RawSpan) {
    if space.segments.isEmpty { return }
    let vdso = notes.auxiliaryValues[CoreFormat.auxVDSO]
    let stack = notes.auxiliaryValues[CoreFormat.auxExecutableName]
    var text: [UInt8] = []
    var next = 0
    for segment in space.segments {
      while next < mappings.count, mappings[next].end <= segment.address { next += 1 }
      var name: [UInt8] = []
      var offset: UInt64 = 0
      if next < mappings.count, mappings[next].start <= segment.address {
        let mapping = mappings[next]
        guard spend(4 * mapping.name.count, at: mapping.name.offset, path: "NT_FILE") else { break }
        name = escaped(bytes.array(in: mapping.name))
        offset = mapping.offset &+ (segment.address - mapping.start)
      } else if let vdso, vdso >= segment.address, vdso - segment.address < segment.memorySize {
        name = Array("[vdso]".utf8)
      } else if let stack, stack >= segment.address, stack - segment.address < segment.memorySize {
        name = Array("[stack]".utf8)
      } else if segment.address == 0xffff_ffff_ff60_0000 {
        name = Array("[vsyscall]".utf8)
      }
      let flags = [(4, "r"), (2, "w"), (1, "x")].map { segment.flags & $0.0 != 0 ? $0.1 : "-" }.joined()
      let end = segment.address &+ segment.memorySize
      var line = "\(hexadecimal(segment.address, width: 8))-\(hexadecimal(end, width: 8)) \(flags)p "
      line += "\(hexadecimal(offset, width: 8)) 00:00 0 "
      // The kernel aligns the names to this column.
      if !name.isEmpty { line += String(repeating: " ", count: max(0, 73 - line.utf8.count)) }
      guard spend(2 * line.utf8.count, at: segment.bytes.offset, path: "maps") else { break }
      text += Array(line.utf8) + name + [0x0a]
    }
    let content = snapshot.store(text)
    snapshot.linux?.maps = content
  }

  /// Escapes line feeds as `\012`, as the kernel does.
  private func escaped(_ name: [UInt8]) -> [UInt8] {
    guard name.contains(0x0a) else { return name }
    return name.flatMap { $0 == 0x0a ? Array("\\012".utf8) : [$0] }
  }
}
