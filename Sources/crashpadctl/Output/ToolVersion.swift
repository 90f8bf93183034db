/// The version of this tool.
let toolVersion = "0.1.0"

/// What `--version` prints, and pages name as their generator.
let toolVersionText = "crashpadctl \(toolVersion)"
