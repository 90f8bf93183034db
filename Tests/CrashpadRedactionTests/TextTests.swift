// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadRedaction
import Testing
import ToolRunner

@Suite("Texts of redacted dumps")
struct TextTests {
  private func policy(
    keep: [String] = [], remove: [String] = [], hide: [String] = []
  ) -> RedactionPolicy {
    var policy = RedactionPolicy()
    policy.keptAnnotations = keep.map { NamePattern($0) }
    policy.removedAnnotations = remove.map { NamePattern($0) }
    policy.hiddenText = hide.compactMap { TextPattern($0) }
    return policy
  }

  /// The value of an annotation afterwards, in a dump and in the minidump made of it.
  private func value(_ text: String, _ policy: RedactionPolicy = RedactionPolicy()) throws -> String {
    var dump = SynthLinuxDump(.x86_64)
    dump.annotations = [("note", text)]
    let narrow = try Redacted(dump.bytes, policy).annotations.filter { $0.hasPrefix("note=") }
    let wide = try Redacted(minidump(of: dump.bytes), policy).annotations.filter { $0.hasPrefix("note=") }
    #expect(narrow == wide)
    return String(narrow.first?.dropFirst(5) ?? "")
  }

  @Test(
    "The names of users in paths are overwritten",
    arguments: [
      ("/home/ada/src/x.c", "/home/***/src/x.c"), ("/Users/ada", "/Users/***"),
      (#"C:\Users\Ada Lovelace\x"#, #"C:\Users\************\x"#), (#"C:\\Users\\ada\\x"#, #"C:\\Users\\***\\x"#),
      ("file:///home/ada/x and /home/bob/y", "file:///home/***/x and /home/***/y"),
      ("/var/home/ada:/home/bob", "/var/home/***:/home/***"), ("/HOME/ada/", "/HOME/***/"),
      ("/run/media/ada/disk", "/run/media/***/****"), ("/Users/Shared/x", "/Users/Shared/x"),
      ("/home", "/home"), ("/home/", "/home/"), ("/homeless/ada", "/homeless/ada"), ("home/ada", "home/ada"),
      ("/home/home/ada", "/home/****/***"), ("/home/Zoë/x", "/home/****/x"),
      ("/var/mobile/Containers/Data/Application/1B2C/x", "/var/mobile/Containers/Data/Application/1B2C/x"),
    ])
  func users(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

  @Test(
    "Other forms of home folders are known",
    arguments: [
      ("file:%2Fhome%2Fjane%2Fx", "file:%2Fhome%2F****%2Fx"), ("a=%252Fhome%252Fjane", "a=%252Fhome%252F****"),
      ("/home/./jane/x", "/home/./****/x"), ("/homes/jane/x", "/homes/****/x"), ("/u/jane/x", "/u/****/x"),
      ("/home2/jane/x", "/home2/****/x"), ("/export/home/jane", "/export/home/****"), ("/lib/u/x", "/lib/u/x"),
      ("~jane/x", "~****/x"), ("in ~jane", "in ~****"), ("~/x", "~/x"), ("Foo::~Foo", "Foo::~Foo"),
      ("about ~5 s", "about ~5 s"), ("/home/../home/jane", "/home/../home/****"),
    ])
  func homes(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

  @Test("A user name that a path contains is hidden in all texts, before it and behind it")
  func knownNames() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.annotations = [
      ("first", "Jane's desktop, janet"), ("note", "/home/jane/x"), ("last", "user=jane app"), ("app", "/home/app/x"),
    ]
    dump.threads[1].name = "of jane"
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      let redacted = try Redacted(bytes)
      for text in ["first=****'s desktop, janet", "note=/home/****/x", "last=user=**** app", "app=/home/***/x"] {
        #expect(redacted.annotations.contains(text))
      }
      #expect(redacted.bytes.firstRange(of: Array("of jane".utf8)) == nil)
      #expect(redacted.bytes.firstRange(of: "of jane".utf16.flatMap { Bytes.of($0) }) == nil)
      #expect(try Redacted(redacted.bytes).bytes == redacted.bytes)
    }
  }

  @Test(
    "User info and query values of URLs, e-mail addresses and tokens are overwritten",
    arguments: [
      ("https://u:PASS@h/?k=KEY", "https://*:****@*/?k=***"), ("ftp://jane@h.org/x", "ftp://****@*****/x"),
      ("GET /x?a=1&b=22#c=3 HTTP", "GET /x?a=*&b=**#c=* HTTP"), ("https://h.org/p?q", "https://*****/p?*"),
      ("https://h.org/a/b", "https://*****/a/b"), ("why? a=b", "why? a=b"),
      ("mail jane.doe+x@example.org.", "mail **********************."), ("<a@b.de>", "<******>"),
      ("memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14"), ("left-pad@1.3.0", "left-pad@1.3.0"), ("a@b", "a@b"),
      ("getty@tty1.service", "getty@tty1.service"),
      ("sid 9f86d081884c7d659a2feaa0c55ad015 end", "sid ******************************** end"),
      (
        "sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
        "sent ********************.***************************.x"
      ),
      ("ghp_16C7e42F292c6912E7", "**********************"),
      (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----lQHY-----END PGP PRIVATE KEY BLOCK----- ab cd",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----****-----END PGP PRIVATE KEY BLOCK----- ab cd"
      ),
      (
        "-----BEGIN EC PRIVATE KEY-----MHc-----END EC PRIVATE KEY----------BEGIN PRIVATE KEY-----MII",
        "-----BEGIN EC PRIVATE KEY-----***-----END EC PRIVATE KEY----------BEGIN PRIVATE KEY-----***"
      ),
      ("aJ4lrX3tn7EMi/K7MdeNg/bPx9fiCy2x4mPl3kE==", "*****************************************"),
      ("Tests/RedactionTests/TextTests2/LongNames", "Tests/RedactionTests/TextTests2/LongNames"),
      ("https://h.org/T0/B0/a8Kd03LmQ7pZx91BvT4c", "https://*****/T0/B0/********************"),
      ("_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZNSt6vectorIiSaIiEE9push_backEOi"),
      ("x86_64-unknown-linux-gnu-2024-01-01", "x86_64-unknown-linux-gnu-2024-01-01"),
      ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "id ************************************"),
      ("applicationDidFinishLaunching2024", "applicationDidFinishLaunching2024"),
      ("/nix/store/9f86d081884c7d659a2feaa0c55ad015-x/lib", "/nix/store/9f86d081884c7d659a2feaa0c55ad015-x/lib"),
    ])
  func secrets(_ text: String, _ expected: String) throws {
    #expect(try value(text) == expected)
    #expect(try value(expected) == expected)
    var open = RedactionPolicy()
    open.hidesSecrets = false
    open.keptKinds = [.hosts, .uuids]
    #expect(try value(text, open) == text)
  }

