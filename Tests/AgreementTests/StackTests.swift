// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolRunner

/// Crashes of this machine, walked here and by gdb.
@Suite(
  "Stacks of real crashes are gdb's",
  .enabled(if: Stacks.hasGDB, "gdb, or its Python, is not installed"),
  .enabled(if: CrashedProgram.canWriteCores, "the kernel writes no cores into the current directory here"))
struct StackTests {
  @Test(
    "Every frame of every thread, from the core and from the minidump made of it",
    arguments: Soak.some(2, of: CrashedProgram.all))
  func frames(_ program: CrashedProgram) throws { try compareFrames(program) }

  @Test(
    "The same of a program with addresses of 32 bits; gdb may stop in code without rules",
    .enabled(if: CrashedProgram.narrow != nil, "gcc -m32, or its C library, is not installed"))
  func narrowFrames() throws {
    try compareFrames(try #require(CrashedProgram.narrow), mayBeLonger: true)
  }

  private func compareFrames(_ program: CrashedProgram, mayBeLonger: Bool = false) throws {
    let folder = try TemporaryFolder()
    try program.crash(in: folder)
    let kinds = program.kinds
    let expected = try Stacks.gdb(kinds.map { "\($0)/core" }, in: folder)
    let actual = try Stacks.ours(kinds.flatMap { ["\($0)/core", "\($0)/core.dmp"] }, in: folder)
    for kind in kinds {
      let theirs = try #require(expected["\(kind)/core"])
      #expect(theirs.count == Self.threadCount(kind), "\(kind)")
      if kind == "deep" { #expect(theirs.values.contains { $0.frames.count > 1000 }) }
      for suffix in ["", ".dmp"] {
        let name = "\(kind)/core\(suffix)"
        let ours = try #require(actual[name])
        #expect(Set(ours.keys) == Set(theirs.keys), "\(name)")
        for (thread, stack) in theirs {
          var our = try #require(ours[thread])
          if mayBeLonger { our.frames = Array(our.frames.prefix(stack.frames.count)) }
          let difference = Self.difference(ours: our, gdb: stack)
          #expect(difference == nil, "\(name), thread \(thread): \(difference ?? "")")
        }
      }
    }
  }

  private static let withGCC = CrashedProgram.all.first { $0.language == .c }

  @Test(
    "Symbol files made of the programs lead from minidumps to the same frames",
    .enabled(if: withGCC != nil, "no C compiler is installed"))
  func symbolFiles() throws {
    let folder = try TemporaryFolder()
    let program = try #require(Self.withGCC)
    try program.crash(in: folder)
    let dump = try Tool.shell(
      """
      libraries=$(ldd ./program | grep -o '/[^ ]*')
      crashpadctl symbols dump -q --no-demangle --no-inlines -o store program $libraries
      """, in: folder)
    try #require(dump.status == 0, "\(dump.errorText)")
    let kinds = program.kinds
    let expected = try Stacks.gdb(kinds.map { "\($0)/core" }, in: folder)
    let actual = try Stacks.ours(kinds.map { "\($0)/core.dmp" }, store: "store", in: folder)
    for kind in kinds {
      for (thread, stack) in try #require(expected["\(kind)/core"]) {
        let ours = try #require(actual["\(kind)/core.dmp"]?[thread])
        #expect(ours.frames.map(\.pc) == stack.frames.map(\.pc), "\(kind), thread \(thread): \(ours.end)")
        #if arch(x86_64)
          // Elsewhere the text does not say which frames those are.
          #expect(ours.frames.map(\.isSignal) == stack.frames.map(\.isSignal), "\(kind), thread \(thread)")
        #endif
      }
    }
  }

  private static func threadCount(_ kind: String) -> Int {
    if CrashPrograms.cKinds.contains(kind) { return kind == "thread" ? 9 : 8 }
    return kind == "uncaught" ? 2 : 1
  }

  /// The first difference, in words.
  private static func difference(ours: Stack, gdb: Stack) -> String? {
    func text(_ frame: Stack.Frame) -> String { "\(String(frame.pc, radix: 16)) \(frame.name ?? "??")" }
    for (index, (our, their)) in zip(ours.frames, gdb.frames).enumerated() {
      if our.pc == their.pc, our.isSignal == their.isSignal, hasSameName(our, their) { continue }
      return "frame \(index): \(text(our)); gdb: \(text(their))"
    }
    if ours.frames.count == gdb.frames.count { return nil }
    return """
      \(ours.frames.count) frames up to \(ours.frames.last.map(text) ?? "none") (\(ours.end)); \
      gdb: \(gdb.frames.count) up to \(gdb.frames.last.map(text) ?? "none") (\(gdb.end))
      """
  }

  /// Libraries without debugging information have several symbols for one address, and for addresses between symbols
  /// the nearest: their names are left out, and so is the trampoline's, which the kernel returns to.
  private static func hasSameName(_ our: Stack.Frame, _ their: Stack.Frame) -> Bool {
    guard let name = their.name, !their.isSignal else { return true }
    guard their.isDebugged || our.module == "program" || our.module == "libvisit.so" else { return true }
    return our.name.map(Stack.plain) == Stack.plain(name)
  }
}
