import CrashpadJSON
import CrashpadMeaning

/// Writes the schema crashpadctl-explain/1 of crashpadctl-json(5).
enum CodeJSON {
  static func write(_ answer: CodeAnswer, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-explain/1")
      json.member("query", answer.query)
      json.member("status", answer.isKnown ? (answer.readings.count == 1 ? "known" : "ambiguous") : "unknown")
      json.array("readings") { json in for reading in answer.readings { write(reading, to: &json) } }
      json.key("unknown")
      guard let unknown = answer.unknown else { return json.null() }
      json.object { json in
        json.member("reason", unknown.reason)
        json.member("owner", unknown.owner?.name)
        write("collect", unknown.collect, to: &json)
        write("suggestions", unknown.suggestions, to: &json)
      }
    }
  }

  private static func write(_ reading: CodeReading, to json: inout JSONWriter) {
    json.object { json in
      json.member("title", reading.title)
      json.member("query", reading.query)
      json.member("kind", reading.rows.first?.kind.rawValue)
      json.member("name", reading.rows.first?.name)
      json.member("code", reading.rows.first?.number.map(Wording.hex))
      json.array("facts") { json in
        for fact in reading.facts {
          json.object { json in
            json.member("label", fact.label)
            json.member("text", fact.text)
          }
        }
      }
      json.member("meaning", reading.event)
      json.member("ended_by", reading.endedBy)
      write("causes", reading.causes, to: &json)
      write("advice", reading.advice, to: &json)
      write("misconceptions", reading.myths, to: &json)
      write("sources", reading.sources, to: &json)
    }
  }

  private static func write(_ key: String, _ texts: [String], to json: inout JSONWriter) {
    json.array(key) { json in for text in texts { json.string(text) } }
  }
}

/// The output of `--list`.
enum CodeList {
  static func text(_ style: TextStyle) -> String {
    var table = TextTable([("code", .left), ("name", .left), ("meaning", .left)])
    table.elastic = ["code": .head, "name": .head, "meaning": .head]
    table.droppable = ["name"]
    for row in MeaningTable.all {
      let isNamed = row.query.uppercased().hasSuffix(row.name.uppercased())
      table.add([row.query, isNamed ? "" : row.name, row.event])
    }
    return table.text(style)
  }

  static func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-codes/1")
      json.array("codes") { json in
        for row in MeaningTable.all { write(row, to: &json) }
      }
    }
  }

  private static func write(_ row: CodeMeaning, to json: inout JSONWriter) {
    json.object { json in
      json.member("query", row.query)
      json.member("kind", row.kind.rawValue)
      json.member("context", row.context)
      json.member("name", row.name)
      json.array("numbers") { json in
        for number in row.numbers {
          json.object { json in
            json.member("code", Wording.hex(number.value))
            json.member("platform", number.platform.rawValue)
          }
        }
      }
      json.member("meaning", row.event)
      json.member("source", row.source.text)
    }
  }
}