  @Test(
    "Hidden text is overwritten wherever it stands, in capitals too",
    arguments: [
      ("abc", "xabcabcx ABC", "x******x ***"), ("*@*", "mail ada@example.org now", "mail *************** now"),
      ("tok?n", "token tok n", "***** tok n"), ("*@*", "@", "*"), ("a*b", "axb ab a b", "*** ** a b"),
      ("key=*", "key=\"1\" key=2", "****\"1\" *****"), ("ö", "schön", "sch**n"),
      ("a?", "ab a c", "** a c"),
    ])
  func hidden(_ pattern: String, _ text: String, _ expected: String) throws {
    #expect(try value(text, policy(hide: [pattern])) == expected)
  }

  @Test("A pattern that matches nothing of any length is none")
  func nothing() {
    for pattern in ["", "*", "**"] { #expect(TextPattern(pattern) == nil) }
  }

  @Test("Text that asks for much takes time in proportion to its length")
  func slow() throws {
    let count = Soak.times(60_000, or: 20_000)
    let text = String(repeating: "a", count: count)
    #expect(try value(text, policy(hide: ["*a*a*a*a*a*a*a*a*b"])) == text)
    let units = ["a://", "?a=", "@a", "~a", "/home", "/home/.", "%2Fhome/a", "a1B2/", "?a=&#"]
    for unit in Soak.some(3, of: units) {
      let text = String(repeating: unit, count: count / unit.utf8.count)
      #expect(try value(text).utf8.count == text.utf8.count)
    }
  }

  @Test("Hiding twice hides nothing more")
  func twice() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.annotations = [("note", "axbb /home/ab/x/d xxbx")]
    for hide in [["xb"], ["?b"], ["x/d"], ["b*x", "x"], ["ab", "b /"]] {
      let once = try Redacted(dump.bytes, policy(hide: hide))
      #expect(try Redacted(once.bytes, policy(hide: hide)).bytes == once.bytes)
    }
  }

