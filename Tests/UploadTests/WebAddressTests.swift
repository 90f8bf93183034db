// SPDX-License-Identifier: Apache-2.0
import CrashpadUpload
import Testing

@Suite("URLs")
struct WebAddressTests {
  struct Good: CustomTestStringConvertible {
    let text: String
    let displayName: String
    /// The message about the address; nil if that is the text itself.
    let again: String?

    var testDescription: String { text }

    init(_ text: String, _ displayName: String, again: String? = nil) {
      self.text = text
      self.displayName = displayName
      self.again = again
    }
  }

  static let examples = [
    Good("https://crash.example.com/submit", "https://crash.example.com"),
    Good("http://localhost", "http://localhost"),
    Good("http://localhost?a=b", "http://localhost"),
    Good("https://h:8443/a/b?c=d&e=f", "https://h:8443"),
    Good("https://h:443/a", "https://h", again: "https://h/a"),
    Good("http://h:80", "http://h", again: "http://h"),
    Good("http://h:443", "http://h:443"),
    Good("HTTPS://Crash.Example.COM/Submit", "https://crash.example.com", again: "https://crash.example.com/Submit"),
    Good("https://user:secret@h/p", "https://h"),
    Good("https://user:@h:1/p", "https://h:1"),
    Good("https://us%40er@h", "https://h"),
    Good("http://127.0.0.1:65535/", "http://127.0.0.1:65535"),
    Good("http://1.2.3.example/", "http://1.2.3.example"),
    Good("http://a_b.c-d.example./", "http://a_b.c-d.example."),
    Good("http://[::1]:8080/x", "http://[::1]:8080"),
    Good("http://[::]/", "http://[::]"),
    Good("http://[2001:DB8::a:0:1]/", "http://[2001:db8::a:0:1]", again: "http://[2001:db8::a:0:1]/"),
    Good("http://[1:2:3:4:5:6:7:8]", "http://[1:2:3:4:5:6:7:8]"),
    Good("http://[1:2:3:4:5:6:7::]", "http://[1:2:3:4:5:6:7::]"),
    Good("http://[::ffff:192.0.2.1]", "http://[::ffff:192.0.2.1]"),
    Good("http://[1:2:3:4:5:6:192.0.2.1]", "http://[1:2:3:4:5:6:192.0.2.1]"),
    Good("https://h/%7Ea/$-_.+!*'(),;:@&=", "https://h"),
    Good("https://h/?a[b]=c/d?e", "https://h"),
    Good("https://h/?", "https://h"),
  ]

  @Test("An address is taken apart and says the same again", arguments: examples)
  func good(_ example: Good) throws {
    let address = try WebAddress(example.text)
    #expect(address.displayName == example.displayName)
    #expect(address.text == example.again ?? example.text)
    #expect(try WebAddress(address.text) == address)
  }

  @Test("The parts are what the text has")
  func parts() throws {
    let address = try WebAddress("https://key:secret@h.example:8443/a%20b/c?d=e&f")
    #expect(address.scheme == .https)
    #expect(address.userInfo == "key:secret")
    #expect(address.host == "h.example")
    #expect(address.port == 8443)
    #expect(address.path == "/a%20b/c")
    #expect(address.query == "d=e&f")
    let bare = try WebAddress("http://[::1]")
    #expect(bare.userInfo == nil && bare.port == nil && bare.path.isEmpty && bare.query == nil)
    #expect(bare.host == "[::1]")
  }

