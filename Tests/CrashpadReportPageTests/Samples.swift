// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import ToolRunner

/// Dumps and the pages of them.
enum Samples {
  static func crash(threads: Int = 6) -> [UInt8] {
    var parameters = SynthParameters(architecture: .arm64, seed: 1)
    parameters.exception = .badAccess
    parameters.threadCount = threads
    return SynthDump(parameters).bytes
  }

  /// Writes the page of a dump; the URL of the page.
  static func page(of dump: [UInt8], _ options: [String] = [], in folder: TemporaryFolder) throws -> URL {
    try folder.write(dump, to: "crash.idump")
    let result = try Tool.run(["report", "--no-system", "crash.idump", "-o", "crash.html"] + options, in: folder)
    guard [0, 1].contains(result.status) else { throw Browser.Failure(description: result.errorText) }
    return folder.url("crash.html")
  }

  /// Texts that try to get out of their place. Each has `hit` in a script, should it be one.
  static let hostile: [[UInt8]] = [
    Array("<script>window.hit=1</script>".utf8), Array("</script><script>window.hit=1</script>".utf8),
    Array("]]><script>window.hit=1</script>".utf8), Array("\"><img src=x onerror=window.hit=1>".utf8),
    Array("'-window.hit=1-'".utf8), Array("</title><svg onload=window.hit=1>".utf8),
    Array("\u{202e}\u{2067}gnp.exe".utf8), Array("a\0b".utf8), Array("<!--".utf8), Array("</pre></details>".utf8),
    [0xff, 0xfe, 0x3c, 0x62, 0x3e, 0xc3], Array("javascript:window.hit=1".utf8), Array("&lt;b&gt;&#0;".utf8),
  ]

  /// The same as a person reads them.
  static let readable = [
    "<script>window.hit=1</script>", "</script><script>window.hit=1</script>", "]]><script>window.hit=1</script>",
    "\"><img src=x onerror=window.hit=1>", "'-window.hit=1-'", "</title><svg onload=window.hit=1>",
    "\\u{202e}\\u{2067}gnp.exe", "a\\0b", "<!--", "</pre></details>", "\\xff\\xfe<b>\\xc3", "javascript:window.hit=1",
    "&lt;b&gt;&#0;",
  ]

  /// A dump in which every text is another: number n, which stands in front of it, has `text(n)`.
  static func withTexts(
    _ dump: [UInt8], in folder: TemporaryFolder, _ text: (Int) -> [UInt8]
  ) throws -> (dump: [UInt8], count: Int) {
    try folder.write(dump, to: "plain.idump")
    _ = try Tool.run(["convert", "--to", "json", "plain.idump", "-o", "plain.json"], in: folder)
    let plain = String(decoding: try folder.bytes(of: "plain.json"), as: UTF8.self)
    var count = 0
    // The order of the members counts, so that the text is changed and not the document.
    let changed = plain.replacing(/"value": "((?:[^"\\]|\\.)*)"/) { match -> String in
      // Neither addresses nor ids are text.
      let isID = match.1.utf8.count == 32 && match.1.allSatisfy(\.isHexDigit)
      if match.1.hasPrefix("0x") || isID { return String(match.0) }
      count += 1
      let bytes = Array("\(count - 1)#".utf8) + text(count - 1)
      let digits = bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
      return "\"hex\": \"\(digits.joined())\""
    }
    try folder.write(Array(changed.utf8), to: "hostile.json")
    let result = try Tool.run(["convert", "--to", "idump", "hostile.json", "-o", "hostile.idump"], in: folder)
    guard result.status == 0 else { throw Browser.Failure(description: result.errorText) }
    return (try folder.bytes(of: "hostile.idump"), count)
  }

}
