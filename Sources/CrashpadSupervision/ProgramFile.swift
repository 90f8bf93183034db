// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadBytes
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// The file of a program, and reasons why a library can't be preloaded into it, as far as its first bytes and its mode
/// show.
package struct ProgramFile: Sendable {
  /// A reason why the handler can't be preloaded into a program.
  package enum Obstacle: Sendable, Hashable {
    /// The program has no loader, so nothing is preloaded.
    case isStatic
    /// For another processor or word size than this tool, and therefore the library; its number in ELF.
    case otherMachine(UInt16)
    /// For another C library, by its loader, which can't load the handler's library: neither this tool's nor musl.
    case otherLoader(String)
    case missingLoader(String)
    /// Starting it gives it rights (set user or group id, or file capabilities), and then the loader preloads nothing.
    case getsRights
  }

  /// The file that is executed in the end: for a script, its interpreter.
  package let path: FilePath
  /// The script, if the given path is one.
  package let script: FilePath?
  package let obstacles: [Obstacle]

  /// - Parameters:
  ///   - path: the file to execute.
  ///   - search: the directories that the `env` of a script searches.
  package init(_ path: FilePath, search: ProgramSearch) {
    var target = path
    var start = Self.start(of: path)
    // The kernel accepts an interpreter that is a script itself, up to four times.
    for _ in 0..<5 {
      guard let next = Self.interpreter(start, search) else { break }
      target = next
      start = Self.start(of: target)
    }
    self.path = target
    script = target == path ? nil : path
    var obstacles: [Obstacle] = []
    if let header = ProgramHeader(start) { obstacles = Self.obstacles(header) }
    if Self.getsRights(target) { obstacles.append(.getsRights) }
    self.obstacles = obstacles
  }

  /// The path of this tool itself; without /proc, the path by which the kernel started it.
  package static let ownPath: FilePath? = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = unsafe readlink("/proc/self/exe", &buffer, Int(PATH_MAX))
    guard count > 0 else {
      let name = unsafe UnsafePointer<CChar>(bitPattern: getauxval(LINUX_AT_EXECFN))
      return unsafe name.map { unsafe FilePath(platformString: $0).absolute }
    }
    buffer[count] = 0
    return unsafe buffer.withUnsafeBufferPointer { unsafe $0.baseAddress.map { unsafe FilePath(platformString: $0) } }
  }()

  /// The header of this tool; the library beside it is built for the same machine.
  private static let own: ProgramHeader? = ownPath.flatMap { ProgramHeader(start(of: $0)) }

  /// The loader of this tool, and of programs that can preload the library.
  package static var ownLoader: String? { own?.loader }

  private static func start(of path: FilePath) -> [UInt8] {
    // An executable file may be unreadable; then nothing is known about it.
    hint { try InputFile.prefix(of: path, count: 16 << 10) } ?? []
  }

  private static func obstacles(_ header: ProgramHeader) -> [Obstacle] {
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

  /// The path after `#!`; for env(1), the program that it will run.
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

/// The machine and the loader of a program, from the beginning of its file.
private struct ProgramHeader {
  let machine: UInt16
  let is64Bit: Bool
  /// The path of the program's loader; nil if it has none.
  private(set) var loader: String?
  /// False if the needed bytes are beyond the part of the file that was read.
  private(set) var knowsLoader = false

  init?(_ start: [UInt8]) {
    let bytes = unsafe start.span.bytes
    guard let header = ElfHeader(bytes), !header.isBigEndian else { return nil }
    machine = header.machine
    is64Bit = header.is64Bit
    guard is64Bit, let count = header.segmentCount(bytes), count <= header.segmentRoom(bytes) else { return }
    knowsLoader = true
    header.forEachSegment(bytes) { segment in
      guard segment.type == ElfSegment.interpreter else { return true }
      if let path = segment.content(in: bytes) {
        loader = String(decoding: start[path.offset..<path.end].prefix { $0 != 0 }, as: UTF8.self)
      } else {
        knowsLoader = false
      }
      return false
    }
  }
}

extension FilePath {
  /// The path, independent of the working directory.
  package var absolute: FilePath {
    if isAbsolute { return self }
    guard let folder = unsafe getcwd(nil, 0) else { return self }
    defer { unsafe free(folder) }
    return unsafe FilePath(platformString: folder).pushing(self).lexicallyNormalized()
  }
}
