// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON

extension JSONWriter {
  /// Writes an object of what is known, or null.
  mutating func object<Value>(_ key: String, of value: Value?, _ body: (Value, inout JSONWriter) -> Void) {
    self.key(key)
    if let value { object { body(value, &$0) } } else { null() }
  }

  /// Writes an array with an object for each value.
  mutating func objects<Value>(
    _ key: String, _ values: some Sequence<Value>, _ body: (Value, inout JSONWriter) -> Void
  ) {
    array(key) { json in for value in values { json.object { body(value, &$0) } } }
  }
}
