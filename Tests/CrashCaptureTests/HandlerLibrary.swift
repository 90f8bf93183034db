import Foundation
import Testing

/// The library that is preloaded; built once, by the script that `make build` uses.
enum HandlerLibrary {
  private static let built = Result { try build() }

  static func path() throws -> String { try built.get() }

  /// The C compiler that stands beside Swift's, or another one.
  static let compiler: String = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let found = folders.map { "\($0)/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    return found ?? "cc"
  }()

  private static func build() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
    let library = root.appending(path: ".build/handler/libcrashpad_handler.so")
    let process = Process()
    process.executableURL = root.appending(path: "scripts/handler-library")
    process.arguments = [library.path]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return library.path
  }
}
