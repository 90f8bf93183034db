// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Glibc

/// A tree of dSYMs with load commands of the size of real ones, and dumps of their modules.
enum TreeRecipe {
  /// Followed by a directory, makes this program read the load commands of all files below it, once.
  static let option = "--read-bundles"

  private static func uuid(_ index: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(index) + 1, area: 99)
    return random.bytes(16)
  }

  static func writeBundle(_ index: Int, below root: String) throws {
    let folder = "\(root)/\(index / 100)/Module\(index).framework.dSYM/Contents/Resources/DWARF"
    var path = ""
    for part in folder.split(separator: "/", omittingEmptySubsequences: false) {
      path += path.isEmpty && part.isEmpty ? "/" : "\(part)/"
      unsafe _ = mkdir(path, 0o755)
    }
    try writeFile("\(folder)/Module\(index)", debugFile(uuid(index)))
  }

  /// The sections of an application's dSYM.
  private static let segments: [(name: String, sections: [String])] = [
    (
      "__TEXT",
      ["__text", "__stubs", "__objc_methlist", "__const", "__cstring", "__gcc_except_tab", "__swift5_types"]
        + ["__swift5_typeref", "__swift5_reflstr", "__swift5_fieldmd", "__unwind_info", "__eh_frame"]
    ),
    ("__DATA_CONST", ["__got", "__const", "__objc_classlist", "__objc_imageinfo"]),
    ("__DATA", ["__objc_const", "__objc_selrefs", "__data", "__bss", "__common"]),
    (
      "__DWARF",
      ["__debug_line", "__debug_info", "__debug_ranges", "__debug_loc", "__debug_abbrev", "__debug_str"]
        + ["__debug_aranges", "__apple_names", "__apple_namespac", "__apple_types", "__apple_objc"]
    ),
  ]

  private static func debugFile(_ uuid: [UInt8]) -> [UInt8] {
    var commands = Bytes.of(UInt32(0x1b)) + Bytes.of(UInt32(24)) + uuid
    for (number, segment) in segments.enumerated() {
      let address = 0x1_0000_0000 + UInt64(number) * 0x4000
      commands += Bytes.of(UInt32(0x19)) + Bytes.of(UInt32(72 + 80 * segment.sections.count)) + name(segment.name)
      for value in [address, 0x4000, 8192, 16_384] as [UInt64] { commands += Bytes.of(value) }
      for value in [7, 5, UInt32(segment.sections.count), 0] as [UInt32] { commands += Bytes.of(value) }
      for section in segment.sections {
        commands += name(section) + name(segment.name) + Bytes.of(address) + Bytes.of(UInt64(16))
        commands += [UInt8](repeating: 0, count: 32)
      }
    }
    var file = Bytes.of(UInt32(0xfeed_facf)) + Bytes.of(UInt32(0x0100_000c)) + Bytes.of(UInt32(0))
    file += Bytes.of(UInt32(10)) + Bytes.of(UInt32(segments.count + 1)) + Bytes.of(UInt32(commands.count))
    file += Bytes.of(UInt64(0)) + commands
    return file + [UInt8](repeating: 0, count: 24_576 - file.count)
  }

  private static func name(_ text: String) -> [UInt8] {
    Array(text.utf8.prefix(16)) + [UInt8](repeating: 0, count: max(0, 16 - text.utf8.count))
  }

  static func dump(_ index: Int) -> [UInt8] {
    let ids = index < 0 ? (0..<20).map { uuid(1_000_000 + $0) } : [uuid(index)]
    var dump = DumpBuilder(capacity: 8192)
    dump.root { root in
      root.property(.version, [1])
      root.map(.processInfo) { $0.property(.pid, uint32: 42) }
      root.map(.systemInfo) { $0.property(.machineDescription, "iPhone14,2") }
      root.array(.modules) { modules in
        for (number, id) in ids.enumerated() {
          modules.mapInArray {
            $0.property(.name, "/private/var/containers/Bundle/Application/Module\(max(index, 0) + number)")
            $0.property(.address, uint64: 0x1_0000_0000 + UInt64(number) * 0x10_0000)
            $0.property(.size, uint64: 0x4000)
            $0.property(.fileType, uint32: number == 0 ? 2 : 6)
            $0.property(.uuid, id)
          }
        }
      }
    }
    return dump.bytes
  }

  // MARK: The peers

  /// Followed by a directory and the number of its bundles, makes this program look at each of their files, and at the directories
  /// of these, once.
  static let lookOption = "--look-at-bundles"

  /// A part of the bundles, for one thread.
  private struct Share {
    let root: Int32
    let bundles: Range<Int>
    var failures = 0

    mutating func look() {
      var status = stat()
      for index in bundles {
        let folder = "\(index / 100)/Module\(index).framework.dSYM/Contents/Resources/DWARF"
        for path in [folder, "\(folder)/Module\(index)"] {
          if unsafe fstatat(root, path, &status, 0) != 0 { failures += 1 }
        }
      }
    }
  }

  /// On as many threads as there are processors.
  static func lookAtBundles(below root: String, count: Int) -> Int32 {
    let folder = unsafe open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let shares = UnsafeMutablePointer<Share>.allocate(capacity: threads)
    defer { unsafe shares.deallocate() }
    var started: [pthread_t] = []
    for index in 0..<threads {
      unsafe (shares + index).initialize(
        to: Share(root: folder, bundles: count * index / threads..<count * (index + 1) / threads))
      var thread = pthread_t()
      let failure = unsafe pthread_create(
        &thread, nil,
        { share in
          unsafe share?.assumingMemoryBound(to: Share.self).pointee.look()
          return nil
        }, shares + index)
      if failure == 0 { started.append(thread) } else { return 1 }
    }
    for thread in started { _ = pthread_join(thread, nil) }
    return (0..<threads).allSatisfy { unsafe shares[$0].failures == 0 } ? 0 : 1
  }

  static func readBundles(below root: String) -> Int32 { count(below: root) > 0 ? 0 : 1 }

  private static func count(below folder: String) -> Int {
    guard let directory = unsafe opendir(folder) else { return 0 }
    defer { unsafe _ = closedir(directory) }
    var count = 0
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      let path = "\(folder)/\(name)"
      // DT_DIR
      if unsafe entry.pointee.d_type == 4 { count += self.count(below: path) } else if hasID(path) { count += 1 }
    }
    return count
  }

  private static func hasID(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 32_768)
    guard unsafe read(file, &bytes, 32) == 32 else { return false }
    func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } }
    let size = number(20)
    guard number(0) == 0xfeed_facf, size < 32_768 - 32,
      unsafe bytes.withUnsafeMutableBytes({ unsafe read(file, $0.baseAddress! + 32, size) }) == size
    else { return false }
    var place = 32
    for _ in 0..<number(16) where place + 8 <= 32 + size {
      if number(place) == 0x1b { return true }
      place += max(8, number(place + 4))
    }
    return false
  }
}
