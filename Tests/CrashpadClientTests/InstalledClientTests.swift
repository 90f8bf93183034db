// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs outside of the package, in three languages, that find the installed client by pkg-config and by CMake.
@Suite(
  "The installed client", .enabled(if: InstalledClient.canBeBuilt, "binutils or the compilers are not installed"))
struct InstalledClientTests {
  private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "Examples").path
  typealias Link = InstalledClient.Link

  enum Language: String, CaseIterable { case c, cxx, swift }

  private static func run(_ program: ClientProgram, _ command: String) throws -> Tool.Outcome {
    try Tool.shell("ulimit -c 0; SWIFT_BACKTRACE=enable=no exec \(command)", in: program.folder)
  }

  /// The first run crashes and leaves a whole dump; the second one makes a report of it.
  private static func check(_ program: ClientProgram, _ language: Language) throws {
    let crash = try run(program, "./example db crash")
    #expect(crash.status == (language == .cxx ? 134 : 139), "\(crash.text)\(crash.errorText)")
    let file = try #require(try program.pendingDumpFiles().first)
    let dump = try DumpFacts(file)
    #expect(dump.isComplete)
    let path =
      switch language {
      case .c: "/index.html"
      case .cxx: "/from/c++"
      case .swift: "/from/swift"
      }
    #expect(dump.object("path") == path)
    if language == .cxx {
      #expect(dump.messages.contains { $0.contains("nobody catches this") }, "\(dump.messages)")
      // A function of the client in between would be blamed.
      let text = try Tool.run(["explain", file.path], in: program.folder).text
      #expect(text.contains("A C++ exception was not caught"), "\(text)")
    }
    if language == .c {
      #expect(try run(program, "./example db report").status == 0)
      #expect(try program.reports(in: "pending").count == 2)
    }
  }

  @Test(
    "pkg-config: C, C++ and Swift, shared and from the archive",
    .enabled(if: InstalledClient.has("pkg-config"), "pkg-config is not installed"),
    arguments: Soak.some(3, of: Link.allCases.flatMap { link in Language.allCases.map { (link, $0) } }))
  func pkgConfig(_ link: Link, _ language: Language) throws {
    let program = try ClientProgram()
    let libraries = try InstalledClient.prefix().appending(path: "lib").path
    let options = "$(pkg-config --cflags --libs \(link.name))"
    let command =
      switch language {
      case .c: "cc -std=c99 -Wall -Wextra -Werror '\(Self.examples)/example.c' \(options) -Wl,-rpath,\"$LIBRARIES\""
      case .cxx:
        "c++ -std=c++17 -Wall -Wextra -Werror '\(Self.examples)/example.cpp' \(options) -Wl,-rpath,\"$LIBRARIES\""
      case .swift: "swiftc '\(Self.examples)/example.swift' \(options) -Xlinker -rpath -Xlinker \"$LIBRARIES\""
      }
    let result = try InstalledClient.shell(
      "LIBRARIES='\(libraries)'; export PKG_CONFIG_PATH=\"$LIBRARIES/pkgconfig\"\n\(command) -o example",
      in: program.folder)
    try #require(result.status == 0, "\(result.text)\(result.errorText)")
    try Self.check(program, language)
    if link == .archive {
      let libraries = try Tool.shell("ldd ./example", in: program.folder).text
      #expect(!libraries.contains("crashpad"), "\(libraries)")
    }
  }

  @Test("A dump without a crash blames the function that asks for it", arguments: Link.allCases)
  func caller(_ link: Link) throws {
    let program = try ClientProgram()
    let source = """
      #include "crashpad_client.h"
      __attribute__((noinline)) static int ask_for_dump(void) { return crashpad_dump_without_crash() + 1; }
      int main(void) { return crashpad_start("db", 0, "app", 0, 0, 0) != 0 || ask_for_dump() != 1; }
      """
    try program.folder.write(Array(source.utf8), to: "program.c")
    let result = try InstalledClient.shell(
      "cc -g -O1 program.c -o program \(try InstalledClient.options(link)) && ./program", in: program.folder)
    try #require(result.status == 0, "\(result.errorText)")
    let report = try #require(try program.reports(in: "pending").first)
    let text = try Tool.run(["symbolize", report.path], in: program.folder).text
    #expect(text.contains(#/\n>0 +ask_for_dump/#), "\(text)")
  }

  @Test(
    "CMake: C and C++, shared and from the archive",
    .enabled(if: InstalledClient.has("cmake"), "cmake is not installed"),
    arguments: Soak.some(2, of: Link.allCases.flatMap { link in [Language.c, .cxx].map { (link, $0) } }))
  func cmake(_ link: Link, _ language: Language) throws {
    let program = try ClientProgram()
    let (name, source) = language == .c ? ("C", "example.c") : ("CXX", "example.cpp")
    let lists = """
      cmake_minimum_required(VERSION 3.16)
      project(example LANGUAGES \(name))
      find_package(CrashpadClient 0.1 REQUIRED)
      add_executable(example \(Self.examples)/\(source))
      target_link_libraries(example PRIVATE CrashpadClient::\(link.name))
      """
    try program.folder.write(Array(lists.utf8), to: "source/CMakeLists.txt")
    let result = try InstalledClient.shell(
      """
      cmake -S source -B build -DCMAKE_PREFIX_PATH='\(try InstalledClient.prefix().path)' &&
        cmake --build build && cp build/example example
      """, in: program.folder)
    try #require(result.status == 0, "\(result.text)\(result.errorText)")
    try Self.check(program, language)
  }

  @Test(
    "CMake refuses another version", .enabled(if: InstalledClient.has("cmake"), "cmake is not installed"),
    arguments: [("0.1", true), ("0.1.0", true), ("0", true), ("0.2", false), ("1.0", false), ("0.1.99", false)])
  func version(_ wanted: String, isThere: Bool) throws {
    let program = try ClientProgram()
    let lists = """
      cmake_minimum_required(VERSION 3.16)
      project(example LANGUAGES NONE)
      find_package(CrashpadClient \(wanted) REQUIRED)
      """
    try program.folder.write(Array(lists.utf8), to: "source/CMakeLists.txt")
    let result = try InstalledClient.shell(
      "cmake -S source -B build -DCMAKE_PREFIX_PATH='\(try InstalledClient.prefix().path)'", in: program.folder)
    #expect((result.status == 0) == isThere, "\(result.text)\(result.errorText)")
  }

  @Test(
    "Sanitizers find nothing in a program with the client, and leave its crash to it",
    .enabled(if: InstalledClient.has("gcc"), "gcc is not installed"),
    arguments: Soak.some(
      3, of: Link.allCases.flatMap { link in ["address", "thread", "undefined"].map { (link, $0) } }))
  func sanitizer(_ link: Link, _ kind: String) throws {
    let program = try ClientProgram()
    let options = try InstalledClient.options(link)
    let result = try InstalledClient.shell(
      "gcc -fsanitize=\(kind) '\(Self.examples)/example.c' -o example \(options)", in: program.folder)
    try #require(result.status == 0, "\(result.errorText)")
    let report = try Self.run(program, "./example db report")
    #expect(report.status == 0 && report.errorText.isEmpty, "\(report.text)\(report.errorText)")
    #expect(try Self.run(program, "./example db crash").status != 0)
    #expect(try DumpFacts(#require(try program.pendingDumpFiles().first)).isComplete)
  }

  @Test("The libraries need libc and libm alone, and show no names but their own and those that precede libc's")
  func names() throws {
    let prefix = try InstalledClient.prefix().path
    let folder = try TemporaryFolder()
    let needed = try InstalledClient.shell(
      "readelf --dynamic '\(prefix)/lib/libcrashpad_client.so' | grep NEEDED", in: folder
    ).text
    let allowed = ["libc.so", "libm.so", "libgcc_s.so", "ld-linux"]
    for line in needed.split(separator: "\n") { #expect(allowed.contains { line.contains($0) }, "\(line)") }
    let shown = try InstalledClient.shell(
      """
      nm --dynamic --defined-only --format=just-symbols '\(prefix)/lib/libcrashpad_client.so' | sort >shared
      nm --defined-only --extern-only --format=just-symbols '\(prefix)/lib/libcrashpad_client.a' | grep . |
        grep -v -e ':$' -e '^crashpad_unique_' | sort >archive
      diff shared archive && cat shared
      """, in: folder)
    try #require(shown.status == 0, "\(shown.text)")
    let names = Set(shown.text.split(separator: "\n").map(String.init))
    for name in ["crashpad_start", "sigaction", "pthread_create", "siglongjmp", "sigsuspend", "abort", "setuid"] {
      #expect(names.contains(name), "\(name)")
    }
    #expect(!names.contains { $0.hasPrefix("swift_") || $0.hasPrefix("_ZN") || $0.hasPrefix("$s") })
  }
}
