// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// File names are bytes: every command with names that are not UTF-8, and with names that would do something to a terminal.
@Suite("Names of files", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct FileNameTests {
  /// For each command a line that uses names with `$N` wherever it takes one, in order: those below need what those above made.
  private static let lines = [
    ("inspect", #"inspect "$N.idump""#),
    ("validate", #"validate . "$N.idump""#),
    ("convert", #"convert "$N.idump" -o "$N.dmp" && test -s "$N.dmp""#),
    ("convert", #"convert "$N.d" -o "$N.out" && test -s "$N.out/$N.dmp""#),
    ("redact", #"redact "$N.idump" -o "$N.red" && test -s "$N.red""#),
    ("database create", #"database create -d "$N" && test -d "$N/pending""#),
    ("database import", #"database import -d "$N" --id $ID "$N.dmp" --attachment log="$N.red""#),
    ("database info", #"database info -d "$N""#),
    ("database list", #"database list -d "$N""#),
    ("database show", #"database show -d "$N" $ID"#),
    ("database settings", #"database settings -d "$N" --uploads-enabled yes"#),
    ("database request-upload", #"database request-upload -d "$N" $ID"#),
    ("database check", #"database check -d "$N""#),
    ("unlock", #"unlock -d "$N""#),
    ("process", #"process -d "$N" --metrics-file "$N.prom" && test -s "$N.prom""#),
    ("prune", #"prune -d "$N" --max-age none --dry-run"#),
    ("upload", #"upload -d "$N" --url http://127.0.0.1:9/ --ca-file "$N.pem" --dry-run"#),
    ("database delete", #"database delete -d "$N" $ID"#),
    ("find", #"find ."#),
    ("find", #"find --print0 . | xargs -0 -n 1 crashpadctl process -d"#),
    ("symbols dump", #"symbols dump "$N.elf" -o "$N.sym" && test -s "$N.sym""#),
    ("symbols dump", #"symbols dump "$N.elf" -o "$N.store/" && test -d "$N.store""#),
    ("symbols info", #"symbols info "$N.sym" "$N.elf""#),
    ("symbols lookup", #"symbols lookup -s "$N.sym" "$N.elf" 0x2020"#),
    ("symbols index", #"symbols index "$N.store" -o "$N.index""#),
    ("symbols check", #"symbols check -s "$N.sym" --module '[no such]*' "$N.idump"; test $? = 65"#),
    ("symbols cache", #"symbols cache --symbols-cache "$N""#),
    ("symbols upload", #"symbols upload "$N.sym" --to s3-layout="$N.up" && test -d "$N.up""#),
    ("symbolize", #"symbolize --no-system -s "$N.sym" "$N.idump""#),
    (
      "explain",
      #"explain --no-system -s "$N.sym" "./$N.idump" && crashpadctl explain -f json "./$N.idump" | grep -q crashpadctl-explanation"#
    ),
    ("group", #"group --no-system -s "$N.sym" --shard 1/1 --partial "$N.part" "./$N.idump" && test -s "$N.part""#),
    ("group", #"group --merge "$N.part" "$N.part""#),
    (
      "events",
      #"events --no-system -s "$N.sym" --cursor "$N.cursor" -o "$N.ndjson" "./$N.idump" && test -s "$N.ndjson""#
    ),
    ("report", #"report --no-system -s "$N.sym" -o "$N.html" "./$N.idump" && test -s "$N.html""#),
    ("worker", #"worker --no-system -s "$N.sym" </dev/null"#),
    ("run", #"run -d "$N.run" -o "$N.txt" -- "./$N.sh" "$N" && test -e "$N.txt""#),
    ("doctor", #"doctor -d "$N" || test $? = 1"#),
    ("doctor", #"doctor -d "$N" --after 100ms -- "./$N.sh" "$N" || test $? = 1"#),
  ]

  /// A folder in which the lines can run, and what goes before each.
  private func folder(_ name: String) throws -> (TemporaryFolder, before: String) {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let before = """
      export N="$(printf '\(name)')" ID=4fd32f4c-95a7-4a1e-8f6b-0c9d5a1b2c3d
      export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'

      """
    let made = try Tool.shell(
      before
        + #"printf -- '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n' > "$N.pem"; "#
        + #"cp "$CRASHPADCTL_HANDLER_LIBRARY" "$N.elf"; printf '#!/bin/sh\nexit 0\n' > "$N.sh"; chmod +x "$N.sh"; "#
        + #"mkdir "$N.d"; cp crash.idump "$N.d/$N.idump"; mv crash.idump "$N.idump""#, in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    return (folder, before)
  }

  @Test("No command is left out")
  func complete() {
    #expect(Set(Self.lines.map(\.0)) == Set(CommandTree.commands))
  }

  @Test("Names that are not UTF-8 are opened, made and printed", arguments: [#"n\351"#, #"\364\217\271\251 \300\257"#])
  func bytes(_ name: String) throws {
    let (folder, before) = try folder(name)
    for (_, line) in Self.lines {
      let result = try Tool.shell(before + "crashpadctl " + line, in: folder)
      #expect(result.status == 0, "\(line)\n\(result.errorText)")
      #expect(String(validating: result.errors, as: UTF8.self) != nil, "\(line)")
    }
    // Nothing was made under another name: all begin with it.
    let others = try Tool.shell(
      before + #"for name in *; do case $name in "$N"*) ;; *) echo "$name"; esac; done"#, in: folder)
    #expect(others.text == "")
  }

  /// Options that take text, which is UTF-8 in every document; with a line of their command.
  private static let textOptions = [
    ("report", "--title"), ("report", "--in-app"), ("group", "--in-app"), ("worker", "--in-app"),
    ("symbols dump", "--name"), ("symbols check", "--module"), ("convert", "--annotation"), ("process", "--annotation"),
    ("run", "--annotation"), ("upload", "--field"), ("upload", "--url"), ("redact", "--hide"),
    ("redact", "--keep-annotation"), ("redact", "--remove-annotation"), ("redact", "--keep-variable"),
  ]

  @Test(
    "Text that is not UTF-8 is refused with a sentence that says so, and nothing is made", arguments: Self.textOptions)
  func textsAreUnicode(_ command: String, _ option: String) throws {
    let (folder, before) = try folder("n")
    let all = try #require(Self.lines.first { $0.0 == command }?.1)
    let line = all.components(separatedBy: " && ")[0].components(separatedBy: "; ")[0]
    let names = try Tool.shell("ls", in: folder).text
    let given = #"\#(option) "$(printf 'k\351=v\377')""#
    // The last one of an option that is there twice counts; behind -- the program's arguments begin.
    let words = command == "run" ? line.replacing("run", with: "run \(given)", maxReplacements: 1) : "\(line) \(given)"
    let result = try Tool.shell(before + "crashpadctl " + words, in: folder)
    #expect(result.status == 64, "\(result.errorText)")
    #expect(result.errorText.contains("UTF-8"), "\(result.errorText)")
    #expect(result.errorText.contains("k\\xe9=v\\xff"), "\(result.errorText)")
    #expect(try Tool.shell("ls", in: folder).text == names)
  }

  @Test("JSON has the bytes of a name that is not all there as text")
  func json() throws {
    let (folder, before) = try folder(#"n\351\033"#)
    let result = try Tool.shell(before + #"crashpadctl inspect --format json "$N.idump""#, in: folder)
    let document = try JSONDocument(result.output)
    #expect(document["input"].string == "n\\xe9\\u{1b}.idump")
    #expect(document["input_bytes"].string == "6ee91b2e6964756d70")
    let plain = try Tool.shell(
      before + #"mv "$N.idump" é.idump; crashpadctl inspect --format json é.idump"#, in: folder)
    #expect(try JSONDocument(plain.output)["input"].string == "é.idump")
    #expect(try JSONDocument(plain.output)["input_bytes"].string == nil)
  }

  @Test("An input that is not there is a document too")
  func missingDocument() throws {
    let result = try Tool.run(["inspect", "--format", "json", "missing"], in: TemporaryFolder())
    #expect(result.status == 66)
    let document = try JSONDocument(result.output)
    #expect(document["schema"].string == "crashpadctl-inspect/1")
    #expect(document["input"].string == "missing")
    #expect(document["format"].isNull)
    #expect(document["error"].string == "No such file or directory")
    #expect(document["status"].int == 66)
  }

  @Test("No name reaches a terminal as it is: no control character, no line of its own")
  func hostile() throws {
    let (folder, before) = try folder(#"\033[31m\342\200\256\r\nforged \177"#)
    for (_, line) in Self.lines {
      let result = try Tool.shell(before + "crashpadctl " + line, in: folder)
      Self.check(result.errors, line)
      Self.check(result.output, line)
    }
  }

  @Test("No argument reaches a terminal as it is")
  func hostileArguments() throws {
    let folder = try TemporaryFolder()
    let evil = "\u{1b}[31m\u{202e}\r\nforged \u{7f}"
    var random = Soak.random()
    for command in CommandTree.commands + ["", "help", "nosuch", "database"] {
      let words = command.split(separator: " ").map(String.init)
      let arguments = [
        [evil], ["--\(evil)"], ["-\(evil)"], ["--format", evil], ["--format=\(evil)"], ["-d", evil, evil],
        ["-o", evil, evil], ["--jobs", evil, "-d", "x", "x"], ["--arch=\(evil)", "x"], ["-d", "x", "--now", evil],
        ["-d", "x", "--url", evil], ["--", evil], ["--to", evil, "x"], ["x", evil], ["x", "--ignore", evil],
      ]
      for rest in arguments.filter({ _ in Soak.isOn || random.oneIn(6) }) {
        let result = try Tool.run(words + rest, in: folder)
        Self.check(result.errors, "\(words + rest)")
        Self.check(result.output, "\(words + rest)")
      }
    }
  }

  private static func check(_ bytes: Data, _ comment: String) {
    let text = String(decoding: bytes, as: UTF8.self)
    let raw = text.unicodeScalars.filter { scalar in
      scalar != "\n" && scalar != "\t" && [.control, .format].contains(scalar.properties.generalCategory)
    }
    #expect(raw.isEmpty, "\(comment.debugDescription): \(text.debugDescription)")
    #expect(!text.contains("\nforged"), "\(comment.debugDescription): \(text.debugDescription)")
  }
}
