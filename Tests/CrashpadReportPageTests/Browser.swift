// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// Debian's chromium without a window, led through its DevTools protocol over pipes.
final class Browser {
  /// Nil where it is not installed.
  static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  struct Failure: Error, CustomStringConvertible { let description: String }

  private let process = Process()
  private let folder: TemporaryFolder
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()
  private var number = 0
  private var session: String?
  /// Events since the last page was opened: their methods with their parameters.
  private(set) var events: [(method: String, parameters: JSONDocument)] = []

  init(_ folder: TemporaryFolder) throws {
    self.folder = folder
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The protocol is on descriptors 3 and 4.
    process.arguments = [
      "-c",
      """
      exec "$0" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars \
      --remote-debugging-pipe --user-data-dir="$1" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1
      """, Self.path ?? "", folder.url("profile").path,
    ]
    process.standardInput = input
    process.standardOutput = output
    try Tool.startUnblocked(process)
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.terminate()
    process.waitUntilExit()
  }

  // MARK: Protocol

  @discardableResult
  func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> JSONDocument {
    number += 1
    var message: [String: Any] = ["id": number, "method": method, "params": parameters]
    if let session { message["sessionId"] = session }
    try input.fileHandleForWriting.write(contentsOf: JSONSerialization.data(withJSONObject: message) + [0])
    while true {
      let answer = try next()
      if answer["id"].int == number {
        if let text = answer["error"]["message"].string { throw Failure(description: "\(method): \(text)") }
        return answer["result"]
      }
    }
  }

  /// The next message; events are kept.
  private func next() throws -> JSONDocument {
    while true {
      if let end = buffer.firstIndex(of: 0) {
        let message = try JSONDocument(Data(buffer[buffer.startIndex..<end]))
        buffer = Data(buffer[(end + 1)...])
        if let method = message["method"].string { events.append((method, message["params"])) }
        return message
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty {
        throw Failure(description: "the browser ended")
      }
      buffer += data
    }
  }

  // MARK: Pages

  /// Opens a file in a new tab and waits until it is loaded.
  func open(
    _ file: URL, width: Int = 1440, theme: String = "light", fragment: String = "", runsScripts: Bool = true
  ) throws {
    session = nil
    let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"].string ?? ""
    session = try call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"].string
    for domain in ["Page", "Runtime", "Log", "Network", "Accessibility", "DOM"] { try call("\(domain).enable") }
    try call("Page.setLifecycleEventsEnabled", ["enabled": true])
    try call("Emulation.setFocusEmulationEnabled", ["enabled": true])
    try call("Emulation.setScriptExecutionDisabled", ["value": !runsScripts])
    try call("Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": theme]]])
    try call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500])
    events = []
    let loader = try call("Page.navigate", ["url": file.absoluteString + fragment])["loaderId"].string
    func isLoaded(_ event: (method: String, parameters: JSONDocument)) -> Bool {
      event.method == "Page.lifecycleEvent" && event.parameters["name"].string == "load"
        && event.parameters["loaderId"].string == loader
    }
    while !events.contains(where: isLoaded) { _ = try next() }
  }

  /// The value of a script's expression, as JSON.
  func value(_ expression: String) throws -> JSONDocument {
    let result = try call("Runtime.evaluate", ["expression": expression, "returnByValue": true, "awaitPromise": true])
    if let text = result["exceptionDetails"]["exception"]["description"].string {
      throw Failure(description: "\(expression): \(text)")
    }
    return result["result"]["value"]
  }

  /// Presses a key of the keyboard: "Tab", "Enter", " ".
  func press(_ key: String) throws {
    let codes = ["Tab": 9, "Enter": 13, " ": 32]
    var parameters: [String: Any] = ["type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key] ?? 0]
    if key == "Enter" { parameters["text"] = "\r" }
    if key == " " { parameters["text"] = " " }
    try call("Input.dispatchKeyEvent", parameters)
    try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key] ?? 0])
  }

  /// Presses Tab until the expression is true of `e`, the element that has the focus; false if none is.
  func tab(to condition: String, limit: Int = 400) throws -> Bool {
    for _ in 0..<limit {
      try press("Tab")
      if try value("(function (e) { return Boolean(\(condition)); }(document.activeElement))").bool == true {
        return true
      }
    }
    return false
  }

  /// The page's messages in the console and violations, and its requests to the network.
  var complaints: [String] {
    var complaints: [String] = []
    for (method, parameters) in events {
      switch method {
      case "Log.entryAdded": complaints.append(parameters["entry"]["text"].string ?? method)
      case "Runtime.consoleAPICalled", "Runtime.exceptionThrown": complaints.append(method)
      case "Network.requestWillBeSent" where parameters["type"].string != "Document":
        complaints.append("request: " + (parameters["request"]["url"].string ?? ""))
      default: break
      }
    }
    return complaints
  }
}
