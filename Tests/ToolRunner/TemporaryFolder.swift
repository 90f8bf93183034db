// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Synchronization

/// A directory for one test, which takes it away again.
///
/// `work` is where commands run; what the runner itself needs is kept out of its sight.
public final class TemporaryFolder: Sendable {
  public let work: URL
  /// On the commands' PATH: `crashpadctl`, and `as-nobody`, which gives up the rights of root. One for all folders.
  public let commands: String
  private let root: URL
  private let counter = Mutex(0)

  /// - Parameter place: The directory to make it in; by default that for temporary files, which may be in memory.
  public init(in place: URL = FileManager.default.temporaryDirectory) throws {
    root = place.appending(path: "crashpadctl-test-\(UUID().uuidString)")
    work = root.appending(path: "work")
    commands = try Self.commandFolder.get().path
    for folder in [work, root.appending(path: "scratch")] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
  }

  private static let commandFolder = Result { try makeCommands() }

  /// The directory is removed when the process ends.
  private static let commandPlace = FileManager.default.temporaryDirectory.appending(
    path: "crashpadctl-test-commands-\(getpid())")

  private static func makeCommands() throws -> URL {
    let bin = commandPlace
    try? FileManager.default.removeItem(at: bin)
    try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: TemporaryFolder.commandPlace) }
    try FileManager.default.createSymbolicLink(
      atPath: bin.appending(path: "crashpadctl").path, withDestinationPath: Tool.path)
    let asNobody = """
      #!/bin/sh
      if [ "$(id -u)" = 0 ]; then exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; fi
      exec "$@"
      """
    let script = bin.appending(path: "as-nobody")
    try Data(asNobody.utf8).write(to: script)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
    // The loader finds these first, and they are no libraries: without capstone, output is the same on all machines.
    for number in [4, 5] { try Data().write(to: bin.appending(path: "libcapstone.so.\(number)")) }
    return bin
  }

  deinit {
    if (try? FileManager.default.removeItem(at: root)) != nil { return }
    // Some tests take away the right to look into a directory.
    let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    while let entry = walk?.nextObject() as? URL {
      if (try? entry.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true {
        try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: entry.path)
      }
    }
    try? FileManager.default.removeItem(at: root)
  }

  /// An empty file outside of `work`.
  public func scratchFile() throws -> URL {
    let number = counter.withLock {
      $0 += 1
      return $0
    }
    let file = root.appending(path: "scratch/\(number)")
    try Data().write(to: file)
    return file
  }

  /// The directory for caches, outside of `work`.
  public var cache: URL { root.appending(path: "scratch/cache") }

  public func url(_ name: String) -> URL { work.appending(path: name) }

  public func write(_ bytes: [UInt8], to name: String) throws {
    let file = url(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  /// Adds bytes to a file, behind zeros that take no room.
  public func write(_ bytes: [UInt8], behind zeros: Int, to name: String) throws {
    let file = try FileHandle(forWritingTo: url(name))
    let end = try file.seekToEnd()
    try file.seek(toOffset: end + UInt64(zeros))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  public func bytes(of name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(name))) }

  public func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: url(name).path) }

  /// Names in a folder below `work`, those that begin with a dot too, sorted.
  public func names(in folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url(folder).path).sorted()
  }
}

/// The rights that this machine gives to a test.
public enum Machine {
  public static let isRoot = geteuid() == 0
  /// A file system of FUSE can be mounted.
  public static let hasBindfs =
    isRoot && ["/usr/bin/bindfs", "/dev/fuse"].allSatisfy { FileManager.default.fileExists(atPath: $0) }
  public static let hasSetpriv = FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

  /// Whether script(1) can make a terminal.
  public static let hasTerminals: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return (try? Tool.shell("script -qec true /dev/null", in: folder).status) == 0
  }()
  public static let noTerminals = "script is not installed, or /dev/pts is not mounted"

  /// Whether a file system of a chosen size can be mounted, in a namespace of its own.
  public static let canMount: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "unshare --mount \(mapping) sh -c 'mount -t tmpfs -o size=64k none /mnt' 2>/dev/null"]
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// A user who is not root may mount in a user namespace, where it is allowed.
  public static var mapping: String { isRoot ? "" : "--map-root-user" }
}
