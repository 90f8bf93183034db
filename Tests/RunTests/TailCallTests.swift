// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

private let hasGCC = (try? Tool.shell("command -v gcc", in: TemporaryFolder()).status) == 0

/// Functions that end with a jump have no frame: debug information says which they were.
@Suite(
  "Functions that ended with a jump",
  .enabled(if: HandlerLibrary.canBeBuilt && hasGCC, "clang or gcc is not installed"))
struct TailCallTests {
  /// The first word says which fault it is.
  private static let source = """
    #include <stdlib.h>
    volatile int sink;
    #define APART __attribute__((noinline, noclone))
    APART static void release(void *p) { sink += 1; free(p); }
    APART void drop_cart(void *p) { sink += 2; release(p); }
    APART void drop_order(void *p) { sink += 3; release(p); }
    APART void one_of_two(void *p) { sink += 4; if (sink > 100) release(p); else drop_cart(p); }
    APART void cart(void *p) { drop_cart(p); sink += 5; }
    APART void order(void *p) { drop_order(p); sink += 6; }
    APART void either(void *p) { one_of_two(p); sink += 7; }
    int main(int count, char **words) {
      void *volatile bad = (void *)0x1234560;
      if (count > 1 && words[1][0] == 'c') cart(bad);
      if (count > 1 && words[1][0] == 'o') order(bad);
      if (count > 1 && words[1][0] == 'e') either(bad);
      return sink;
    }
    """

  private static func crashes(_ folder: TemporaryFolder) throws {
    try folder.write(Array(source.utf8), to: "program.c")
    let result = try RunTests.shell(
      """
      gcc -g -O2 -Wl,--build-id program.c -o program
      for fault in cart order either; do handled ./program $fault; mv db/p*/* $fault.idump; done
      """, in: folder)
    try #require(folder.exists("either.idump"), "\(result.errorText)")
  }

  @Test func `They stand in the stack, and those that are only concluded are marked`() throws {
    let folder = try TemporaryFolder()
    try Self.crashes(folder)
    let document = try JSONDocument(
      Tool.shell("crashpadctl symbolize --format json cart.idump", in: folder).output)
    let frame = try #require(
      document["threads"].array.first?["frames"].array.first { $0["function"].string == "cart" })
    let calls = frame["tail_calls"].array
    #expect(calls.map { $0["function"].string } == ["release", "drop_cart"])
    #expect(calls.allSatisfy { $0["inlined"].bool == false && $0["inferred"].bool == false })
    let text = try Tool.shell("crashpadctl symbolize cart.idump", in: folder).text
    let lines = text.split(separator: "\n").filter { $0.contains("tail call") }
    #expect(lines.count == 2 && lines[0].contains("release") && lines[1].contains("drop_cart"), "\(text)")
  }

  @Test func `A function that has another name in the symbols is none, whatever jumps it has`() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Array(
        """
        #define APART __attribute__((noinline, noclone))
        volatile int sink;
        APART int audit(int number) { return sink + number; }
        APART int turn(int *gear, int depth) {
          if (depth > 9) return audit(depth);
          return sink + *gear;
        }
        extern int a_turn(int *gear, int depth) __attribute__((alias("turn")));
        int main(int count, char **words) {
          (void)words;
          return turn((int *)(long)(count - 1), count) + 1;
        }
        """.utf8), to: "program.c")
    let result = try RunTests.shell(
      "gcc -g -O2 -Wl,--build-id program.c -o program; handled ./program; crashpadctl symbolize db/p*/*; crashpadctl group db",
      in: folder)
    let details: Comment = "\(result.text)\(result.errorText)"
    #expect(result.text.contains("turn + ") && result.text.contains("main + "), details)
    #expect(!result.text.contains("tail call") && !result.text.contains("audit"), details)
  }

  @Test func `No way is taken where there are two`() throws {
    let folder = try TemporaryFolder()
    try Self.crashes(folder)
    let document = try JSONDocument(
      Tool.shell("crashpadctl symbolize --format json either.idump", in: folder).output)
    let frame = try #require(
      document["threads"].array.first?["frames"].array.first { $0["function"].string == "either" })
    #expect(frame["tail_calls"].array.map { $0["function"].string } == ["one_of_two"])
  }

  @Test func `A function of another file that ended with a jump stands in the stack, too`() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Array(
        """
        #include <stdlib.h>
        extern volatile int sink;
        void release(void *p) { sink += 1; free(p); }
        """.utf8), to: "release.c")
    try folder.write(
      Array(
        """
        void release(void *);
        volatile int sink;
        static __attribute__((noinline)) void drop(void *p) { sink += 2; release(p); }
        void __attribute__((noinline)) cart(void *p) { drop(p); sink += 3; }
        void __attribute__((noinline)) order(void *p) { release(p); sink += 4; }
        int main(int count, char **words) {
          void *volatile bad = (void *)0x1234560;
          if (words[1][0] == 'c') cart(bad); else order(bad);
          return sink + count;
        }
        """.utf8), to: "main.c")
    let result = try RunTests.shell(
      """
      gcc -g -O2 -Wl,--build-id main.c release.c -o program
      for fault in cart order; do handled ./program $fault; mv db/p*/* $fault.idump; done
      """, in: folder)
    try #require(folder.exists("order.idump"), "\(result.errorText)")
    for (fault, names) in [("cart", ["release", "drop"]), ("order", ["release"])] {
      let document = try JSONDocument(
        Tool.shell("crashpadctl symbolize --format json \(fault).idump", in: folder).output)
      let frame = document["threads"].array.first?["frames"].array.first { $0["function"].string == fault }
      #expect(frame?["tail_calls"].array.map { $0["function"].string } == names, "\(fault)")
    }
    let groups = try Tool.shell("crashpadctl group --format json cart.idump order.idump", in: folder)
    #expect(try JSONDocument(groups.output)["groups"].array.count == 1, "\(groups.text)")
  }

  @Test func `Signatures have them, and dumps without symbols join by what they have in common`() throws {
    let folder = try TemporaryFolder()
    try Self.crashes(folder)
    let groups = try Tool.shell(
      """
      crashpadctl group --partial cart.json cart.idump && crashpadctl group --format json cart.idump order.idump
      """, in: folder)
    let named = try JSONDocument(groups.output)["groups"].array
    #expect(named.count == 1 && named.first?["text"].string?.hasSuffix(" · release") == true, "\(groups.text)")
    let joined = try RunTests.shell(
      """
      handled ./program cart; mv db/p*/* again.idump; strip program; crashpadctl group --partial again.json again.idump
      crashpadctl group --merge again.json cart.json | tail -n 1
      crashpadctl group --merge --join raw again.json cart.json | tail -n 1
      """, in: folder)
    #expect(joined.text == "2 crashes in 2 groups\n2 crashes in 1 group\n", "\(joined.errorText)")
  }
}
