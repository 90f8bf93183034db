// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Paths in JSON documents are bytes: beside the text of each stands a member with its bytes, if the text does not show them.
/// The schemas say which members are paths.
@Suite("Paths in documents", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct PathDocumentTests {
  /// Names that are not UTF-8 begin with these bytes.
  private static let name: [UInt8] = [0x61, 0xff]

  private static let before = #"""
    export N="$(printf 'a\377')" ID=4fd32f4c-95a7-4a1e-8f6b-0c9d5a1b2c3d
    P="$N/pending-serialized-ios-dump"

    """#

  private static let setUp = #"""
    cp "$CRASHPADCTL_HANDLER_LIBRARY" "$N.elf" && mkdir "$N.d" && cp "$N.elf" "$N.d/$N.elf" && mv crash.idump "$N.idump"
    """#

  /// Commands that print documents with paths: those below need the files that those above made.
  private static let lines = [
    #"crashpadctl inspect -f json "$N.idump""#,
    #"crashpadctl validate -f json "$N.idump""#,
    #"crashpadctl convert -f json "$N.idump" -o "$N.dmp""#,
    #"crashpadctl redact -f json "$N.idump" -o "$N.red""#,
    #"crashpadctl database create -f json -d "$N""#,
    #"crashpadctl database import -f json -d "$N" --id $ID "$N.dmp"; mkdir "$N/attachments/$ID"; : > "$N/attachments/$ID/$N""#,
    #"crashpadctl database info -f json -d "$N""#,
    #"crashpadctl database settings -f json -d "$N""#,
    #"crashpadctl database list -f json -d "$N""#,
    #"crashpadctl database show -f json -d "$N" $ID"#,
    #"cp "$N.idump" "$P/$N"; printf junk > "$P/$N.2"; cp "$N.idump" "$P/$N.3.locked"; crashpadctl unlock -f json -d "$N""#,
    #"crashpadctl process -f json -d "$N""#,
    #"crashpadctl upload -f json -d "$N" --url http://127.0.0.1:9/ --dry-run"#,
    #"cp "$N.dmp" "$N/pending/$N.dmp"; : > "$N/new/$N"; chmod 755 "$N" "$N/new"; chmod 666 "$N/new/$N"; touch -d 2020-01-01 "$N/new/$N" "$N"/rejected/*; ln -s loop "$N/completed/$ID.dmp"; crashpadctl prune -n -f json -d "$N" --max-reports 0 --max-size 1KiB --pending --clean --rejected-age none"#,
    #"crashpadctl prune -n -f json -d "$N" --clean --rejected-age 1d"#,
    #"crashpadctl database check -f json -d "$N""#,
    #"crashpadctl database check --repair -n -f json -d "$N""#,
    #"crashpadctl find -f json . "$N.no""#,
    #"crashpadctl database request-upload -f json -d "$N" $ID"#,
    #"crashpadctl database delete -f json -d "$N" $ID"#,
    #"crashpadctl explain -f json "./$N.idump""#,
    #"crashpadctl symbols info -f json "$N.elf""#,
    #"crashpadctl symbols lookup -f json "$N.elf" 0x2020 "$N.elf 0x2020""#,
    #"crashpadctl symbols index -f json "$N.d" -o "$N.store""#,
    #"crashpadctl symbols upload -f json "$N.d" --to s3-layout="$N.up""#,
    #"mkdir -p "$N.cache/.crashpadctl/parts"; printf x > "$N.cache/$N"; crashpadctl symbols cache -f json --max-size 0B --dry-run --symbols-cache "$N.cache""#,
    #"crashpadctl run -f json --process -d "$N.run" -o "$N.txt" -- /bin/sh -c 'kill -SEGV $$'; cat "$N.txt""#,
    #"mv "$N.run"/pending/*.dmp "$N.core"; crashpadctl symbolize -f json --modules -s "$N.d" "$N.core""#,
    #"crashpadctl symbols check -f json -s "$N.d" "$N.core""#,
    #"crashpadctl doctor -f json -d "$N""#,
  ]

  /// Members that the commands above do not show, with the reason.
  private static let exceptions = [
    "crashpadctl-events/1 input": "a request of worker names its dump in JSON, which is text",
    "crashpadctl-signature/1 input": "a request of worker names its dump in JSON, which is text",
    "crashpadctl-symbolize/1 modules[].symbol_servers[].path": "a server would have to have the file",
    "crashpadctl-symbols-info/1 problems[].file": "a shared cache would have to lack a file",
    "crashpadctl-symbols-check/1 modules[].symbol_servers[].path": "a server would have to have the file",
    "crashpadctl-symbolize/1 modules[].symbol_findings[].file": "the file of a module would have to be damaged",
    "crashpadctl-symbols-check/1 modules[].symbol_findings[].file": "the file of a module would have to be damaged",
    "crashpadctl-database-check/1 repairs[].target": "reports get the names of UUIDs",
    "crashpadctl-doctor/1 program.handlers[].module": "a program with a handler of its own would have to be built",
  ]

  @Test("Each path in a document has its bytes")
  func paths() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let before = Self.before + "export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'\n"
    let made = try Tool.shell(before + Self.setUp, in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    var seen: Set<String> = []
    var schemas: [String: [String: Any]] = [:]
    for name in try Tool.run(["json-schema"], in: folder).text.split(separator: "\n").map(String.init) {
      schemas[name] = try Self.object(Tool.run(["json-schema", name], in: folder).output)
    }
    for line in Self.lines {
      let result = try Tool.shell(before + line, in: folder)
      let document = try Self.object(result.output)
      let name = try #require(document["schema"] as? String, "\(line)\n\(result.errorText)")
      Self.walk(document, try #require(schemas[name]), name + " ", &seen)
    }
    var known: Set<String> = []
    for (name, schema) in schemas { Self.collect(schema, name + " ", &known) }
    #expect(known.subtracting(seen).sorted() == Self.exceptions.keys.sorted())
  }

  private static func object(_ data: Data) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
  }

  /// The schemas of objects in a schema: its own, or those of the elements of an array, of values, or of alternatives.
  private static func objects(in schema: [String: Any], _ place: String) -> [(schema: [String: Any], place: String)] {
    if schema["properties"] != nil { return [(schema, place)] }
    if let items = schema["items"] as? [String: Any] { return objects(in: items, place + "[]") }
    if let values = schema["additionalProperties"] as? [String: Any] { return objects(in: values, place + "{}") }
    return (schema["anyOf"] as? [[String: Any]] ?? []).flatMap { objects(in: $0, place) }
  }

  /// The paths of an object, each with the member that has its bytes.
  private static func paths(of schema: [String: Any]) -> [(member: String, bytes: String)] {
    (schema["properties"] as? [String: [String: Any]] ?? [:]).compactMap { name, property in
      (property["description"] as? String)?.wholeMatch(of: #/All bytes of (\w+), if .*/#).map { (String($0.1), name) }
    }
  }

  private static func collect(_ schema: [String: Any], _ place: String, _ known: inout Set<String>) {
    for (object, place) in objects(in: schema, place) {
      let start = place.hasSuffix(" ") ? place : place + "."
      for path in paths(of: object) { known.insert(start + path.member) }
      for (name, property) in object["properties"] as? [String: [String: Any]] ?? [:] {
        collect(property, start + name, &known)
      }
    }
  }

  private static func walk(_ value: Any, _ schema: [String: Any], _ place: String, _ seen: inout Set<String>) {
    if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
      for element in list { walk(element, items, place + "[]", &seen) }
    }
    guard let value = value as? [String: Any] else { return }
    for (object, _) in objects(in: schema, place) {
      let start = place.hasSuffix(" ") ? place : place + "."
      for path in paths(of: object) {
        guard let digits = value[path.bytes] as? String else { continue }
        let bytes = stride(from: 0, to: digits.utf8.count, by: 2).compactMap { offset in
          UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
        }
        #expect(bytes.contains(Self.name), "\(start)\(path.bytes)")
        #expect((value[path.member] as? String)?.contains(#"a\xff"#) == true, "\(start)\(path.member)")
        seen.insert(start + path.member)
      }
      for (name, property) in object["properties"] as? [String: [String: Any]] ?? [:] {
        if let member = value[name] { walk(member, property, start + name, &seen) }
      }
    }
  }
}
