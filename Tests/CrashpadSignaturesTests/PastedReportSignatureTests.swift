// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The signatures of texts that lack a code, a list of images, or a statement.
@Suite("Signatures of pasted texts")
struct PastedReportSignatureTests {
  private func groups(_ text: String, _ folder: TemporaryFolder) throws -> (status: Int32, text: String, errors: String)
  {
    try folder.write(Array(text.utf8), to: "report.crash")
    let result = try Tool.shell("exec crashpadctl group --format csv report.crash", in: folder)
    return (result.status, result.text, result.errorText)
  }

  private static let stack = """
    Thread 3 Crashed:
    0   org.example.wheel             	0x000000010a0b4f30 0x10a0b0000 + 20272
    1   libsystem_pthread.dylib       	0x00007fff20d0a0b0 start_wqthread + 15

    """

  @Test func `A function's offset without an address is not 0`() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Array("Crashed: a.b\n0\nWheel\nturn(Gear) + 404\n1\nWheel\nspin() + 20\n2\nlibgear.dylib\nmain + 12\n".utf8),
      to: "a.txt")
    let text = try Tool.shell("exec crashpadctl inspect a.txt", in: folder).text
    #expect(text.contains("turn(Gear)") && !text.contains("+ 0"), "\(text)")
  }

  @Test func `Code that a text names by the bundle id is the program's`() throws {
    let head = "Process:  Wheel [77]\nIdentifier:  org.example.wheel\nOS Version:  Mac OS X 10.13 (17A365)\n\n"
    let result = try groups(
      head + "Exception Type:  EXC_BAD_INSTRUCTION (SIGILL)\n\n" + Self.stack, try TemporaryFolder())
    #expect(result.text.contains("org.example.wheel+0x4f30") && !result.text.contains("(system)"), "\(result.text)")
  }

  @Test(arguments: [
    (
      "Termination Reason: CAROUSEL, Background App Refresh watchdog transgression. Exhausted wall time allowance of 15.00 seconds.",
      "killed:0x8badf00d/Background-App-Refresh"
    ),
    (
      "Termination Reason: Namespace SPRINGBOARD, Code 0x8badf00d\nTermination Description: SPRINGBOARD, scene-create watchdog transgression: org.example.wheel exhausted real time allowance of 20.00 seconds",
      "killed:0x8badf00d/scene-create"
    ),
  ])
  func `A watchdog without its code has the kind of one with it`(termination: String, kind: String) throws {
    let head = "Process:  Wheel [77]\nOS Version:  Watch OS 7.0.1 (18R395)\n\nException Type:  EXC_CRASH (SIGKILL)\n"
    let result = try groups(head + termination + "\n\n" + Self.stack, try TemporaryFolder())
    #expect(result.text.contains(kind), "\(result.text)")
  }

  @Test func `The kernel's message of a full stack is a stack overflow in both forms`() throws {
    let head =
      "Process:  Wheel [77]\nCode Type:  ARM-64\nOS Version:  macOS 26.0 (25A5346a)\n\n"
      + "Exception Type:  EXC_BAD_ACCESS (SIGBUS)\nException Subtype:  KERN_PROTECTION_FAILURE at 0x000000016f65bf80\n"
    let message = "Exception Message:  Thread stack size exceeded due to excessive recursion\n"
    let with = try groups(head + message + "\n" + Self.stack, try TemporaryFolder())
    #expect(with.text.contains("bad-access[stack-overflow]"), "\(with.text)")
    let without = try groups(head + "\n" + Self.stack, try TemporaryFolder())
    #expect(without.text.contains("bad-access[wild]"), "\(without.text)")
  }

  @Test func `A stack without a statement is in no group, and explain agrees`() throws {
    let folder = try TemporaryFolder()
    let result = try groups(
      "Process:  Wheel [77]\n\n" + Self.stack.replacing("Thread 3 Crashed:", with: "Thread 3:"), folder)
    #expect(result.errors.contains("not counted: the report does not say that the process ended (not-said)"))
    let explained = try Tool.shell("exec crashpadctl explain report.crash", in: folder)
    #expect(explained.text.hasPrefix("report.crash: no crash"))
  }
}
