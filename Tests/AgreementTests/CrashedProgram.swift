// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A program that is compiled and crashes, once in each of several ways, each time with a core that the kernel writes.
struct CrashedProgram: CustomTestStringConvertible {
  let language: Build.Language
  let compiler: String
  let options: String

  var kinds: [String] { language == .c ? CrashPrograms.cKinds : CrashPrograms.cxxKinds }

  var testDescription: String { "\(URL(fileURLWithPath: compiler).lastPathComponent) \(options)" }

  static let all: [CrashedProgram] = [
    (Build.Language.c, Toolbox.gcc, "-O2"), (.c, Toolbox.clang, "-O1"), (.cxx, Toolbox.gxx, "-O1"),
    (.cxx, Toolbox.clangxx, "-O2"),
  ].compactMap { language, compiler, options in
    compiler.map { CrashedProgram(language: language, compiler: $0, options: "-w -g -pthread \(options)") }
  }

  /// One of 32 bits; nil where the compiler or its C library has none.
  static let narrow: CrashedProgram? = {
    guard let gcc = Toolbox.gcc, let folder = try? TemporaryFolder() else { return nil }
    // A compiler for another machine takes the place of the kernel's headers for 32 bits.
    let program = "printf '#include <sys/syscall.h>\nint main(void) { return 0; }\n'"
    let result = try? Tool.shell("\(program) | '\(gcc)' -m32 -x c - -o a && ./a", in: folder)
    guard result?.status == 0 else { return nil }
    return CrashedProgram(language: .c, compiler: gcc, options: "-w -g -pthread -m32 -O2")
  }()

  /// Whether the kernel leaves a core in the current directory of a program that crashes, and not to another program.
  static let canWriteCores: Bool = {
    guard let pattern = try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8),
      !pattern.hasPrefix("|"), !pattern.contains("/"), let folder = try? TemporaryFolder()
    else { return false }
    _ = try? Tool.shell("ulimit -c $(ulimit -H -c); sh -c 'kill -ABRT $$'", in: folder)
    return (try? folder.names().isEmpty) == false
  }()

  /// Makes `program` and, of each kind, `KIND/core` and `KIND/core.dmp`.
  func crash(in folder: TemporaryFolder) throws {
    let compile: String
    switch language {
    case .c:
      try folder.write(Array(CrashPrograms.library.utf8), to: "library.c")
      try folder.write(Array(CrashPrograms.c.utf8), to: "program.c")
      compile = """
        '\(compiler)' \(options) -O2 -fomit-frame-pointer -fPIC -shared library.c -o libvisit.so
        '\(compiler)' \(options) -std=gnu11 program.c -L. -lvisit '-Wl,-rpath,$ORIGIN' -o program
        """
    default:
      try folder.write(Array(CrashPrograms.cxx.utf8), to: "program.cc")
      compile = "'\(compiler)' \(options) -std=c++17 program.cc -o program"
    }
    let compiled = try Tool.shell("set -e\n\(compile)", in: folder)
    try #require(compiled.status == 0, "\(testDescription): \(compiled.errorText)")
    for kind in kinds {
      // Whatever name the kernel gave it, it is the only file there.
      let result = try Tool.shell(
        """
        mkdir '\(kind)' && cd '\(kind)' && { ../program \(kind); test "$(ls | wc -l)" = 1 && mv -n * core; }
        test -s core && crashpadctl convert core -o core.dmp
        """, in: folder)
      try #require(folder.exists("\(kind)/core.dmp"), "\(testDescription) \(kind): \(result.errorText)")
    }
  }
}

/// One stack, as one program walks it.
struct Stack {
  struct Frame {
    let pc: UInt64
    let isSignal: Bool
    /// As the symbols have it; nil where it is not known.
    let name: String?
    /// Whether gdb knows the function from debugging information, and not only a symbol of that address.
    var isDebugged = true
    var module: String?
  }
  var frames: [Frame] = []
  var end = ""

  /// The rest of a function's name when several of one function are made equal: `raise` and `gsignal`; `clone3`,
  /// `__clone3` and `__GI___clone3`; `pause` and `__libc_pause`; `__libc_start_main@GLIBC_2.2.5` and
  /// `__libc_start_main_impl`; `pthread_create` and `__pthread_create_2_1`; `give_up` and the part of it that gcc calls
  /// `give_up.cold`.
  static func plain(_ name: String) -> String {
    var name = name.prefix { $0 != "@" && $0 != "." }.drop { $0 == "_" }
    for prefix in ["GI_", "libc_"] where name.hasPrefix(prefix) {
      name = name.dropFirst(prefix.count).drop { $0 == "_" }
    }
    for suffix in ["_impl", "_2_1"] where name.hasSuffix(suffix) { name = name.dropLast(suffix.count) }
    return name == "gsignal" ? "raise" : String(name)
  }
}

