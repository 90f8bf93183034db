// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Keeps the JSON documents that the tool prints in tests for scripts/validate-documents: in the folder that
/// `CRASHPADCTL_TEST_DOCUMENTS` names.
enum PrintedDocuments {
  private static let folder = ProcessInfo.processInfo.environment["CRASHPADCTL_TEST_DOCUMENTS"].map {
    URL(fileURLWithPath: $0)
  }
  /// Larger documents have nothing that smaller ones lack. Bytes.
  private static let limit = 4 << 20
  /// The beginning of a document, indented or on one line.
  private static let beginnings = [
    "{\n  \"schema\": \"crashpadctl-", "{\"schema\":\"crashpadctl-", "{\"schema\": \"crashpadctl-",
  ]
  .map { Data($0.utf8) }

  static func keep(_ output: Data) {
    guard folder != nil, output.count <= limit else { return }
    if starts(output) {
      write(output, "json")
    } else if output.count > 4, starts(output.dropFirst(4)) {
      // The length of a head of `worker` precedes it.
      write(output, "frames")
    }
  }

  /// Keeps the file that the arguments name for output.
  static func keepFile(_ arguments: [String], in work: URL) {
    guard folder != nil else { return }
    for (option, value) in zip(arguments, arguments.dropFirst()) where ["-o", "--output", "--partial"].contains(option)
    {
      let file = URL(fileURLWithPath: value, relativeTo: work)
      // Pipes and directories are none.
      guard (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true else { continue }
      if let data = try? Data(contentsOf: file) { keep(data) }
    }
  }

  private static func starts(_ data: Data) -> Bool { beginnings.contains { data.starts(with: $0) } }

  private static func write(_ data: Data, _ suffix: String) {
    // FNV-1a: equal documents are kept once.
    let hash = data.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    if let file = folder?.appending(path: "\(String(hash, radix: 16)).\(suffix)") {
      try? data.write(to: file, options: .atomic)
    }
  }
}