  @Test("Paths of modules and names of threads are text too")
  func places() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.modules[0].path = "/home/ada/bin/example"
    dump.executable = "/home/ada/bin/example"
    dump.arguments = ["/home/ada/bin/example", "x"]
    dump.threads[1].name = "of /home/ada"
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      let redacted = try Redacted(bytes)
      #expect(redacted.paths.first == "/home/***/bin/example")
      #expect(redacted.bytes.firstRange(of: Array("ada".utf8)) == nil)
      #expect(redacted.bytes.firstRange(of: "ada".utf16.flatMap { Bytes.of($0) }) == nil)
      var open = RedactionPolicy()
      open.hidesUserNames = false
      #expect(try Redacted(bytes, open).paths.first == "/home/ada/bin/example")
    }
  }

  @Test("Text with control characters is no text, and is overwritten as a whole")
  func control() throws {
    #expect(try value("a\u{1}b") == "***")
    #expect(try value("a\tb\n") == "a\tb\n")
  }

  @Test(
    "The kernel's names of mappings stay; programs may give others",
    arguments: [
      ("[heap]", "[heap]"), ("[stack]", "[stack]"), ("[stack:4711]", "[stack:4711]"), ("[vdso]", "[vdso]"),
      ("[vvar]", "[vvar]"), ("[vvar_vclock]", "[vvar_vclock]"), ("[vsyscall]", "[vsyscall]"),
      ("[uprobes]", "[uprobes]"), ("[sigpage]", "[sigpage]"),
      ("[anon:SECRET jane@example.com]", "[anon:***********************]"),
      ("[anon_shmem:jane doe]", "[anon_shmem:********]"), ("[anon:***]", "[anon:***]"), ("[anon:]", "[anon:]"),
      ("[anon:jane", "[anon:****"), ("[jane]", "[****]"), ("[stack:jane]", "[**********]"), ("[stack:]", "[******]"),
      ("[heap]jane", "[*********"), ("[heap] [anon:jane]", "[****************]"), ("[", "["), ("[]", "[]"),
    ])
  func mappings(_ name: String, _ expected: String) throws {
    var parameters = SynthMinidumpParameters(.x86_64, .linux)
    parameters.streams = [.systemInfo, .threadList, .moduleList, .linuxMaps]
    let file = SynthMinidump(parameters)
    let range = try #require(file.streams.last?.range)
    let line = Array("7f0c5a000000-7f0c5a021000 rw-p 00000000 00:00 0      ".utf8)
    func maps(_ name: String) -> [UInt8] { line + Array("\(name)\n".utf8) }
    try #require(maps(name).count <= range.count)
    var bytes = file.bytes
    bytes.replaceSubrange(range.lowerBound..<range.lowerBound + maps(name).count, with: maps(name))
    let redacted = try Redacted(bytes).bytes
    #expect(Array(redacted[range.lowerBound...].prefix(maps(name).count)) == maps(expected))
    #expect(try Redacted(redacted).bytes == redacted)
    let dump = SynthLinuxDump(.x86_64)
    let record = try #require(Damage.first(.maps, in: dump.bytes))
    let narrow = try Redacted(
      Damage.settingValue(dump.bytes, of: record, to: Array(dump.maps.utf8) + maps(name)))
    #expect(narrow.bytes.firstRange(of: maps(expected)) != nil)
    #expect(try Redacted(narrow.bytes).bytes == narrow.bytes)
  }

  // MARK: Annotations

  private var annotated: SynthLinuxDump {
    var dump = SynthLinuxDump(.x86_64)
    dump.annotations = [("product", "p"), ("Token", "t"), ("version", "v")]
    dump.modules[0].objects = [("state", 1, Array("s".utf8)), ("bytes", 0x8001, [1, 2, 3])]
    dump.modules[0].message1 = "m"
    dump.modules[1].message1 = nil
    return dump
  }

  private func annotations(_ policy: RedactionPolicy) throws -> [String] {
    let narrow = try Redacted(annotated.bytes, policy)
    let file = try Redacted(minidump(of: annotated.bytes), policy)
    let own = "crashpad_"
    let names = narrow.annotations.filter { !$0.hasPrefix(own) }.sorted()
    #expect(names == file.annotations.filter { !$0.hasPrefix(own) }.sorted())
    return names
  }

  @Test("All annotations stay, those without text without their values")
  func all() throws {
    #expect(
      try annotations(policy()) == ["Token=*", "bytes=\0\0\0", "m", "product=p", "state=s", "version=v"])
  }

  @Test("A version is no address, and the name of an annotation may tell a secret")
  func named() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.annotations = [("app_version", "10.0.0.1"), ("ver", "1.2.3.4"), ("session_id", "zebra"), ("peer", "10.0.0.1")]
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      let annotations = try Redacted(bytes).annotations
      for text in ["app_version=10.0.0.1", "ver=1.2.3.4", "session_id=*****", "peer=********"] {
        #expect(annotations.contains(text))
      }
    }
  }

  @Test("Only the listed annotations stay")
  func listed() throws {
    #expect(try annotations(policy(keep: ["prod*", "stat?"])) == ["product=p", "state=s"])
    #expect(try annotations(policy(keep: ["token"])) == [])
    #expect(try annotations(policy(keep: ["bytes", "message"])) == ["bytes=\u{1}\u{2}\u{3}", "m"])
  }

  @Test("Annotations that match are removed, in capitals too, and whatever else is set")
  func removed() throws {
    #expect(try annotations(policy(remove: ["TOKEN", "message", "b*"])) == ["product=p", "state=s", "version=v"])
    #expect(try annotations(policy(keep: ["*"], remove: ["*"])) == [])
  }

  @Test("The report has names and sizes, and no values")
  func report() throws {
    let report = try Redacted(annotated.bytes, policy(remove: ["Token"])).report
    let removal = try #require(report.removals.first)
    #expect(removal.kind == .annotation && removal.name == "Token" && removal.count == 1 && removal.byteCount == 1)
  }
}
