internal import CLinux
internal import FileSystem
internal import Glibc
package import SystemPackage

/// The file of a program, and what keeps a library from being preloaded into it, as far as its first bytes and its mode
/// tell.
package struct ProgramFile: Sendable {
  /// What stands against the handler in a program.
  package enum Obstacle: Sendable, Hashable {
    /// No loader takes part, so nothing is preloaded.
    case isStatic
    /// For another processor or of another size than this tool, and so than the library; its number in ELF.
    case otherMachine(UInt16)
    /// Of another C library, by its loader, which does not take the handler's library: neither this tool's nor musl.
    case otherLoader(String)
    case missingLoader(String)
    /// It gets rights by being started (set user or group id, or file capabilities), and the loader then preloads nothing.
    case getsRights
  }

  /// The file that is executed in the end: of a script, its interpreter.
  package let path: FilePath
  /// Of a script, the one that was asked about.
  package let script: FilePath?
  package let obstacles: [Obstacle]

  /// - Parameters:
  ///   - path: what is to be executed.
  ///   - search: the directories in which `env` of a script looks.
  package init(_ path: FilePath, search: ProgramSearch) {
    var target = path
    var start = Self.start(of: path)
    // The kernel takes a script's interpreter that is a script too, four times.
    for _ in 0..<5 {
      guard let next = Self.interpreter(start, search) else { break }
      target = next
      start = Self.start(of: target)
    }
    self.path = target
    script = target == path ? nil : path
    var obstacles: [Obstacle] = []
    if let header = ElfHeader(start) { obstacles = Self.obstacles(header) }
    if Self.getsRights(target) { obstacles.append(.getsRights) }
    self.obstacles = obstacles
  }

  /// The path of this tool itself; without /proc, the one that the kernel started it by.
  package static let ownPath: FilePath? = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = unsafe readlink("/proc/self/exe", &buffer, Int(PATH_MAX))
    guard count > 0 else {
      let name = unsafe UnsafePointer<CChar>(bitPattern: getauxval(LINUX_AT_EXECFN))
      return unsafe name.map { HandlerLibrary.absolute(unsafe FilePath(platformString: $0)) }
    }
    buffer[count] = 0
    return unsafe buffer.withUnsafeBufferPointer { unsafe $0.baseAddress.map { unsafe FilePath(platformString: $0) } }
  }()

  /// This tool's; the library that is beside it is made for the same.
  private static let own: ElfHeader? = ownPath.flatMap { ElfHeader(start(of: $0)) }

  /// The loader that this tool, and what has the library preloaded, are run by.
  package static var ownLoader: String? { own?.loader }

  private static func start(of path: FilePath) -> [UInt8] {
    // What may be executed need not be readable; then nothing is known of it.
    (try? InputFile.prefix(of: path, count: 16 << 10)) ?? []
  }

  private static func obstacles(_ header: ElfHeader) -> [Obstacle] {
    guard let own else { return [] }
    if header.machine != own.machine || header.is64Bit != own.is64Bit { return [.otherMachine(header.machine)] }
    guard header.knowsLoader else { return [] }
    guard let loader = header.loader else { return [.isStatic] }
    if unsafe access(loader, F_OK) != 0 { return [.missingLoader(loader)] }
    let name = { (path: String) in path.split(separator: "/").last.map(String.init) ?? path }
    if let ownLoader = own.loader, name(ownLoader) != name(loader), !name(loader).hasPrefix("ld-musl-") {
      return [.otherLoader(loader)]
    }
    return []
  }

  private static func getsRights(_ path: FilePath) -> Bool {
    var status = stat()
    let isThere = unsafe path.withPlatformString { unsafe stat($0, &status) } == 0
    guard isThere, linux_prctl(LINUX_PR_GET_NO_NEW_PRIVS, 0) != 1 else { return false }
    if status.st_mode & S_ISUID != 0, status.st_uid != geteuid() { return true }
    if status.st_mode & S_ISGID != 0, status.st_mode & S_IXGRP != 0, status.st_gid != getegid() { return true }
    let capabilities = unsafe path.withPlatformString { unsafe getxattr($0, "security.capability", nil, 0) }
    return geteuid() != 0 && capabilities > 0
  }

  /// What `#!` names; through env(1) the program that it will run.
  private static func interpreter(_ start: [UInt8], _ search: ProgramSearch) -> FilePath? {
    guard start.starts(with: Array("#!".utf8)) else { return nil }
    let line = String(decoding: start.dropFirst(2).prefix { $0 != 0x0a }.prefix(253), as: UTF8.self)
    let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
    guard let first = words.first else { return nil }
    let path = FilePath(first)
    guard path.lastComponent?.string == "env" else { return path }
    let program = words.dropFirst().first { !$0.hasPrefix("-") && !$0.contains("=") }
    return program.flatMap { search.candidates(Array($0.utf8)).executable } ?? path
  }
}

/// The beginning of an ELF file.
struct ElfHeader {
  let machine: UInt16
  let is64Bit: Bool
  /// The path of the program's loader; nil if it has none.
  private(set) var loader: String?
  /// False if the bytes that tell are not among the file's first.
  private(set) var knowsLoader = false

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 64, bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]), bytes[5] == 1 else { return nil }
    func number(_ offset: Int, _ width: Int) -> Int {
      (0..<width).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
    machine = UInt16(number(18, 2))
    is64Bit = bytes[4] == 2
    guard is64Bit, bytes[39] < 0x80 else { return }
    let (table, size, count) = (number(32, 8), number(54, 2), number(56, 2))
    guard size >= 56, table <= bytes.count - size * count else { return }
    knowsLoader = true
    for index in 0..<count where number(table + index * size, 4) == 3 {
      let entry = table + index * size
      // Offsets and sizes of a file of this machine; those of a damaged one are too large.
      guard bytes[entry + 15] == 0, bytes[entry + 39] == 0 else { break }
      let (offset, length) = (number(entry + 8, 7), number(entry + 32, 7))
      guard offset <= bytes.count, length <= bytes.count - offset else {
        knowsLoader = false
        return
      }
      loader = String(decoding: bytes[offset..<offset + length].prefix { $0 != 0 }, as: UTF8.self)
      return
    }
  }
}
