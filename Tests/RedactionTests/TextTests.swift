import DumpSynth
import Redaction
import Testing

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

  /// What becomes of an annotation's value, in a dump and in the minidump made of it.
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
      ("/run/media/ada/disk", "/run/media/***/disk"), ("/Users/Shared/x", "/Users/Shared/x"),
      ("/home", "/home"), ("/home/", "/home/"), ("/homeless/ada", "/homeless/ada"), ("home/ada", "home/ada"),
      ("/home/home/ada", "/home/****/***"), ("/home/Zoë/x", "/home/****/x"),
      ("/var/mobile/Containers/Data/Application/1B2C/x", "/var/mobile/Containers/Data/Application/1B2C/x"),
    ])
  func users(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

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
    let text = String(repeating: "a", count: 60_000)
    #expect(try value(text, policy(hide: ["*a*a*a*a*a*a*a*a*b"])) == text)
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
    "Of the names of mappings those of the kernel stay; programs may give others",
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
      try annotations(policy()) == ["Token=t", "bytes=\0\0\0", "m", "product=p", "state=s", "version=v"])
  }

  @Test("Only the listed annotations stay")
  func listed() throws {
    #expect(try annotations(policy(keep: ["prod*", "stat?"])) == ["product=p", "state=s"])
    #expect(try annotations(policy(keep: ["token"])) == [])
    #expect(try annotations(policy(keep: ["bytes", "message"])) == ["bytes=\u{1}\u{2}\u{3}", "m"])
  }

  @Test("Those that match go, in capitals too, and whatever else is said")
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
