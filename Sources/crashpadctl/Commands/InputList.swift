import BinaryFormat
import CrashpadCore
import FileSystem
import SystemPackage

/// The inputs that a command line names: files as they are, directories by the dumps in them.
struct InputList {
  struct Input: Sendable {
    /// What messages call it.
    let name: String
    /// The argument, `-` for standard input.
    let argument: String
    /// Where it is below the directory in which it was found.
    let relativePath: FilePath
    /// Whether it was found in a directory rather than named.
    let isFound: Bool
  }

  struct Failure: Sendable {
    let name: String
    /// What would name it as an argument.
    let argument: String
    let text: String
    let status: ExitStatus
  }

  private(set) var inputs: [Input] = []
  private(set) var failures: [Failure] = []
  /// Files in the directories that are not dumps by name or first bytes.
  private(set) var skipped = 0
  private(set) var hasDirectories = false

  /// Directories are searched with all that are in them.
  init(_ arguments: [String], accepting: Set<InputFormat>) {
    for argument in arguments {
      let path = FilePath(argument: argument)
      guard argument != "-", (try? FileKind(at: path, followingLink: true)) == .directory else {
        let relative = path.lastComponent.map { FilePath(root: nil, [$0]) } ?? FilePath("")
        if addMembers(of: path, relative, isFound: false) { continue }
        inputs.append(
          Input(name: displayName(argument), argument: argument, relativePath: relative, isFound: false))
        continue
      }
      hasDirectories = true
      addDumps(in: path, accepting)
    }
  }

  private mutating func addDumps(in directory: FilePath, _ accepting: Set<InputFormat>) {
    do {
      let (files, unreadable) = try regularFiles(in: directory, recursive: true)
      for file in files {
        var relative = file
        _ = relative.removePrefix(directory)
        if addMembers(of: file, relative, isFound: true) { continue }
        guard Self.looksLikeDump(file, accepting) else {
          skipped += 1
          continue
        }
        inputs.append(
          Input(
            name: Wording.printable(file), argument: ArgumentText.text(file.bytes), relativePath: relative,
            isFound: true))
      }
      for (path, error) in unreadable { add(path, error) }
    } catch {
      add(directory, error)
    }
  }

  /// Adds the dumps and reports of an archive that has many. One that is named alone is read as the one that it holds.
  private mutating func addMembers(of path: FilePath, _ relative: FilePath, isFound: Bool) -> Bool {
    guard path.extension?.lowercased() == "zip" else { return false }
    let members = DumpInput.members(of: path)
    guard members.count > (isFound ? 0 : 1) else { return false }
    for member in members {
      let place = path.bytes + [UInt8(ascii: "/")] + Array(member.utf8)
      // An archive may name members outside of it.
      let names = FilePath(member).components.filter { $0.kind == .regular }
      inputs.append(
        Input(
          name: Wording.printable(FilePath(bytes: place)), argument: ArgumentText.text(place),
          relativePath: relative.appending(names), isFound: isFound))
    }
    return true
  }

  private mutating func add(_ path: FilePath, _ error: any Error) {
    let (text, status) = Sentences.failure(error, creating: false)
    failures.append(
      Failure(
        name: Wording.printable(path), argument: ArgumentText.text(path.bytes), text: text, status: status))
  }

  // MARK: Output

  /// Whether the command line names one file, whose status is the tool's.
  var isSingle: Bool { inputs.count == 1 && !hasDirectories }

  /// Prints why inputs or parts of directories could not be read.
  func reportFailures() {
    for failure in failures { Terminal.error("\(failure.name): error: \(failure.text)") }
  }

  /// The status of a run without any input; prints that none was found.
  var statusOfNone: ExitStatus {
    if failures.isEmpty { Terminal.error("crashpadctl: error: no dumps found\(skippedNote)") }
    return failures.first?.status ?? .noData
  }

  /// "; 3 other files skipped", or nothing.
  var skippedNote: String { skipped > 0 ? "; \(Wording.count(skipped, "other file")) skipped" : "" }

  /// Prints how many files of directories were left out, for commands that print no other sum.
  func reportSkipped() {
    if skipped > 0 { Terminal.error("crashpadctl: \(Wording.count(skipped, "other file")) skipped") }
  }

  /// In a directory there may be anything. A dump has the name of one, or begins like one.
  private static func looksLikeDump(_ path: FilePath, _ accepting: Set<InputFormat>) -> Bool {
    let name = path.lastComponent?.string ?? ""
    if name != "core", let format = FormatRow.named(name) { return accepting.contains(format) }
    if isPendingName(name) { return accepting.contains(.intermediateDump) }
    if isCoreName(name) { return accepting.contains(.core) }
    guard let start = try? InputFile.prefix(of: path, count: InputFormat.startLength), !start.isEmpty else {
      return false
    }
    // ELF files are most often programs; the JSON form of a dump stands for a dump beside it.
    guard let format = unsafe InputFormat.of(start.span.bytes), format != .json else { return false }
    return accepting.contains(format) && (format != .core || InputFormat.isCore(start))
  }

  /// What kernels and systemd-coredump call cores: core, core.PID, core.….zst. A source file core.c is none.
  private static func isCoreName(_ name: String) -> Bool {
    if name == "core" { return true }
    guard name.hasPrefix("core.") else { return false }
    let rest = name.dropFirst(5)
    return rest.allSatisfy(\.isNumber) || [".zst", ".lz4", ".xz"].contains { name.hasSuffix($0) }
  }

  /// `<bundle-id>@<uuid>`, locked or not: a dump in the database's directory of pending ones.
  private static func isPendingName(_ name: String) -> Bool {
    let stem = name.hasSuffix(".locked") ? name.dropLast(7) : name[...]
    guard let at = stem.lastIndex(of: "@") else { return false }
    let uuid = stem[stem.index(after: at)...]
    return uuid.utf8.count == 36 && uuid.allSatisfy { $0.isHexDigit || $0 == "-" }
  }
}
