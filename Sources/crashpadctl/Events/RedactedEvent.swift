// SPDX-License-Identifier: Apache-2.0
import CrashpadEvents
import CrashpadRedaction

extension CrashEvent {
  /// The event without personal data, by the table of `crashpadctl redact`.
  func redacted() -> CrashEvent {
    let personal = PersonalText(learning: paths)
    return redacted(
      EventHiding(
        text: { personal.hidden($0) }, symbol: { personal.hidden(symbol: $0) },
        version: { personal.hidden(version: $0) }))
  }
}
