// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import Testing

struct MeaningTableTests {
  @Test func `Each row has a source, and says who ends the process and what to do`() {
    for row in MeaningTable.all {
      let reading = CodeReading(row)
      #expect(!row.source.text.isEmpty, "\(row.query)")
      #expect(!row.event.isEmpty && !row.event.hasSuffix("."), "\(row.query)")
      #expect(!reading.endedBy.isEmpty, "\(row.query)")
      #expect(!reading.advice.isEmpty, "\(row.query)")
      for text in reading.causes + reading.advice + reading.myths {
        #expect(text.hasSuffix("."), "\(row.query): \(text)")
      }
    }
  }

  @Test func `Each row is found by the words that it names for itself, in any case`() {
    for row in MeaningTable.all {
      for words in [row.query.split(separator: " ").map(String.init), [row.query.lowercased()]] {
        let answers = CodeAnswer.answers(to: words)
        let readings = answers.flatMap(\.readings)
        #expect(
          answers.count == 1 && readings.contains { $0.rows.first == row }, "\(row.query): \(readings.map(\.title))")
      }
    }
  }

  @Test func `Each reading is chosen by the words that it names for itself`() {
    for number in 0..<256 {
      for reading in CodeAnswer.answers(to: ["\(number)"]).flatMap(\.readings) {
        let chosen = CodeAnswer.answers(to: reading.query.split(separator: " ").map(String.init))
        #expect(
          chosen.flatMap(\.readings).contains { $0.rows.first == reading.rows.first }, "\(number): \(reading.query)")
      }
    }
  }

  @Test func `No two rows have the same words`() {
    let queries = MeaningTable.all.map(\.query)
    #expect(queries.count > 400)
    for (query, rows) in Dictionary(grouping: queries, by: \.self) where rows.count > 1 {
      Issue.record("\(query) is there \(rows.count) times")
    }
  }

  @Test(arguments: [
    ("-[NSObject(NSObject) doesNotRecognizeSelector:]", "doesNotRecognizeSelector:"),
    ("core::panicking::panic_fmt", "rust_begin_unwind"), ("_objc_exception_throw", "objc_exception_throw"),
    ("$ss17_assertionFailure__4file4line5flagss5NeverOs12StaticStringV_SSAHSus6UInt32VtF", "_assertionFailure"),
    ("mymalloc_report", nil), ("malloc_reporter", nil), ("MyNSAssertionHandlerProxy", nil), ("__stack_chk_failed", nil),
  ])
  func `A function is found in a longer name, but not in a word that only contains it`(name: String, row: String?) {
    #expect(EvidenceSearch.all.function(name)?.name == row)
  }

  @Test func `The 31 signals of Linux and of Darwin are known by their numbers`() {
    for number in UInt64(1)...31 {
      let readings = CodeAnswer.answers(to: ["signal", "\(number)"]).flatMap(\.readings)
      #expect(readings.count == 1 || readings.count == 2, "\(number)")
    }
  }
}
