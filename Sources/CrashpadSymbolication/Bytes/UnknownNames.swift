// SPDX-License-Identifier: Apache-2.0

/// The text that Apple's tools leave of the name of a local function when they take the name out of a file.
let redactedName = "<redacted>"

/// The name, or nil for a blank, which writers leave for what they don't know.
func nameUnlessBlank(_ name: String) -> String? {
  name.utf8.allSatisfy { $0 == 0x20 || $0 == 0x0d || $0 == 0x09 } ? nil : name
}
