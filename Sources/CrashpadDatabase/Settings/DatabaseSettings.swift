// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
public import CrashpadFiles
public import CrashpadSnapshot
internal import SystemPackage

/// The settings of a database's owner, and its client id: the content of `settings.dat`.
///
/// 40 bytes, little endian: magic `CPds` (u32), version (u32, 1), options (u32; bit 0 uploads enabled), 4 of padding,
/// last upload attempt (i64), client id (UUID as a struct: u32, u16, u16, then bytes). A newer Crashpad may append
/// fields. Source: `client/settings.cc`.
public struct DatabaseSettings: Sendable, Hashable {
  package static let size = 40
  private static let magic = DatabaseLayout.settingsMagic
  private static let version: UInt32 = 1

  /// The id of the installation, sent with each report.
  public var clientID: UUIDBytes
  /// Whether reports may be uploaded.
  public var uploadsEnabled = false
  /// Seconds since 1970; nil if there was none, for which the file has 0.
  public var lastUploadAttemptTime: Int64?
  /// Unknown options, kept unchanged.
  private var otherOptions: UInt32 = 0

  package init(clientID: UUIDBytes) { self.clientID = clientID }

  /// The reason why a file is not valid settings.
  public enum Damage: Error, Sendable, Hashable, CustomStringConvertible {
    case truncated(byteCount: Int)
    case badMagic(UInt32)
    case unknownVersion(UInt32)

    public var description: String {
      switch self {
      case .truncated(let count): "\(count) \(count == 1 ? "byte" : "bytes") in place of \(DatabaseSettings.size)"
      case .badMagic(let magic):
        "it begins with 0x\(String(magic, radix: 16)) in place of 0x\(String(DatabaseSettings.magic, radix: 16))"
      case .unknownVersion(let version): "version \(version) in place of \(DatabaseSettings.version)"
      }
    }
  }

  package init(_ bytes: [UInt8]) throws(Damage) {
    guard bytes.count >= Self.size else { throw .truncated(byteCount: bytes.count) }
    let span = unsafe bytes.span.bytes
    guard span.uint32(at: 0) == Self.magic else { throw .badMagic(span.uint32(at: 0)) }
    guard span.uint32(at: 4) == Self.version else { throw .unknownVersion(span.uint32(at: 4)) }
    uploadsEnabled = span.uint32(at: 8) & 1 != 0
    otherOptions = span.uint32(at: 8) & ~1
    lastUploadAttemptTime = span.time(at: 16)
    clientID = UUIDBytes(
      high: UInt64(span.uint32(at: 24)) << 32 | UInt64(span.uint16(at: 28)) << 16 | UInt64(span.uint16(at: 30)),
      low: span.uint64(at: 32).byteSwapped)
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: Self.magic)
    bytes.append(littleEndian: Self.version)
    bytes.append(littleEndian: otherOptions | (uploadsEnabled ? 1 : 0))
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: lastUploadAttemptTime ?? 0)
    bytes.append(littleEndian: UInt32(truncatingIfNeeded: clientID.high >> 32))
    bytes.append(littleEndian: UInt16(truncatingIfNeeded: clientID.high >> 16))
    bytes.append(littleEndian: UInt16(truncatingIfNeeded: clientID.high))
    bytes.append(littleEndian: clientID.low.byteSwapped)
    return bytes
  }

  /// The state of a database's settings.
  public enum State: Sendable, Hashable {
    /// No file, or an empty one: it is written when the client id is first needed.
    case missing
    case found(DatabaseSettings)
    case damaged(Damage)
  }
}

extension CrashDatabase {
  /// The name under which damaged settings are kept, with `-2` and so on appended if there are several.
  static let damagedSettings = FileName(literal: "settings.dat.damaged")

  /// Reads the settings, under the lock that Crashpad takes for it. Throws `FileFailure`: `wouldBlock` if another
  /// program does not release the lock, `tooManyLinks` if the file has another name.
  ///
  /// - Parameter waits: false reads without waiting for a lock. The 40 bytes are written in one call.
  public func settings(waits: Bool = true) throws(FileFailure) -> DatabaseSettings.State {
    guard let file = try root.openIfPresent(DatabaseLayout.settings) else { return .missing }
    try file.checkLinks()
    if waits { try file.lock(exclusive: false) } else { try? file.lock(exclusive: false, waiting: 0) }
    return Self.settings(try file.prefix(DatabaseSettings.size))
  }

