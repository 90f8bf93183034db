import CrashpadJSON
import CrashpadMeaning
import CrashpadText

/// Writes the schema crashpadctl-explain/1 of crashpadctl-json(5).
enum CodeJSON {
  static func write(_ answer: CodeAnswer, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-explain/1")
      json.member("query", answer.query)
      json.member("status", answer.isKnown ? (answer.readings.count == 1 ? "known" : "ambiguous") : "unknown")
      json.objects("readings", answer.readings, write)
      json.object("unknown", of: answer.unknown) { unknown, json in
        json.member("reason", unknown.reason)
        json.member("owner", unknown.owner?.name)
        json.member("collect", unknown.collect)
        json.member("suggestions", unknown.suggestions)
      }
    }
  }

  private static func write(_ reading: CodeReading, to json: inout JSONWriter) {
    json.member("title", reading.title)
    json.member("query", reading.query)
    json.member("kind", reading.rows.first?.kind.rawValue)
    json.member("name", reading.rows.first?.name)
    json.member("code", reading.rows.first?.number.map(Wording.hex))
    json.objects("facts", reading.facts) { fact, json in
      json.member("label", fact.label)
      json.member("text", fact.text)
    }
    json.member("meaning", reading.event)
    json.member("ended_by", reading.endedBy)
    json.member("causes", reading.causes)
    json.member("advice", reading.advice)
    json.member("misconceptions", reading.myths)
    json.member("sources", reading.sources)
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
      json.objects("codes", MeaningTable.all) { row, json in
        json.member("query", row.query)
        json.member("kind", row.kind.rawValue)
        json.member("context", row.context)
        json.member("name", row.name)
        json.objects("numbers", row.numbers) { number, json in
          json.member("code", Wording.hex(number.value))
          json.member("platform", number.platform.rawValue)
        }
        json.member("meaning", row.event)
        json.member("source", row.source.text)
      }
    }
  }
}
