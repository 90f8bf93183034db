// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A whole page: its head with the policy that forbids everything but its own style and script, and its end.
struct Document {
  var title: String
  /// "Skip to the stack" leads here.
  var skipLabel: HTML
  var header: HTML
  var sections: PageSections
  var footer: HTML
  /// JSON for the script; nil for none.
  var data: [UInt8]?
  /// The classes of the body.
  var classes: HTML = ""

  func bytes() -> [UInt8] {
    let links = sections.links.map { link -> HTML in "<li><a href=\"#\(link.id)\">\(link.title)</a></li>" }
    let data: HTML =
      self.data.map { "<script type=\"application/json\" id=\"data\">\(HTML(json: $0))</script>\n" } ?? ""
    let kind: HTML = classes.isEmpty ? "" : " class=\"\(classes)\""
    let page: HTML = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <meta name="generator" content="crashpadctl">
      <title>\(title)</title>
      <style>\(PageStyle.html)</style>
      </head>
      <body\(kind)>
      <a class="skip" href="#main">\(skipLabel)</a>
      <header>
      \(header)
      </header>
      <nav aria-label="Parts of this page"><ul>\(links)</ul></nav>
      <main id="main" tabindex="-1">
      \(sections.html)</main>
      <footer>\(footer)</footer>
      <p id="status" class="unseen" role="status"></p>
      \(data)<script>\(PageScript.html)</script>
      </body>
      </html>

      """
    return page.bytes
  }

  /// Hashes in place of 'unsafe-inline': markup that got into the page all the same could run nothing and load nothing.
  static let policy =
    "default-src 'none'; style-src '\(source(PageStyle.html))'; script-src '\(source(PageScript.html))'; "
    + "base-uri 'none'; form-action 'none'"

  private static func source(_ html: HTML) -> String {
    unsafe "sha256-" + base64(SHA256.digest(html.bytes.span.bytes))
  }

  /// RFC 4648.
  static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      value &= 0xff_ffff
      for place in 0..<4 {
        text.append(place <= group.count ? alphabet[value >> (18 - 6 * place) & 63] : "=")
      }
    }
    return text
  }
}
