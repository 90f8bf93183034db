// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Completion in the shells themselves.
@Suite("Completion")
struct CompletionTests {
  struct Shell: Sendable, CustomTestStringConvertible {
    let name: String
    /// Prints what is offered for the line in `$LINE`, whose script is the file `script`.
    let program: String
    var testDescription: String { name }
    var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") }
  }

  static let bash = Shell(
    name: "bash",
    program: """
      source ./script
      COMP_LINE=$LINE; COMP_POINT=${#LINE}; read -ra COMP_WORDS <<< "$LINE"
      [[ $LINE = *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      shopt -s extglob; _crashpadctl crashpadctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf '%s\\n' "${COMPREPLY[@]}"
      """)
  static let fish = Shell(name: "fish", program: "source ./script; complete -C \"$LINE\"")
  /// A second shell behind a pseudoterminal, as completion needs a line editor. It lists the matches when the key is pressed
  /// twice.
  static let zsh = Shell(
    name: "zsh",
    program: """
      zmodload zsh/zpty; zpty z zsh -f -i
      zpty -w z "PS1=''; TERM=dumb; fpath=($PWD/functions \\$fpath); autoload -Uz compinit; compinit -C -d $PWD/dump; setopt no_auto_menu; echo READ''Y"
      zpty -r z out '*READY*'
      zpty -w -n z "$LINE"$'\\t\\t'
      zpty -r z out "*$WANTED*" && print -r -- "${out//$'\\r'/}" | tr -s ' ' '\\n'
      """)
  static let shells = [bash, fish, zsh].filter(\.isInstalled)

  private static let isOldFish = {
    let version = try? Tool.shell("fish --version", in: TemporaryFolder()).text
    return version.map { $0.contains("version 2.") || $0.contains("version 3.") } ?? false
  }()

  /// A folder for several lines: to generate the script, and the list that zsh makes of all scripts, takes long.
  private func folder(_ shell: Shell) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let script = try Tool.run(["--generate-completion-script", shell.name], in: folder)
    try #require(script.status == 0)
    try folder.write(Array(script.text.utf8), to: "script")
    try folder.write(Array(script.text.utf8), to: "functions/_crashpadctl")
    try folder.write([], to: "one.idump")
    try folder.write(Array("#!/bin/sh\n".utf8), to: "server")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url("server").path)
    try folder.write(Array(shell.program.utf8), to: "program")
    if shell.name == "zsh" {
      let list = "fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump"
      try #require(try Tool.shell("HOME=$PWD zsh -f -c '\(list)'", in: folder).status == 0)
    }
    return folder
  }

  private func offers(
    _ shell: Shell, _ line: String, wanting wanted: String, in folder: TemporaryFolder
  ) throws -> [String] {
    let options = shell.name == "bash" ? "--norc" : shell.name == "zsh" ? "-f" : "--no-config"
    let result = try Tool.shell(
      "LINE='\(line)' WANTED='\(wanted)' TERM=dumb HOME=$PWD exec \(shell.name) \(options) program", in: folder,
      limit: 60
    )
    #expect(result.status == 0, "\(shell.name): \(result.errorText)")
    return result.text.split { $0.isWhitespace }.map(String.init)
  }

  @Test("Behind help come the commands, and those of a group", arguments: shells)
  func help(_ shell: Shell) throws {
    let folder = try folder(shell)
    for (line, name) in [
      ("crashpadctl help ", "validate"), ("crashpadctl help database ", "settings"),
      ("crashpadctl help symbols ", "lookup"),
    ] { #expect(try offers(shell, line, wanting: name, in: folder).contains(name), "\(line)") }
  }

  @Test(
    "Nothing comes behind the help of a command without subcommands", arguments: shells.filter { $0.name == "bash" })
  func nothing(_ shell: Shell) throws {
    #expect(try offers(shell, "crashpadctl help inspect ", wanting: "", in: folder(shell)).isEmpty)
  }

  @Test("Names of programs, columns behind a comma, files and values are offered", arguments: shells)
  func values(_ shell: Shell) throws {
    let folder = try folder(shell)
    for (line, name) in [
      ("crashpadctl run -- ls", "lscpu"), ("crashpadctl run ./ser", "./server"),
      ("crashpadctl run -- ./ser", "./server"), ("crashpadctl doctor -- ./ser", "./server"),
      ("crashpadctl explain SIGS", "SIGSEGV"), ("crashpadctl explain one", "one.idump"),
      ("crashpadctl database list --columns id,", "id,created"),
      ("crashpadctl inspect --format ", "json"), ("crashpadctl validate --ignore minidump-", "minidump-version"),
    ] where !Self.asksInEditor(shell, line) {
      #expect(try offers(shell, line, wanting: name, in: folder).contains { $0 == name }, "\(line)")
    }
  }

  /// fish asks the tool for these only in a line editor, up to version 3 for all that no option lists.
  private static func asksInEditor(_ shell: Shell, _ line: String) -> Bool {
    shell.name == "fish"
      && (line.contains("--columns") || isOldFish && (!line.contains(" --") || line.contains(" -- ")))
  }
}
