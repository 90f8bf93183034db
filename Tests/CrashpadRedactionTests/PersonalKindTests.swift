// SPDX-License-Identifier: Apache-2.0
import CrashpadRedaction
import Testing

@Suite("Kinds of personal data")
struct PersonalKindTests {
  /// Texts of each kind with what is left of them. All names and numbers are invented; numbers have their check digits.
  static let examples: [(kind: PersonalKind, text: String, rest: String)] = [
    (.urls, "GET https://u:pw@localhost/x?q=zebra", "GET https://*:**@localhost/x?q=*****"),
    (.emails, "no account for jane@example.org", "no account for ****************"),
    (.passwords, "login failed, password=hunter2", "login failed, password=*******"),
    (.passwords, #"{"passwd": "correct horse"}"#, #"{"passwd": "*************"}"#),
    (.passwords, "the passcode is 4711", "the passcode is ****"),
    (.tokens, "token=abc refused", "token=*** refused"), (.tokens, "access_token: Xy12.z", "access_token: ******"),
    (.tokens, "Authorization: Basic YTpi", "Authorization: **********"),
    (.tokens, "Bearer 0a1b2c3d", "Bearer ********"),
    (.tokens, "apiKey=AbC", "apiKey=***"), (.tokens, "client-secret: s3cr3t", "client-secret: ******"),
    (.tokens, "session id 47114711", "session id ********"), (.tokens, "Cookie: a=b; c=d", "Cookie: ********"),
    (.tokens, #"\"refreshToken\":\"zz\""#, #"\"refreshToken\":\"**\""#), (.tokens, "token%3Dabc1", "token%3D****"),
    (
      .uuids, "/Data/Application/5D3A2B1C-0000-4ABC-8DEF-0123456789AB/x",
      "/Data/Application/00000000-0000-0000-0000-000000000001/x"
    ),
    (.udids, "udid 00008110-001A2B3C4D5E601E", "udid *************************"),
    (
      .udids, "of 0123456789abcdef0123456789abcdef01234567", "of ****************************************"
    ),
    (.macs, "en0 00:1A:2b:3C:4d:5E up", "en0 ***************** up"),
    (.macs, "MAC address: 001A2B3C4D5E", "MAC address: ************"),
    (.ips, "connect to 192.168.17.23 failed", "connect to ************* failed"),
    (.ips, "peer 8.8.4.4:443", "peer *******:443"),
    (.ips, "at [2001:db8::8a2e:7334]:80", "at [*******************]:80"),
    (.ips, "via fe80::1ff:fe23%en0", "via ******************"),
    (.ips, "::ffff:203.0.113.7", "******************"),
    (.cards, "card 4111 1111 1111 1111", "card *******************"),
    (.cards, "paid by 378282246310005", "paid by ***************"),
    (.imeis, "modem 356938035643809", "modem ***************"), (.imeis, "IMEI: 12345678", "IMEI: ********"),
    (.iccids, "sim 8944110068256270054", "sim *******************"),
    (.ibans, "to DE89 3704 0044 0532 0130 00", "to ***************************"),
    (.phones, "call +49 170 1234567", "call ***************"), (.phones, "(415) 555-2671", "**************"),
    (.phones, "tel: 030 123456", "tel: **********"),
    (.serials, "Serial Number (system): F17ABCDEFG12", "Serial Number (system): ************"),
    (.serials, "on C02ZX1ABMD6R", "on ************"),
    (.locations, "latitude=52.520008", "latitude=*********"),
    (.devices, "lost Jane Doe's iPhone", "lost ********'s iPhone"),
    (.devices, "Janes-MacBook-Pro Sample", "*****-MacBook-Pro Sample"),
    (.devices, "at Jane's-MacBook-Pro", "at ****'s-MacBook-Pro"), (.devices, "iPhone von Jane", "iPhone von ****"),
    (.devices, "Jane\u{2019}s iPad", "****\u{2019}s iPad"),
    (.volumes, "/Volumes/Jane Backup/lib/x", "/Volumes/***********/lib/x"),
    (.volumes, "/run/media/root/STICK/x", "/run/media/****/*****/x"),
    (.hosts, "https://db-01.corp.example/x", "https://******************/x"),
    (.hosts, "no route to janes.local", "no route to ***********"),
    (.hosts, "host=db-01", "host=*****"),
    (.users, "/Users/jane.doe/x", "/Users/********/x"), (.users, "username: jdoe", "username: ****"),
  ]

  @Test("Each kind is found", arguments: examples.indices)
  func found(_ index: Int) {
    let (_, text, rest) = Self.examples[index]
    #expect(PersonalText(learning: []).hidden(text) == rest)
    #expect(PersonalText(learning: []).hidden(rest) == rest)
  }

  @Test("A kind stays if the policy keeps it", arguments: examples.indices)
  func kept(_ index: Int) {
    let (kind, text, _) = Self.examples[index]
    var policy = RedactionPolicy()
    policy.keptKinds = [kind]
    // One rule takes for a host what another takes for a value.
    if kind == .urls || kind == .volumes { policy.keptKinds.formUnion([.passwords, .users]) }
    if kind == .udids { policy.keptKinds.formUnion([.tokens]) }
    #expect(PersonalText(policy, learning: []).hidden(text) == text)
  }

  @Test("Each kind of texts has an example")
  func complete() {
    // These are members of reports, not texts.
    let others: Set<PersonalKind> = [.incidents, .reporterKeys]
    #expect(Set(Self.examples.map(\.kind)).union(others) == Set(PersonalKind.allCases))
  }

  @Test(
    "Texts without personal data stay",
    arguments: [
      "0x0000000104a05a10 parse_config(std::string const&) + 320", "version 1.2.3.4 build 17.0.1.2",
      "Chrome/120.0.6099.109 Foo/1.2.3.4 libfoo-1.2.3.4.dylib v1.2.3.4", "1.2.3.4 (build 7)", "Product 1.2.3.4 crashed",
      "2025-05-06 07:08:09.1234 +0200", "2025-05-06 07:08:09.1234 +1000 2025-05-06", "07:08:09 00:00:10",
      "std::vector<dead::beef>::add(int) ff::ab",
      "-[NSNull length]: unrecognized selector sent to instance 0x1f5a3a2c0",
      "+[Auth signInWithEmail:password:completion:]: unrecognized selector", "-[Login user:token:] called",
      "Unexpected token: } in JSON at position 4", "unexpected token: expected ';'",
      "Error Domain=NSCocoaErrorDomain Code=4 UserInfo={NSFilePath=/tmp/x}",
      "the token expired; password required; invalid password",
      "Referenced from: <4C4C44E8-5555-3144-A1B2-0123456789AB> /private/var/x",
      "_TtC4Shop4Cart $s4Shop4CartC5totalSdvg _ZNSt6vectorIiSaIiEE9push_backEOi",
      "ticks 1234567890123456 at 1746508089123456789", "18446744073709551615 9223372036854775807 4503599627370496",
      "0x16f2a3b4c 0xdeadbeef", "com.apple.main-thread com.example.sample.local",
      "libfoo-9f86d081884c7d659a2feaa0c55ad015.so", "17.4.1 (21E236) iPhone14,2 macOS 14.4.1 (23E224)",
      "KERN_INVALID_ADDRESS at 0x0000000000000010", "Index out of range: file Shop/Cart.swift, line 12",
      "Thread 0: EXC_BAD_ACCESS (code=1, address=0x10)", "the server: connection refused", "Foo.local() self.com(1)",
      "The app's Mac version; the user's phone", "127.0.0.1:80 localhost ::1", "proc 10:8:2 processors, 16 GB",
      "1,234,567 bytes; 12345678 total; 4321 4321 4321", "1f 20 03 d5 1f:20:03", "https://developer.apple.com/x",
      "card deck of 52; a phone call", "pc: 0x1 lr: 0x2 far: 0x0",
      "Elapsed total CPU time (seconds): 13.520 (user 9.670)",
      "domain:10 code:0x8BADF00D explanation:scene-update application<com.example.app>:1234",
      "4111 1111 1111 1112 and 356938035643808 and DE88 3704 0044 0532 0130 00", "pass=1 failed=0 user: error",
      "/Volumes/Macintosh HD/x /Users/Shared/x",
    ])
  func harmless(_ text: String) { #expect(PersonalText(learning: []).hidden(text) == text) }

  @Test("A version may look like an address, and a part of a function's name like a host or a word")
  func places() {
    let text = PersonalText(learning: [])
    #expect(text.hidden(version: "10.0.0.1") == "10.0.0.1")
    let unity = "Graphic_Rebuild_m0A1B2C3D4E5F60718293A4B5C6D7E8F9"
    #expect(text.hidden(symbol: unity) == unity)
    #expect(text.hidden("Process: test_mac [6159]") == "Process: test_mac [6159]")
    #expect(text.hidden(symbol: "Shop.Cart.local") == "Shop.Cart.local")
    #expect(text.hidden(symbol: "login:password: x1y2z3") == "login:password: x1y2z3")
    #expect(text.hidden(symbol: "f(10.0.0.1, jane@example.org)") == "f(********, ****************)")
  }

  @Test("A UUID is replaced by the same one wherever it stands")
  func numbers() {
    let text = PersonalText(learning: [])
    let first = "5D3A2B1C-0000-4ABC-8DEF-0123456789AB"
    let second = "6D3A2B1C-0000-4ABC-8DEF-0123456789AB"
    let place = "00000000-0000-0000-0000-00000000000"
    #expect(text.hidden("a \(first) b \(second)") == "a \(place)1 b \(place)2")
    #expect(text.hidden("\(second) \(first.lowercased())") == "\(place)2 \(place)1")
  }

  @Test("A name in a path is hidden in the other texts")
  func learned() {
    let text = PersonalText(learning: ["/home/jane/x"])
    #expect(text.hidden("of jane") == "of ****")
  }
}
