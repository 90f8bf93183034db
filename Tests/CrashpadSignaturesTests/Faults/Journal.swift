// SPDX-License-Identifier: Apache-2.0
// Faults of Swift to be captured; see README.md. This part of the set is held out: no rule was written against it.
import Dispatch
import Glibc

nonisolated(unsafe) var zero = 0
nonisolated(unsafe) var sink = 0

protocol Entry {
  var words: [String] { get }
  func score(_ weight: Int) -> Int
}

struct Note: Entry {
  var words: [String]
  func score(_ weight: Int) -> Int { words.count / weight }
}

struct Draft: Entry {
  var words: [String] { [] }
  func score(_ weight: Int) -> Int { fatalError("a draft has no score") }
}

struct Page<Content> {
  var contents: [Content]
  subscript(number: Int) -> Content { contents[contents.count - number - 1] }
  @inline(never) func first() -> Content { contents.first! }
}

final class Journal {
  var entries: [any Entry] = []
  lazy var longest: Int = entries.map(\.words.count).max()!
  @inline(never) func average() -> Int { entries.reduce(0) { $0 + $1.score(zero) } }
  @inline(never) func letter(_ text: String, _ index: Int) -> Character {
    text[text.index(text.startIndex, offsetBy: index)]
  }
  @inline(never) func chapter(_ from: Int, _ to: Int) -> ArraySlice<String> { ["a", "b", "c"][from..<to] }
  @inline(never) func rounded(_ value: Double) -> Int { Int(value / Double(zero)) }
  func name(_ any: Any) -> String { any as! String }
  @inline(never) func raw(_ place: UInt) -> Int { UnsafePointer<Int>(bitPattern: place)!.pointee }
}

@inline(never) func noEntries() { sink += Journal().longest }
@inline(never) func zeroWeight() {
  let journal = Journal()
  journal.entries = [Note(words: ["a"])]
  sink += journal.average()
}
@inline(never) func draftScore() {
  let journal = Journal()
  journal.entries = [Draft()]
  sink += journal.average()
}
@inline(never) func pastPage() { sink += Page(contents: [1, 2])[5 + zero] }
@inline(never) func emptyPage() { sink += Page<Int>(contents: []).first() }
@inline(never) func pastLetter() { sink += Journal().letter("ab", 4 + zero).utf8.count }
@inline(never) func pastChapter() { sink += Journal().chapter(2, 9 + zero).count }
@inline(never) func endlessNumber() { sink += Journal().rounded(1) }
@inline(never) func wrongName() { sink += Journal().name(5 + zero).utf8.count }
@inline(never) func badPlace() { sink += Journal().raw(0x70_0000_0008) }

let faults: [(String, @Sendable () -> Void)] = [
  ("no-entries", noEntries),
  ("zero-weight", zeroWeight),
  ("draft-score", draftScore),
  ("past-page", pastPage),
  ("empty-page", emptyPage),
  ("past-letter", pastLetter),
  ("past-chapter", pastChapter),
  ("endless-number", endlessNumber),
  ("wrong-name", wrongName),
  ("bad-place", badPlace),
]

@main
struct Main {
  @inline(never) static func open(_ fault: @Sendable () -> Void) {
    fault()
    sink += 1
  }

  static func main() async {
    let chosen = faults.first { $0.0 == CommandLine.arguments[1] }!.1
    switch CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 0 {
    case 1:
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) { chosen() }
      group.wait()
    case 2: open(chosen)
    case 3: await withTaskGroup(of: Void.self) { group in group.addTask { chosen() } }
    default: chosen()
    }
    print(sink)
  }
}