  static let mistakes: [(String, WebAddressFailure)] = [
    ("", .empty),
    ("https://h/" + String(repeating: "a", count: 8183), .tooLong),
    ("crash.example.com", .badScheme),
    ("//h/p", .badScheme),
    ("ftp://h/p", .badScheme),
    ("file:///etc/passwd", .badScheme),
    ("https:/h", .badScheme),
    ("https:h", .badScheme),
    ("httpss://h", .badScheme),
    (" https://h", .space(at: 0)),
    ("https://h/a b", .space(at: 11)),
    ("https://h/\n", .controlCharacter(at: 10)),
    ("https://h/a\r\nHost: x", .controlCharacter(at: 11)),
    ("https://h/\0", .controlCharacter(at: 10)),
    ("https://h/\u{7f}", .controlCharacter(at: 10)),
    ("https://h/\u{e4}", .beyondASCII(at: 10)),
    ("https://b\u{fc}cher.example", .beyondASCII(at: 9)),
    ("https://h/\"", .unescaped(at: 10)),
    ("https://h\\@evil/", .unescaped(at: 9)),
    ("https://h/{a}", .unescaped(at: 10)),
    ("https://h/<", .unescaped(at: 10)),
    ("https://h/[a]", .unescaped(at: 10)),
    ("https://u[@h/", .unescaped(at: 9)),
    ("https://h/%", .badEscape(at: 10)),
    ("https://h/%4", .badEscape(at: 10)),
    ("https://h/a%g0", .badEscape(at: 11)),
    ("https://h/%0g", .badEscape(at: 10)),
    ("https://", .noHost),
    ("https:///p", .noHost),
    ("https://?a", .noHost),
    ("https://:80/", .noHost),
    ("https://u@/p", .noHost),
    ("https://h/p#f", .fragment(at: 11)),
    ("https://h#@x", .fragment(at: 9)),
    ("https://@h/", .badUserInfo(at: 8)),
    ("https://:p@h/", .badUserInfo(at: 10)),
    ("https://a@b@h/", .badUserInfo(at: 11)),
    ("https://h:/", .badPort(at: 10)),
    ("https://h:0/", .badPort(at: 10)),
    ("https://h:080/", .badPort(at: 10)),
    ("https://h:65536/", .badPort(at: 10)),
    ("https://h:+1/", .badPort(at: 10)),
    ("https://h:1:2/", .badPort(at: 10)),
    ("https://[::1]:/", .badPort(at: 14)),
    ("https://-h/", .badHost(at: 8)),
    ("https://h-/", .badHost(at: 8)),
    ("https://a..b/", .badHost(at: 8)),
    ("https://.a/", .badHost(at: 8)),
    ("https://./", .badHost(at: 8)),
    ("https://a%20b/", .badHost(at: 8)),
    ("https://a,b/", .badHost(at: 8)),
    ("https://u@a!/", .badHost(at: 10)),
    ("https://" + String(repeating: "a", count: 64) + "/", .badHost(at: 8)),
    ("https://" + String(repeating: "a.", count: 127) + "/", .badHost(at: 8)),
    ("https://1.2.3/", .badIPv4(at: 8)),
    ("https://1.2.3.4.5/", .badIPv4(at: 8)),
    ("https://1.2.3.256/", .badIPv4(at: 8)),
    ("https://1.2.3.04/", .badIPv4(at: 8)),
    ("https://1.2.3.4./", .badIPv4(at: 8)),
    ("https://2130706433/", .badIPv4(at: 8)),
    ("https://0x7f000001/", .badIPv4(at: 8)),
    ("https://127.0.0.0x1/", .badIPv4(at: 8)),
    ("https://[::1/", .badIPv6(at: 8)),
    ("https://[]/", .badIPv6(at: 8)),
    ("https://[:]/", .badIPv6(at: 8)),
    ("https://[1:2:3:4:5:6:7]/", .badIPv6(at: 8)),
    ("https://[1:2:3:4:5:6:7:8:9]/", .badIPv6(at: 8)),
    ("https://[1:2:3:4:5:6:7:8::]/", .badIPv6(at: 8)),
    ("https://[1::2::3]/", .badIPv6(at: 8)),
    ("https://[1:::2]/", .badIPv6(at: 8)),
    ("https://[12345::]/", .badIPv6(at: 8)),
    ("https://[g::]/", .badIPv6(at: 8)),
    ("https://[1:]/", .badIPv6(at: 8)),
    ("https://[:1]/", .badIPv6(at: 8)),
    ("https://[::1.2.3]/", .badIPv6(at: 8)),
    ("https://[::1.2.3.256]/", .badIPv6(at: 8)),
    ("https://[fe80::1%25eth0]/", .badIPv6(at: 8)),
    ("https://[::1]x/", .badIPv6(at: 8)),
    ("https://::1/", .badPort(at: 9)),
    ("https://x[::1]/", .badHost(at: 8)),
  ]

  @Test("A text that is not an address is refused with the reason and its place", arguments: mistakes)
  func bad(_ text: String, _ failure: WebAddressFailure) {
    #expect(throws: failure) { try WebAddress(text) }
    #expect(!failure.description.isEmpty)
  }

  @Test("No cut or changed address is taken for another that it is not")
  func everyByte() throws {
    let text = "https://user:secret@[2001:db8::1]:8443/a%20b/c?d=e%2f"
    let bytes = Array(text.utf8)
    for index in bytes.indices {
      for byte in 0...UInt8(127) {
        var changed = bytes
        changed[index] = byte
        guard let address = try? WebAddress(String(decoding: changed, as: UTF8.self)) else { continue }
        // All but the case of scheme and host comes back.
        #expect(address.text.lowercased() == String(decoding: changed, as: UTF8.self).lowercased())
        #expect(!address.displayName.contains("secret"))
      }
      _ = try? WebAddress(String(decoding: bytes[..<index], as: UTF8.self))
    }
  }

  @Test("A parameter is put behind the others, escaped as Crashpad does it")
  func parameters() throws {
    let examples = [
      ("https://h", "https://h?n=v"), ("https://h/", "https://h/?n=v"), ("https://h/?", "https://h/?n=v"),
      ("https://h/?a=b", "https://h/?a=b&n=v"), ("https://u@h/p?a", "https://u@h/p?a&n=v"),
    ]
    for (text, expected) in examples { #expect(try WebAddress(text).adding("n", "v".utf8).text == expected) }
    let address = try WebAddress("https://h").adding("na me", Array("\u{c4}&/?+~-_.\0".utf8) + [0xff])
    #expect(address.text == "https://h?na%20me=%C3%84%26%2F%3F%2B~-_.%00%FF")
    #expect(try WebAddress(address.text) == address)
  }
}