/// The stacks of a core's threads, by the number of the thread.
enum Stacks {
  /// gdb reads the program and the libraries once, and one core after the other. What it makes up of inlined calls and
  /// tail calls has no stack of its own, and is left out.
  private static let script = """
    import gdb

    for name in NAMES:
        gdb.execute("core-file " + name, to_string=True)
        print("core " + name)
        state()
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            print("thread %d" % thread.ptid[1])
            frame = gdb.newest_frame()
            while frame is not None:
                kind = frame.type()
                if kind in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
                    function = frame.function()
                    name = function.linkage_name if function else frame.name()
                    if function and "(" in name:
                        # Made up of DWARF, where no linkage name stands: the symbol is what we have.
                        start = int(function.value().address)
                        name = gdb.execute("info symbol %d" % start, to_string=True).split(" ")[0]
                    print("frame %x %s %s %s" % (
                        frame.pc(), "signal" if kind == gdb.SIGTRAMP_FRAME else "normal",
                        "function" if function else "symbol", name or ""))
                try:
                    frame = frame.older()
                except gdb.error as error:
                    print("end %s" % error)
                    break

    """

  static let hasGDB: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    let result = try? Tool.shell("gdb --batch -nx -ex 'python print(6 * 7)'", in: folder)
    return result?.text.contains("42") == true
  }()

  /// - Parameter cores: names in the folder.
  static func gdb(_ cores: [String], in folder: TemporaryFolder) throws -> [String: [UInt64: Stack]] {
    try gdbOutput(cores, state: "def state():\n    pass\n", in: folder).stacks
  }

  /// The same frames are printed by gdb.
  ///
  /// - Parameter state: a Python function `state`, which is called once for each core. Its lines begin with `state`.
  static func gdbOutput(
    _ cores: [String], state: String, in folder: TemporaryFolder
  ) throws -> (stacks: [String: [UInt64: Stack]], lines: [Substring]) {
    let names = "NAMES = [\(cores.map { "'\($0)'" }.joined(separator: ", "))]\n"
    try folder.write(Array((names + state + script).utf8), to: "frames.py")
    let result = try Tool.shell(
      """
      gdb --batch -nx -iex 'set auto-load off' -iex 'set debuginfod enabled off' \
        -ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' -ex 'set print demangle off' \
        -ex 'set print asm-demangle off' -x frames.py program
      """, in: folder)
    var all: [String: [UInt64: Stack]] = [:]
    var (core, thread) = ("", UInt64(0))
    for line in result.outputLines {
      let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
      switch words.first {
      case "core": core = String(line.dropFirst(5))
      case "thread":
        thread = try #require(UInt64(words[1]))
        all[core, default: [:]][thread] = Stack()
      case "frame" where words.count == 5:
        let frame = Stack.Frame(
          pc: try #require(UInt64(words[1], radix: 16)), isSignal: words[2] == "signal",
          name: words[4].isEmpty ? nil : String(words[4]), isDebugged: words[3] == "function")
        all[core]?[thread]?.frames.append(frame)
      case "end": all[core]?[thread]?.end = String(line.dropFirst(4))
      default: break
      }
    }
    try #require(all.count == cores.count, "\(result.errorText)")
    return (all, result.outputLines)
  }

  /// - Parameters:
  ///   - dumps: names in the folder.
  ///   - store: a directory with all symbols that may be used.
  static func ours(
    _ dumps: [String], store: String? = nil, in folder: TemporaryFolder
  ) throws -> [String: [UInt64: Stack]] {
    let options = store.map { ["--no-system", "--symbols", $0] } ?? []
    let result = try Tool.run(
      ["symbolize", "--threads", "all", "--format", "json", "--frames", "all", "--no-demangle"] + options + dumps,
      in: folder)
    let documents = try result.outputLines.filter { !$0.isEmpty }.map { try JSONDocument(Data($0.utf8)) }
    try #require(documents.count == dumps.count, "\(result.errorText)")
    var all: [String: [UInt64: Stack]] = [:]
    for (name, document) in zip(dumps, documents) {
      for thread in document["threads"].array {
        let number = UInt64(try #require(thread["thread_id"].int))
        let frames = try thread["frames"].array.map { frame in
          Stack.Frame(
            pc: try #require(frame["instruction"].hex), isSignal: frame["signal_frame"].bool == true,
            name: frame["function"].string, module: frame["module"].string)
        }
        all[name, default: [:]][number] = Stack(frames: frames, end: thread["walk_end"].string ?? "")
      }
    }
    return all
  }
}
