// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON

/// An answer: a document behind its length, and the dump that was made behind its length, if there is one.
struct WorkerAnswer: Sendable {
  let bytes: [UInt8]

  /// - Parameters:
  ///   - id: the request's.
  ///   - operation: the operation's name in the request; nil for a head that can't be read.
  ///   - made: the dump that was made.
  ///   - error: why there is no result.
  ///   - document: writes the document of the command with the operation's name.
  init(
    _ id: WorkerRequest.ID, _ operation: WorkerRequest.Operation?, _ status: WorkerDocument.Status,
    exit: ExitStatus? = nil,
    made: [UInt8]? = nil, signal: Int? = nil, error: String? = nil, document: ((inout JSONWriter) -> Void)? = nil
  ) {
    let value = WorkerDocument(
      id: id, operation: operation, status: status, exit: exit, madeBytes: made?.count, signal: signal,
      error: error, document: document
    )
    let head = JSONWriter.bytes(.compact) { WorkerDocument.document.write(value, to: &$0) }
    bytes = Self.length(head.count) + head + (made.map { Self.length($0.count) + $0 } ?? [])
  }

  static func refused(_ id: WorkerRequest.ID, _ text: String, exit: ExitStatus = .usage) -> WorkerAnswer {
    WorkerAnswer(id, nil, .refused, exit: exit, error: text)
  }

  private static func length(_ count: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
  }
}
