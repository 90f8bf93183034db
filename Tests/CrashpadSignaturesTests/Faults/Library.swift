// SPDX-License-Identifier: Apache-2.0
// Faults of Swift to be captured; see README.md. The part of the set that rules were written against.
import Dispatch
import Glibc

nonisolated(unsafe) var zero = 0
nonisolated(unsafe) var sink = 0

struct Book {
  var title: String
  var year: Int
}

struct Missing: Error {}

class Medium {
  var loans: [Int] = []
  unowned var shelf: Shelf
  init(_ shelf: Shelf) { self.shelf = shelf }
  func place() -> Int { shelf.number }
}
final class Disc: Medium {}
final class Shelf {
  var number = 1
  var books: [Book] = [Book(title: "One", year: 1), Book(title: "Two", year: 2)]
  var byTitle: [String: Book] = [:]

  func book(_ index: Int) -> Book { books[index] }
  func titled(_ title: String) -> Book { byTitle[title]! }
  func load(_ name: String) throws -> Book {
    if name.count > zero { throw Missing() }
    return books[0]
  }
  func loadAll() -> Int { try! load("a").year }
  @inline(never) func age(of book: Book, in year: Int) -> UInt8 { UInt8(year - book.year) }
  @inline(never) func check(_ count: Int) {
    precondition(count > 10, "too few books")
    sink += count
  }
  @inline(never) func depth(_ level: Int) -> Int { depth(level + 1) + sink }
}

func makeMedium() -> Medium {
  let shelf = Shelf()
  return Medium(shelf)
}

@inline(never) func pastEnd() { sink += Shelf().book(2 + zero).year }
@inline(never) func noTitle() { sink += Shelf().titled("None").year }
@inline(never) func failedLoad() { sink += Shelf().loadAll() }
@inline(never) func tooOld() { sink += Int(Shelf().age(of: Book(title: "a", year: zero), in: 300)) }
@inline(never) func tooFew() { Shelf().check(zero) }
@inline(never) func goneShelf() { sink += makeMedium().place() }
@inline(never) func wrongMedium() { sink += (makeMedium() as! Disc).loans.count }
@inline(never) func endlessDepth() { sink += Shelf().depth(0) }
@inline(never) func inMap() { sink += [1, 2, 3].map { number in 6 / (number - 3 + zero) }.count }

let faults: [(String, @Sendable () -> Void)] = [
  ("past-end", pastEnd),
  ("no-title", noTitle),
  ("failed-load", failedLoad),
  ("too-old", tooOld),
  ("too-few", tooFew),
  ("gone-shelf", goneShelf),
  ("wrong-medium", wrongMedium),
  ("endless-depth", endlessDepth),
  ("in-map", inMap),
]

@inline(never) func lend(_ fault: @Sendable () -> Void, _ hops: Int) {
  if hops == 0 { fault() } else { lend(fault, hops - 1) }
  sink += 1
}

@main
struct Library {
  static func main() async {
    setvbuf(stdout, nil, _IONBF, 0)
    let chosen = faults.first { $0.0 == CommandLine.arguments[1] }!.1
    switch CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 0 {
    case 1:
      let queue = DispatchQueue(label: "loans")
      queue.async { chosen() }
      queue.sync {}
    case 2: lend(chosen, 3)
    case 3: await Task.detached { chosen() }.value
    default: chosen()
    }
    print(sink)
  }
}
