// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

private let isPossible =
  HandlerLibrary.canBeBuilt
  && (try? Tool.shell(
    "command -v aarch64-linux-gnu-gcc qemu-aarch64 && echo '#include <stdlib.h>' | aarch64-linux-gnu-gcc -E - > /dev/null",
    in: TemporaryFolder()
  ).status) == 0

/// The handler on arm64, by Debian's compiler for it and qemu's user mode. The tool reads the dumps here.
@Suite("arm64", .enabled(if: isPossible, "no aarch64-linux-gnu-gcc, no qemu-aarch64 or no clang"))
struct Arm64Tests {
  private static let program = """
    #include <pthread.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static void *wait_for_ever(void *unused) { for (;;) pause(); return unused; }
    __attribute__((noinline)) int leaf(volatile int *place) { return *place + 1; }
    __attribute__((noinline)) int middle(long place) { return leaf((volatile int *)place) + 2; }
    static void handler(int number) { write(1, "handler\\n", 8); signal(number, SIG_DFL); raise(number); }
    int main(int count, char **words) {
      pthread_t thread;
      pthread_create(&thread, 0, wait_for_ever, 0);
      if (count > 2) signal(SIGSEGV, handler);
      if (strcmp(words[1], "abort") == 0) abort();
      return middle(16);
    }

    """

  /// The toolchain's clang with the headers and libraries of Debian's cross compiler.
  private static let build = #"""
    files=$(dirname "$(aarch64-linux-gnu-gcc -print-libgcc-file-name)")
    system=$(aarch64-linux-gnu-gcc -print-sysroot)/usr/aarch64-linux-gnu
    printf '#!/bin/sh\nexec %s --target=aarch64-linux-gnu -isystem %s/include -B%s -L%s -L%s/lib -fuse-ld=lld "$@"\n' \
      "$clang" "$system" "$files" "$files" "$system" > compiler
    chmod 755 compiler
    CC=$PWD/compiler "$SCRIPTS/handler-library" "$PWD/libcrashpad_handler.so"
    aarch64-linux-gnu-gcc -g -O1 -o program program.c -lpthread
    """#

  private static var scripts: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../scripts").standardizedFileURL
      .path
  }

  @Test("A crash leaves a dump with its stack, and the program ends as without the handler")
  func crashes() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.program.utf8), to: "program.c")
    let built = try Tool.shell(
      "set -e; SCRIPTS='\(Self.scripts)' clang='\(HandlerLibrary.compiler ?? "")'; \(Self.build)", in: folder)
    try #require(built.status == 0, "\(built.errorText)")
    for (words, title, functions, output) in [
      ("fault", "SIGSEGV / SEGV_MAPERR", ["leaf", "middle", "main"], ""),
      ("fault handled", "SIGSEGV / SEGV_MAPERR", ["leaf", "middle", "main"], "handler\n"),
      ("abort", "SIGABRT / SI_TKILL", ["main"], ""),
    ] {
      // Tests have an empty library of capstone, which qemu loads.
      let qemu = "env -u LD_LIBRARY_PATH qemu-aarch64 -L /usr/aarch64-linux-gnu"
      let plain = try Tool.shell("\(qemu) ./program \(words) 2>/dev/null; echo $?", in: folder)
      let result = try Tool.shell(
        """
        rm -rf db; crashpadctl database create -d db 2>/dev/null
        \(qemu) -E LD_PRELOAD=$PWD/libcrashpad_handler.so -E CRASHPAD_HANDLER_DATABASE=$PWD/db ./program \(words) 2>/dev/null; echo $?
        crashpadctl symbolize -f json --no-system -s . --database db --last > stack.json
        """, in: folder)
      #expect(result.text == plain.text && plain.text.hasPrefix(output), "\(words): \(result.text)")
      try #require(result.errorText.isEmpty, "\(words): \(result.errorText)")
      let document = try JSONSerialization.jsonObject(with: folder.bytes(of: "stack.json").data) as? [String: Any]
      let info = try #require(document?["crash_info"] as? [String: Any], "\(words)")
      #expect(info["type"] as? String == title, "\(words)")
      let crashed = try #require(document?["crashing_thread"] as? [String: Any], "\(words)")
      let frames = try #require(crashed["frames"] as? [[String: Any]])
      let own = frames.compactMap { $0["function"] as? String }.filter { ["leaf", "middle", "main"].contains($0) }
      #expect(own == functions, "\(words)")
    }
  }
}

extension [UInt8] {
  fileprivate var data: Data { Data(self) }
}
