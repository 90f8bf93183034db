// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import CrashpadSymbolication
import SystemPackage

/// The inputs named on a command line: files, and the dumps in directories.
struct InputList {
  struct Input: Sendable {
    /// The name in messages.
    let name: String
    /// The argument, `-` for standard input.
    let argument: String
    /// The path relative to the directory in which the input was found.
    let relativePath: FilePath
    /// Whether the input was found in a directory rather than named.
    let isFound: Bool
    /// Whether it is one of several reports in a file.
    var isPart = false

    /// Nil for standard input.
    var path: FilePath? { argument == "-" ? nil : FilePath(argument: argument) }

    /// The reports of a file that holds several, as inputs; empty for standard input and pipes, which are read once.
    func parts(_ count: Int) -> [Input] {
      guard count > 0, let path, InputIdentity(at: path) != nil else { return [] }
      return (1...count).map { number in
        Input(
          name: "\(name)/\(number)", argument: ArgumentText.text(path.bytes + Array("/\(number)".utf8)),
          relativePath: relativePath.appending(String(number)), isFound: isFound, isPart: true)
      }
    }

    /// The argument from the root on, whatever the working directory of a later run.
    ///
    /// - Parameter path: that of the argument.
    func absoluteArgument(_ path: FilePath, from folder: FilePath) -> String {
      path.isAbsolute ? argument : ArgumentText.text(folder.pushing(path).bytes)
    }
  }

  struct Failure: Sendable {
    let name: String
    /// The argument that would name the input.
    let argument: String
    let failure: FailureText
  }

  private(set) var inputs: [Input] = []
  private(set) var failures: [Failure] = []
  /// Files in the directories that are not dumps by name or first bytes.
  private(set) var skipped = 0
  /// Directories with symbol files in place of dumps, by their printable names.
  private var symbolFolders: [String] = []
  private(set) var hasDirectories = false
  /// The directories and databases that were searched, by their printable names.
  private var searched: [String]
  /// Whether a run without any input is a success.
  let allowsEmpty: Bool

  /// Searches directories recursively.
  ///
  /// - Parameters:
  ///   - searched: the databases in which the arguments were found.
  ///   - failures: the parts of the databases that could not be read.
  ///   - once: whether a file that several paths lead to is one input.
  init(
    _ arguments: [String], accepting: [InputFormat], searched: [String] = [], failures: [FileFailure] = [],
    allowsEmpty: Bool = false, once: Bool = false
  ) {
    self.searched = searched
    self.allowsEmpty = allowsEmpty
    for failure in failures { add(failure.path, failure) }
    addAll(arguments, accepting)
    if once, inputs.count > 1 { inputs = Self.once(inputs) }
  }

  private mutating func addAll(_ arguments: [String], _ accepting: [InputFormat]) {
    for argument in arguments {
      let path = FilePath(argument: argument)
      // A path that can't be examined is an input, which fails.
      guard argument != "-", hint({ try FileKind(at: path, followingLink: true) }) == .directory else {
        let name = path.lastBytes
        let relative = FilePath(bytes: name)
        if Self.isNamedArchive(name), addMembers(of: path, relative, isFound: false) { continue }
        inputs.append(
          Input(
            name: argument.isEmpty ? "''" : displayName(argument), argument: argument, relativePath: relative,
            isFound: false))
        continue
      }
      hasDirectories = true
      let name = displayName(argument)
      if !searched.contains(where: { name.hasPrefix($0 + "/") }) { searched.append(name) }
      addDumps(in: path, accepting)
    }
  }

  /// The inputs without those whose file was named before, by another path or through a link.
  private static func once(_ inputs: [Input]) -> [Input] {
    var known: Set<InputIdentity> = []
    return inputs.filter { input in
      guard let path = input.path, let identity = InputIdentity(at: path) else { return true }
      return known.insert(identity).inserted
    }
  }

