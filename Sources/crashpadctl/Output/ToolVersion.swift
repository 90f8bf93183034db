/// The version of this tool.
let toolVersion = "0.1.0"

let toolVersionText = "crashpadctl \(toolVersion)"
