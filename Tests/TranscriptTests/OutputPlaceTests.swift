// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The effect of a command on an output that is not a plain file: devices, FIFOs, links, descriptors.
@Suite("Places of outputs", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct OutputPlaceTests {
  /// A command that writes to `OUT`, and how its output begins.
  struct Writer: CustomTestStringConvertible, Sendable {
    let command: String
    let start: String
    var testDescription: String { command }

    func line(_ output: String) -> String { command.replacingOccurrences(of: "OUT", with: "'\(output)'") }
  }

  static let writers = [
    Writer(command: "convert -q crash.idump -o OUT", start: "MDMP"),
    Writer(command: "convert -q --fsync --to json crash.idump -o OUT", start: "{\n"),
    Writer(command: "redact -q crash.idump -o OUT", start: "\u{6}"),
    Writer(command: "symbols dump -q /usr/bin/env -o OUT", start: "MODULE Linux"),
    Writer(command: "process -d DB --metrics-file OUT", start: "# HELP crashpadctl_"),
    Writer(command: "upload -d DB --url http://127.0.0.1:9/ --metrics-file OUT", start: "# HELP crashpadctl_"),
    Writer(command: "run -d DB --format json -o OUT -- true", start: "{\n"),
  ]

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    #expect(try Tool.run(["database", "create", "-d", "DB"], in: folder).status == 0)
    return folder
  }

  private func shell(_ script: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    try Tool.shell("export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'; \(script)", in: folder)
  }

  private func run(_ writer: Writer, to output: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    try shell("crashpadctl \(writer.line(output))", in: folder)
  }

  @Test("A FIFO's reader gets the output, and the FIFO stays", arguments: writers)
  func fifo(_ writer: Writer) throws {
    let folder = try folder()
    let result = try shell(
      "mkfifo place && { cat place > got & } && crashpadctl \(writer.line("place")) && wait && test -p place",
      in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try folder.bytes(of: "got").starts(with: writer.start.utf8))
  }

  @Test("A file behind links is replaced, and the links stay", arguments: writers)
  func links(_ writer: Writer) throws {
    let folder = try folder()
    let made = try Tool.shell(
      "mkdir deep && echo old > deep/real && ln -s ../second deep/first && ln -s deep/real second && ln -s deep/first place",
      in: folder)
    #expect(made.status == 0)
    #expect(try run(writer, to: "place", in: folder).status == 0)
    let after = try Tool.shell("test -L place && test -L deep/first && test -L second && ls -A deep", in: folder)
    #expect(after.text == "first\nreal\n")
    #expect(try folder.bytes(of: "deep/real").starts(with: writer.start.utf8))
  }

  @Test("The file that a dangling link names is created", arguments: writers)
  func dangling(_ writer: Writer) throws {
    let folder = try folder()
    #expect(try Tool.shell("mkdir deep && ln -s deep/new place.sym", in: folder).status == 0)
    #expect(try run(writer, to: "place.sym", in: folder).status == 0)
    #expect(try Tool.shell("test -L place.sym", in: folder).status == 0)
    #expect(try folder.bytes(of: "deep/new").starts(with: writer.start.utf8))
  }

  @Test("Standard output and its descriptors are written by their names", arguments: writers)
  func standardOutput(_ writer: Writer) throws {
    let folder = try folder()
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
      let piped = try shell("crashpadctl \(writer.line(name)) | cat", in: folder)
      #expect(piped.output.starts(with: writer.start.utf8), "\(name): \(piped.errorText)")
      // The bytes that were written to the file before, and those behind it, stay.
      let command = "crashpadctl \(writer.line(name))"
      #expect(try shell("{ echo before; \(command); echo after; } > got", in: folder).status == 0)
      let got = try folder.bytes(of: "got")
      #expect(got.starts(with: ("before\n" + writer.start).utf8), "\(name)")
      #expect(got.suffix(6) == Array("after\n".utf8)[...], "\(name)")
    }
  }

  @Test(
    "A device is written, and stays a device",
    .enabled(if: Machine.isRoot && Machine.hasSetpriv, "only root makes devices"), arguments: writers)
  func device(_ writer: Writer) throws {
    let folder = try folder()
    let made = try Tool.shell("mknod -m 666 null c 1 3 && mknod -m 666 full c 1 7 && chmod -R a+rwX .", in: folder)
    #expect(made.status == 0)
    for user in ["", "as-nobody "] {
      let result = try shell(
        "\(user)crashpadctl \(writer.line("null")); echo $?; stat -c %F null; "
          + "\(user)crashpadctl \(writer.line("full")); echo $?; stat -c %F full", in: folder)
      let full = writer.command.hasPrefix("run") ? "0" : writer.command.contains("--metrics-file") ? "73" : "74"
      #expect(
        result.text == "0\ncharacter special file\n\(full)\ncharacter special file\n", "\(user)\(result.errorText)")
      #expect(result.errorText.contains("No space left on device"))
    }
  }

  @Test("A socket, a directory and a loop of links are errors before anything is written")
  func refused() throws {
    let folder = try folder()
    let made = try Tool.shell(
      "mkdir directory; ln -s loop loop; ln -s directory link; "
        + "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un(\"socket\")) or die'", in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    for (name, text) in [
      ("socket", "No such device or address"), ("directory", "Is a directory"), ("link", "Is a directory"),
      ("loop", "Too many levels of symbolic links"),
    ] {
      let result = try Tool.shell("crashpadctl process -d DB --metrics-file \(name); echo $?", in: folder)
      #expect(result.text == "73\n")
      #expect(result.errorText == "\(name): error: \(text)\n")
    }
  }
}