  fileprivate static func settings(_ bytes: [UInt8]) -> DatabaseSettings.State {
    if bytes.isEmpty { return .missing }
    do { return .found(try DatabaseSettings(bytes)) } catch { return .damaged(error) }
  }
}

extension DatabaseSession {
  /// The result of a change of the settings.
  public struct SettingsChange: Sendable {
    /// The settings after the change.
    public let settings: DatabaseSettings
    /// The damage of the previous settings, and the name under which they are kept.
    package let damage: (DatabaseSettings.Damage, keptAs: FileName)?
  }

  /// The most bytes of damaged settings that are kept.
  private static let maximumSettingsSize = 1 << 20

  /// Changes the settings; missing and damaged ones are first replaced by new ones with a random client id.
  ///
  /// The file is changed in place, because others wait for its lock: 40 bytes in one call. A damaged file is copied
  /// aside first.
  public func changeSettings(_ change: (inout DatabaseSettings) -> Void) throws(FileFailure) -> SettingsChange {
    try changeSettings(newClientID: .random(), change)
  }

  /// The same with `newClientID` for new settings.
  package func changeSettings(newClientID: UUIDBytes, _ change: (inout DatabaseSettings) -> Void = { _ in })
    throws(FileFailure) -> SettingsChange
  {
    let root = database.root
    while true {
      guard let file = try root.openIfPresent(DatabaseLayout.settings, .readAndWrite) else {
        var settings = DatabaseSettings(clientID: newClientID)
        change(&settings)
        if try createSettings(settings) { return SettingsChange(settings: settings, damage: nil) }
        continue
      }
      try file.checkLinks()
      try file.lock(exclusive: true)
      // The file may have been removed during the wait, and then has no name any more.
      guard let named = try root.status(DatabaseLayout.settings), try named.isSameFile(as: file.status()) else {
        continue
      }
      let bytes = try file.prefix(Self.maximumSettingsSize)
      var damage: (DatabaseSettings.Damage, keptAs: FileName)?
      var settings: DatabaseSettings
      switch CrashDatabase.settings(bytes) {
      case .found(let found): settings = found
      case .missing: settings = DatabaseSettings(clientID: newClientID)
      case .damaged(let reason):
        damage = (reason, try keepAside(bytes))
        settings = DatabaseSettings(clientID: newClientID)
      }
      change(&settings)
      if Array(bytes.prefix(DatabaseSettings.size)) != settings.bytes {
        try file.overwriteStart(settings.bytes)
        try file.sync()
      }
      return SettingsChange(settings: settings, damage: damage)
    }
  }

  /// Returns false if another program made them.
  private func createSettings(_ settings: DatabaseSettings) throws(FileFailure) -> Bool {
    let (name, file) = try temporaryFile()
    defer { discard(name) }
    try file.write(settings.bytes)
    try file.sync()
    do { try new.moveWithoutReplacing(name, to: database.root, as: DatabaseLayout.settings) } catch {
      if error.errno == .fileExists { return false }
      throw error
    }
    try database.root.sync()
    return true
  }

  /// Keeps the bytes of a damaged file, once.
  private func keepAside(_ bytes: [UInt8]) throws(FileFailure) -> FileName {
    let root = database.root
    for number in 1... {
      let name =
        number == 1 ? CrashDatabase.damagedSettings : CrashDatabase.damagedSettings.appending("-\(number)")
      do {
        if let there = try root.openIfPresent(name) {
          if try there.prefix(bytes.count + 1) == bytes { return name }
          continue
        }
      } catch {
        // Not a regular file.
        if error.isNotAFile { continue }
        throw error
      }
      let (temporary, file) = try temporaryFile()
      defer { discard(temporary) }
      try file.write(bytes)
      try file.sync()
      do { try new.moveWithoutReplacing(temporary, to: root, as: name) } catch {
        if error.errno == .fileExists { continue }
        throw error
      }
      // Then the damaged file is overwritten.
      try root.sync()
      return name
    }
    preconditionFailure("numbers do not end")
  }
}
