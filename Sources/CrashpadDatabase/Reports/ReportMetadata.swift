// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The facts that the database stores about a report: the content of `<uuid>.meta`.
///
/// 32 bytes and then the server's id, little endian: version (i32, 1), upload attempts (i32), last attempt (i64),
/// creation (i64), attributes (u8; bit 0 uploaded, bit 1 explicitly requested), 7 bytes of padding, which Crashpad does
/// not initialize. Source: `client/crash_report_database_generic.cc`.
public struct ReportMetadata: Sendable, Hashable {
  package static let version: Int32 = 1
  /// The number of bytes before the server's id.
  package static let fixedSize = 32
  /// The most bytes that are read: a server's id has some ten bytes.
  package static let maximumSize = 1 << 20

  /// The number of upload attempts.
  public var uploadAttempts: Int32 = 0
  /// Seconds since 1970; nil if there was none, for which the file has 0.
  public var lastUploadAttemptTime: Int64?
  /// Seconds since 1970.
  public var creationTime: Int64
  /// Whether the server has accepted the report.
  public var isUploaded = false
  /// Whether the upload was requested even if uploads are disabled.
  public var isUploadExplicitlyRequested = false
  /// The server's id for the report: any bytes, mostly text. Empty if it was not uploaded.
  public var serverID: [UInt8] = []

  package init(creationTime: Int64) { self.creationTime = creationTime }

  /// The reason why bytes are not metadata.
  public enum Damage: Error, Sendable, Hashable, CustomStringConvertible {
    /// Fewer bytes than `fixedSize`.
    case truncated(byteCount: Int)
    case unknownVersion(Int32)

    public var description: String {
      switch self {
      case .truncated(let count):
        "\(count) \(count == 1 ? "byte" : "bytes") in place of at least \(ReportMetadata.fixedSize)"
      case .unknownVersion(let version): "version \(version) in place of \(ReportMetadata.version)"
      }
    }
  }

  package init(_ bytes: [UInt8]) throws(Damage) {
    guard bytes.count >= Self.fixedSize else { throw .truncated(byteCount: bytes.count) }
    let span = unsafe bytes.span.bytes
    let version = Int32(bitPattern: span.uint32(at: 0))
    guard version == Self.version else { throw .unknownVersion(version) }
    uploadAttempts = Int32(bitPattern: span.uint32(at: 4))
    lastUploadAttemptTime = span.time(at: 8)
    creationTime = Int64(bitPattern: span.uint64(at: 16))
    isUploaded = bytes[24] & 1 != 0
    isUploadExplicitlyRequested = bytes[24] & 2 != 0
    serverID = Array(bytes[Self.fixedSize...])
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.fixedSize + serverID.count)
    bytes.append(littleEndian: Self.version)
    bytes.append(littleEndian: uploadAttempts)
    bytes.append(littleEndian: lastUploadAttemptTime ?? 0)
    bytes.append(littleEndian: creationTime)
    bytes.append((isUploaded ? 1 : 0) | (isUploadExplicitlyRequested ? 2 : 0))
    bytes.append(contentsOf: repeatElement(0, count: 7))
    return bytes + serverID
  }
}

extension RawSpan {
  /// The seconds since 1970 at `offset`; nil for 0, which stands for never.
  func time(at offset: Int) -> Int64? {
    let seconds = Int64(bitPattern: uint64(at: offset))
    return seconds == 0 ? nil : seconds
  }
}
