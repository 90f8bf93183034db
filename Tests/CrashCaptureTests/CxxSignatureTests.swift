// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Signatures of programs in C++ whose functions have names of the library, or none.
struct CxxSignatureTests {
  /// Lambdas of one function, of one line, and of no function: a compiler gives names to few of them.
  private static let lambdas = """
    #include <cstdlib>
    #include <functional>
    #include <thread>
    #include <vector>
    static volatile int sink;
    static int *volatile missing;
    struct entry { const char *name; void (*run)(); };
    static entry table[] = {
      {"one", [] { sink = *missing; }}, {"two", [] { sink = *missing * 3; sink = 2; }},
    };
    __attribute__((noinline)) static void addTimers(std::vector<std::function<void()>> &timers) {
      timers.push_back([] { sink = *missing; }); timers.push_back([] { sink = *missing + 1; sink = 3; });
      timers.push_back([] { sink = *missing + 7; sink = 5; });
    }
    __attribute__((noinline)) static void startThread(int mode) {
      if (mode) { std::thread thread([] { sink = *missing; sink = 9; }); thread.join(); } else { std::thread thread([] { sink = *missing + 4; }); thread.join(); }
    }
    int main(int, char **arguments) {
      int which = std::atoi(arguments[1]);
      std::vector<std::function<void()>> timers;
      addTimers(timers);
      if (which < 2) table[which].run(); else if (which < 5) timers[which - 2](); else startThread(which - 5);
      return sink;
    }
    """

  private static let script = """
    COMPILER -std=c++17 -pthread OPTIONS -o program program.cc || exit 1
    for which in 0 1 2 3 4 5 6; do
      crashpadctl run -q -d db$which --handler-library '%@' ./program $which 2>/dev/null
      crashpadctl group --format csv -s program db$which/pending-serialized-ios-dump/* | tail -n 1 | cut -d , -f 1,12
    done
    """

  @Test(arguments: ["g++", "clang++"], ["-g -O0", "-g -O1", "-O1", "-g -O2"])
  func `Each lambda has a signature of its own`(_ compiler: String, _ options: String) throws {
    guard let path = ServerTests.path(of: compiler) else { return }
    let folder = try TemporaryFolder()
    try Data(Self.lambdas.utf8).write(to: folder.url("program.cc"))
    let script = Self.script.replacing("COMPILER", with: "'\(path)'").replacing("OPTIONS", with: options)
    let outcome = try Tool.shell(script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    let lines = outcome.text.split(separator: "\n")
    let details: Comment = "\(compiler) \(options): \(outcome.text)\(outcome.errorText)"
    #expect(lines.count == 7, details)
    #expect(Set(lines.compactMap { $0.split(separator: ",").first }).count == 7, details)
    // The numbers of lines and ranks are the same for all compilers.
    guard options.contains("-g") else { return }
    for name in ["addTimers::λ+1", "addTimers::λ+1.2", "addTimers::λ+2", "startThread::λ+1", "startThread::λ+1.2"] {
      #expect(lines.contains { $0.hasSuffix(name) }, details)
    }
  }

  /// A fault in the program's own hash, which lies in the library's namespace, by two ways.
  private static let hash = """
    #include <cstdlib>
    #include <unordered_map>
    struct key { int *value; };
    template <> struct std::hash<key> {
      __attribute__((noinline)) std::size_t operator()(const key &key) const { return (std::size_t)*key.value; }
    };
    inline bool operator==(const key &one, const key &other) { return one.value == other.value; }
    static std::unordered_map<key, int> known;
    __attribute__((noinline)) static int store(int value) { known[key{nullptr}] = value; return value + 1; }
    __attribute__((noinline)) static int look(int value) { return (int)known.count(key{nullptr}) + value; }
    int main(int count, char **arguments) {
      int value = 3;
      known[key{&value}] = 4;
      return (count > 1 && std::atoi(arguments[1]) > 0 ? store(count) : look(count)) * 2;
    }
    """

  @Test(.enabled(if: ServerTests.path(of: "g++") != nil, "g++ is not installed"), arguments: ["-g -O0", "-g -O1"])
  func `A function of the program in the library's namespace is the program's`(_ options: String) throws {
    let folder = try TemporaryFolder()
    try Data(Self.hash.utf8).write(to: folder.url("program.cc"))
    let script = Self.script.replacing("COMPILER", with: "g++").replacing("OPTIONS", with: options)
      .replacing("0 1 2 3 4 5 6", with: "0 1")
    let outcome = try Tool.shell(script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    let lines = outcome.text.split(separator: "\n")
    let details: Comment = "\(options): \(outcome.text)\(outcome.errorText)"
    #expect(lines.count == 2 && lines.first == lines.last, details)
    #expect(lines.allSatisfy { $0.contains("std::hash<T>::operator()") }, details)
  }
}
