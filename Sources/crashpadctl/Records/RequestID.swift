// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON

/// The id that a caller gives to a request: a text or a number.
enum RequestID: Sendable, Equatable {
  case none
  case text(String)
  case number(Int128)

  init(_ value: JSONValue?) {
    if let text = value?.string {
      self = .text(text)
    } else if let number = value?.integer {
      self = .number(number)
    } else {
      self = .none
    }
  }
}
