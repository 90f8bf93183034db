// SPDX-License-Identifier: Apache-2.0
/// The version of this tool.
let toolVersion = "0.1.0"

/// The name and version that `--version` prints. HTML pages give it as their generator.
let toolVersionText = "crashpadctl \(toolVersion)"
