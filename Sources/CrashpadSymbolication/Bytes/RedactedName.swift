// SPDX-License-Identifier: Apache-2.0

/// The text that Apple's tools leave of the name of a local function when they take the name out of a file.
let redactedName = "<redacted>"
