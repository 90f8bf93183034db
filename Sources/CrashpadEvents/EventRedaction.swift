// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The rules by which the texts of an event lose personal data.
package struct EventHiding {
  package let text: (String) -> String
  package let symbol: (String) -> String
  package let version: (String) -> String

  package init(
    text: @escaping (String) -> String, symbol: @escaping (String) -> String, version: @escaping (String) -> String
  ) {
    self.text = text
    self.symbol = symbol
    self.version = version
  }
}

extension CrashEvent {
  /// Texts that may name the user in paths.
  package var paths: [String] {
    let files = frames.compactMap(\.file) + [executable].compactMap(\.self)
    return files + [exception.reason, exception.title] + [exception.message].compactMap(\.self)
  }

  /// The event without personal data, made anew: a member that no line here copies is not in it.
  ///
  /// The ids of users, installations and sessions are replaced by an id of the crash, the same each time.
  package func redacted(_ hiding: EventHiding) -> CrashEvent {
    let id = derivedID("redacted")
    return CrashEvent(
      id: id, time: time, start: start, exception: exception.redacted(hiding),
      frames: frames.map { $0.redacted(hiding) },
      signature: signature.map { Signature(id: $0.id, text: hiding.symbol($0.text)) }, sessionEnd: sessionEnd,
      sessionID: nil, distinctID: id.text, identity: .dump, anonymousID: nil, loginID: nil,
      appName: appName.map(hiding.text), appID: appID.map(hiding.text), appVersion: appVersion.map(hiding.version),
      appBuild: appBuild.map(hiding.version), buildID: buildID, environment: environment.map(hiding.text),
      os: os.map(hiding.text), operatingSystem: operatingSystem, osVersion: osVersion.map(hiding.version),
      osBuild: osBuild.map(hiding.version), timeZoneOffset: timeZoneOffset, model: model.map(hiding.text),
      manufacturer: manufacturer.map(hiding.text), architecture: architecture, processID: processID,
      executable: executable.map(hiding.text), threadID: threadID, threadName: threadName.map(hiding.text))
  }
}

extension CrashException {
  fileprivate func redacted(_ hiding: EventHiding) -> CrashException {
    CrashException(
      kind: kind, name: hiding.text(name), reason: hiding.text(reason), signal: signal, title: hiding.text(title),
      message: message.map(hiding.text), isHang: isHang)
  }
}

extension EventFrame {
  fileprivate func redacted(_ hiding: EventHiding) -> EventFrame {
    var copy = EventFrame(address: address)
    copy.image = image.map(hiding.symbol)
    copy.imageOffset = imageOffset
    copy.symbol = symbol.map(hiding.symbol)
    copy.name = name.map(hiding.symbol)
    copy.symbolOffset = symbolOffset
    copy.file = file.map(hiding.text)
    copy.line = line
    copy.isInlined = isInlined
    return copy
  }
}
