// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The handler's library, which `crashpadctl run` preloads, built once for all tests of a process.
public enum HandlerLibrary {
  public static let variable = "CRASHPADCTL_HANDLER_LIBRARY"

  /// The path of clang; nil if it is not installed.
  public static let compiler: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// It can't be built without clang.
  public static var canBeBuilt: Bool { compiler != nil }

  public struct NotBuilt: Error, CustomStringConvertible { public let description: String }

  private static let built: Result<String, NotBuilt> = {
    if let path = ProcessInfo.processInfo.environment[variable] { return .success(path) }
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
      .standardizedFileURL
    atexit { try? FileManager.default.removeItem(at: HandlerLibrary.folder) }
    let path = folder.appending(path: "libcrashpad_handler.so").path
    let process = Process()
    process.executableURL = sources.appending(path: "scripts/handler-library")
    process.arguments = [path]
    let pipe = Pipe()
    process.standardError = pipe
    do { try process.run() } catch { return .failure(NotBuilt(description: "\(error)")) }
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? .success(path) : .failure(NotBuilt(description: text))
  }()

  private static let folder = FileManager.default.temporaryDirectory.appending(
    path: "crashpadctl-handler-\(getpid())")

  /// Its path.
  public static func path() throws -> String { try built.get() }
}