  private static let archiveEndings =
    [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tzst"].map { Array($0.utf8) }

  private static func isNamedArchive(_ name: [UInt8]) -> Bool {
    // Most names end in another letter. ".zip" is a name without an extension.
    guard let last = name.last, [0x70, 0x72, 0x74, 0x7a].contains(last | 0x20) else { return false }
    return archiveEndings.contains { ending in
      name.count > ending.count && name.suffix(ending.count).elementsEqual(ending) { $0 | 0x20 == $1 | 0x20 }
    }
  }

  private mutating func addDumps(in directory: FilePath, _ accepting: [InputFormat]) {
    let known = inputs.count
    var hasSymbols = false
    defer { if hasSymbols, inputs.count == known { symbolFolders.append(TextFormat.printable(directory)) } }
    do {
      let (files, unreadable) = try regularFiles(in: directory, recursive: true)
      for file in files {
        let relative = file.relative(to: directory)
        let name = file.lastBytes
        if Self.isNamedArchive(name), addMembers(of: file, relative, isFound: true) { continue }
        let isDump: Bool
        do { isDump = try Self.looksLikeDump(file, named: String(decoding: name, as: UTF8.self), accepting) } catch {
          add(file, error)
          continue
        }
        guard isDump else {
          skipped += 1
          if !hasSymbols, inputs.count == known { hasSymbols = hint { try SymbolFileIdentity(file) } != nil }
          continue
        }
        inputs.append(
          Input(
            name: TextFormat.printable(file), argument: ArgumentText.text(file.bytes), relativePath: relative,
            isFound: true))
      }
      for (path, error) in unreadable { add(path, error) }
    } catch {
      add(directory, error)
    }
  }

  /// Adds the dumps and reports of an archive that holds several. A named archive with only one is read as that one.
  private mutating func addMembers(of path: FilePath, _ relative: FilePath, isFound: Bool) -> Bool {
    let members: [String]
    do { members = try DumpInput.members(of: path) } catch {
      // A named one is read, and fails in the same way.
      if isFound { add(path, error) }
      return isFound
    }
    guard members.count > (isFound ? 0 : 1) else { return false }
    for member in members {
      let place = path.bytes + [UInt8(ascii: "/")] + Array(member.utf8)
      // An archive may name members outside of it.
      let names = FilePath(member).components.filter { $0.kind == .regular }
      inputs.append(
        Input(
          name: TextFormat.printable(FilePath(bytes: place)), argument: ArgumentText.text(place),
          relativePath: relative.appending(names), isFound: isFound))
    }
    return true
  }

  private mutating func add(_ path: FilePath, _ error: any Error) {
    failures.append(
      Failure(
        name: TextFormat.printable(path), argument: ArgumentText.text(path.bytes),
        failure: FailureText(error, creating: false)))
  }

  /// The status of a run, before an input is read: some may not even be listed.
  var initialStatus: ExitStatus { failures.isEmpty ? .success : .partial }

  // MARK: Output

  /// Whether the command line names a single file; then its status is the tool's exit status.
  var isSingle: Bool { inputs.count == 1 && !hasDirectories }

  /// Whether the run has no other input and no other report: its document of JSON is indented, and each of several is a line.
  func isAlone(_ input: Input) -> Bool { isSingle && !input.isPart }

  /// Prints the inputs and the parts of directories that could not be read.
  func reportFailures() {
    for failure in failures { Terminal.error("\(failure.name): error: \(failure.failure.text)") }
    for folder in symbolFolders {
      Terminal.error("\(folder): warning: holds symbol files and no dumps; --symbols \(folder) searches it")
    }
  }

  /// Prints the same. Returns the exit status if the run ends there: without any input, or at the first failure.
  func refusal(keepsGoing: Bool = true) -> ExitStatus? {
    reportFailures()
    if !keepsGoing, let first = failures.first { return first.failure.status }
    return inputs.isEmpty ? refusalOfNone : nil
  }

  /// The exit status of a run without any input, if it ends there. Prints that no input was found.
  var refusalOfNone: ExitStatus? {
    let status = statusOfNone
    return status == .success ? nil : status
  }

  /// The exit status of a run without any input. Prints that no input was found, and where.
  var statusOfNone: ExitStatus {
    if let failure = failures.first { return failure.failure.status }
    let places = searched.prefix(3).joined(separator: ", ") + (searched.count > 3 ? ", …" : "")
    let text = "no dumps found in \(places)\(skippedNote)"
    if allowsEmpty {
      Terminal.error("crashpadctl: \(text)")
      return .success
    }
    return Terminal.failure("\(text); --allow-empty accepts that", .noData)
  }

  /// "; 3 other files skipped", or empty.
  var skippedNote: String { skipped > 0 ? "; \(TextFormat.count(skipped, "other file")) skipped" : "" }

  /// Prints a summary such as "3 converted, 1 failed, 2 not tried; 1 other file skipped".
  ///
  /// - Parameters:
  ///   - parts: the numbers of inputs that did not fail.
  ///   - done: the sum of these.
  ///   - failures: the number of failed inputs, `self.failures` included.
  func printSummary(_ parts: [String], done: Int, failures: Int) {
    var parts = parts
    if failures > 0 { parts.append("\(grouped(failures)) failed") }
    let left = inputs.count + self.failures.count - done - failures
    if left > 0 { parts.append("\(grouped(left)) not tried") }
    Terminal.error("crashpadctl: " + parts.joined(separator: ", ") + skippedNote)
  }

  /// Prints the number of skipped files in directories, for commands that print no other summary.
  func reportSkipped() {
    // Without inputs it is said already.
    if skipped > 0, !inputs.isEmpty {
      Terminal.error("crashpadctl: \(TextFormat.count(skipped, "other file")) skipped")
    }
  }

  /// Whether a file in a directory has the name of a dump, or begins like one.
  private static func looksLikeDump(_ path: FilePath, named name: String, _ accepting: [InputFormat]) throws -> Bool {
    if name != "core", let format = FormatRow.named(name) { return accepting.contains(format) }
    if isPendingName(name) { return accepting.contains(.intermediateDump) }
    if isCoreName(name) { return accepting.contains(.core) }
    let start: [UInt8]
    do { start = try InputFile.prefix(of: path, count: InputFormat.startLength) } catch Errno.noSuchFileOrDirectory {
      // It is gone since the directory was listed.
      return false
    }
    if start.isEmpty { return false }
    // Most ELF files are programs. A dump's JSON form is skipped, because it usually lies beside the dump.
    guard let format = unsafe InputFormat.of(start.span.bytes), format != .json else { return false }
    return accepting.contains(format) && (format != .core || InputFormat.isCore(start))
  }

  /// Whether the kernel or systemd-coredump gives cores this name: core, core.PID, core.….zst. A
  /// source file core.c is not a core.
  private static func isCoreName(_ name: String) -> Bool {
    if name == "core" { return true }
    guard name.hasPrefix("core.") else { return false }
    let rest = name.dropFirst(5)
    return rest.allSatisfy(\.isNumber) || [".zst", ".lz4", ".xz"].contains { name.hasSuffix($0) }
  }

  /// Whether the name is `<bundle-id>@<uuid>`, locked or not, as in a database's directory of pending dumps.
  private static func isPendingName(_ name: String) -> Bool {
    // Bytes: characters would take a tenth of the time that an index takes to find its 100,000 files unchanged.
    let stem = name.utf8.dropLast(name.hasSuffix(".locked") ? 7 : 0)
    let uuid = stem.suffix(36)
    guard uuid.count == 36, stem.dropLast(36).last == UInt8(ascii: "@") else { return false }
    return uuid.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }
}
