// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// A server that is installed here, which runs for one test.
final class Daemon: Sendable {
  let port: Int
  private let process = Process()
  /// It runs as long as this is open, whatever happens to the test.
  private let input = Pipe()

  struct NotStarted: Error, CustomStringConvertible { let description: String }

  /// - Parameter command: by the port, the words of a shell that start it; its messages go to `messages`.
  init(in folder: TemporaryFolder, _ command: (Int) -> String) throws {
    port = WebServer.freePort()
    let script = """
      { \(command(port)); } > messages 2>&1 < /dev/null & server=$!
      read -r nothing
      kill $server 2> /dev/null
      wait $server
      """
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    process.currentDirectoryURL = folder.work
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try Tool.startUnblocked(process)
    for _ in 0..<600 {
      if try Tool.shell("exec 3<> /dev/tcp/127.0.0.1/\(port)".inBash, in: folder).status == 0 { return }
      usleep(100_000)
    }
    let messages = (try? folder.bytes(of: "messages")) ?? []
    throw NotStarted(description: String(decoding: messages, as: UTF8.self))
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

extension String {
  fileprivate var inBash: String { "bash -c '\(self)' 2> /dev/null" }
}
