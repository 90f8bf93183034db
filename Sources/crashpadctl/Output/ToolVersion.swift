// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadArguments

/// The version of this tool.
let toolVersion = "0.1.0"

/// The name and version of the tool. HTML pages give it as their generator.
let toolVersionText = "crashpadctl \(toolVersion)"

/// The text that `--version` prints: name, version, and the commit where the build knows it.
var toolVersionLine: String {
  let commit = unsafe String(cString: arguments_commit())
  return commit.isEmpty ? toolVersionText : "\(toolVersionText) (\(commit.prefix(12)))"
}
