// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

/// No row takes a program's own function, whatever its name: rows hold in modules of runtimes, or for symbols of a language.
@Suite("Scope of rules")
struct RuleScopeTests {
  /// A text that a pattern matches.
  private static func name(of glob: Glob) -> String {
    glob.text.replacing("*", with: "own").replacing("?", with: "x")
  }

  private static func isFull(_ glob: Glob) -> Bool { !glob.text.contains("*") && !glob.text.contains("?") }

  /// The pattern of `anywhere` by which a name may be taken in a program's module.
  private static func takesAnywhere(_ name: String) -> Bool {
    SignatureRule.all.contains { $0.anywhere.contains { $0.matches(name) } }
  }

  @Test func `A pattern that holds everywhere is a full name, or has a namespace of its own`() {
    for row in SignatureRule.all {
      for glob in row.anywhere where !Self.isFull(glob) {
        // `[*` and `<*` are forms of one language.
        let fixed = glob.text.prefix { $0 != "*" && $0 != "?" }
        let hasNamespace = ["::", "_", ".", " ", "$", "<", "[", "QE", "FIRCLS"].contains { fixed.contains($0) }
        let isOperator = glob.text == "*::operator->" || glob.text == "*.$main" || glob.text == "*wizzl*"
        #expect(isOperator || hasNamespace && fixed.utf8.count >= 2, "\(row.id): \(glob.text)")
      }
    }
  }

  @Test(arguments: SignatureRule.all.map(\.id))
  func `A row of modules takes no function of a program`(id: String) throws {
    let row = try #require(SignatureRule.all.first { $0.id == id })
    guard row.modules != nil else { return }
    for glob in row.names {
      let name = Self.name(of: glob)
      if Self.takesAnywhere(name) { continue }
      let found = RuleTests.rule(name, in: "shop", .second)?.id
      // Names that are reserved for the C library are its own in any file.
      #expect(found == nil || found == "c-library" && name.hasPrefix("__"), "\(id): \(glob.text) takes \(name)")
    }
  }

  @Test(arguments: SignatureRule.all.map(\.id))
  func `Each pattern of a language can hold for a symbol of its form`(id: String) throws {
    let row = try #require(SignatureRule.all.first { $0.id == id })
    let isGo = row.languages == .go
    for glob in row.anywhere + (row.modules == nil ? row.names : []) where row.languages != .kotlin {
      let name = Self.name(of: glob)
      let forms = [name, name + "()", name + "]", name + ">::own"].map { SymbolOrigin($0, isGo: isGo) }
      #expect(forms.contains { $0.mayBe(row.languages) }, "\(id): \(glob.text)")
    }
  }

  @Test(arguments: SignatureRule.all.map(\.id))
  func `A row of one language takes no symbol of another`(id: String) throws {
    let row = try #require(SignatureRule.all.first { $0.id == id })
    guard row.modules == nil, row.languages.isDisjoint(with: [.c, .cxx]) else { return }
    for glob in row.names + row.anywhere {
      let name = Self.name(of: glob)
      // C++ alone prints parameters.
      let symbol = name.contains("::") ? name + "(int)" : name
      let module = SignatureModule(name: "shop", identity: "", isInApp: true)
      guard SymbolOrigin(symbol).isKnown(as: [.c, .cxx, .objectiveC]) else { continue }
      let rule = ChoiceTests.rule(symbol, name, in: module)
      #expect(rule?.id != id, "\(id): \(glob.text) takes \(symbol)")
    }
  }

  /// Functions of programs that are named as a runtime's are, with a second one beside each: two faults under one caller.
  static let pairs: [(String, String)] = [
    ("core::Engine::tick()", "core::Engine::draw()"), ("alloc::Pool::take()", "alloc::Pool::give()"),
    ("backtrace::Painter::line()", "backtrace::Painter::fill()"), ("gimli::Axe::swing()", "gimli::Axe::drop()"),
    ("mio::map_file(char const*)", "mio::unmap(char const*)"), ("asio::own_open()", "asio::own_close()"),
    ("swift::Courier::send()", "swift::Courier::track()"), ("dart::Board::hit(int)", "dart::Board::miss(int)"),
    ("hermes::Parcel::weigh()", "hermes::Parcel::ship()"), ("cache_t2::find()", "cache_t2::fill()"),
    ("dispatch_request", "dispatch_refund"), ("dl_begin_track", "dl_end_track"),
    ("malloc_usage_chart", "malloc_usage_table"),
    ("wcss2p", "wcsp2s"), ("strstr_fuzzy", "strchr_fuzzy"), ("object_property_set", "object_property_get"),
    ("uv_layer_add", "uv_layer_drop"), ("uv__unwrap_mesh", "uv__pack_mesh"), ("swift_check_bic", "swift_check_iban"),
    ("tc_malloced_train", "tc_mallocate_seat"), ("je_parcel", "je_parade"), ("event_base_price", "event_base_tax"),
    ("g_main_window_show", "g_main_window_hide"), ("ev_run_charger", "ev_run_meter"), ("sentry_fire", "sentry_reload"),
    ("bsg_render_sky", "bsg_render_sea"), ("free_list_grow", "free_list_trim"), ("class_register", "class_enroll"),
    ("mach_msg_board", "mach_msg_wing"), ("completeTask(_:)", "completeTaskLater(_:)"),
    ("reflect.beam", "reflect.mirror"),
    ("sync.begin", "sync.finish"), ("Array.chunked(into:)", "Array.paged(by:)"), ("Range.fire()", "Range.measure()"),
    ("Character.attack()", "Character.defend()"), ("Data.Sheet.load()", "Data.Sheet.save()"),
    ("Set.deal()", "Set.shuffle()"),
    ("-[SentryTower fire]", "-[SentryTower reload]"), ("-[CLSRoom handleBell]", "-[CLSRoom handleNote]"),
    ("_os_crash_course", "_os_crash_dummy"), ("doDecrementStock", "doDecrementStockLater"),
    ("tryCastSpell", "tryCastLine"),
    ("decode(int)", "decode(std::string const&)"),
    ("load()::{lambda()#1}::operator()() const", "load()::{lambda()#2}::operator()() const"),
    ("main.load.func1", "main.load.func2"), ("closure #1 in Cart.load()", "closure #2 in Cart.load()"),
  ]

  @Test(arguments: pairs)
  func `Two functions of a program are two groups`(one: String, other: String) {
    for kind in [ChoiceTests.kind("bad-access[null]", fault: true), ChoiceTests.kind("abort", abort: true)] {
      let top = kind.isAbort ? ["raise|libc.so.6", "abort|libc.so.6"] : []
      let signatures = [one, other].map { name in
        ChoiceTests.signature(kind, top + ["\(name)|shop", "Sky::project()|shop", "main|shop"])
      }
      #expect(signatures[0].id != signatures[1].id, "\(signatures[0].text)")
      #expect(signatures[0].explanation[top.count].decision == .anchor, "\(one): \(signatures[0].text)")
    }
  }

  @Test(arguments: ["__vfprintf_internal", "_IO_puts", "____strtoll_l_internal", "getenv", "mktime"])
  func `A C library in the program's own file is skipped`(function: String) {
    let signatures = ["logLogin", "logCart"].map { caller in
      ChoiceTests.signature(
        ChoiceTests.kind("bad-access[null]", fault: true), ["\(function)|shop", "\(caller)|shop", "main|shop"])
    }
    #expect(signatures[0].id != signatures[1].id)
    #expect(signatures[0].explanation[1].decision == .anchor, "\(signatures[0].text)")
    // A library of its own is not the program's.
    let other = ChoiceTests.signature(
      ChoiceTests.kind("bad-access[null]", fault: true), ["\(function)|libc.so.6", "logLogin|shop", "main|shop"])
    #expect(other.explanation[1].decision == .anchor)
  }

  @Test func `All frames that version 1 took for real ones are taken still`() {
    for (id, frames) in RuleTests.frames {
      for (symbol, module) in frames {
        let rule = RuleTests.rule(
          symbol, in: module, .second,
          isGo: id.hasPrefix("go-") || ["runtime.", "sync."].contains { symbol.hasPrefix($0) })
        #expect(rule != nil, "\(id): \(symbol), \(module)")
      }
    }
  }

  /// Functions of libraries that programs are linked with, whose names begin as those of runtimes and loops do.
  private static let libraries = [
    ("dispatch_command", "dispatch_sql_command"), ("os_event_set", "os_file_read_func"),
    ("object_ref", "object_property_set"), ("strbuf_addf", "strvec_push"), ("wcsp2s", "wcss2p"),
    ("mem_pool_alloc", "mem_pool_discard"), ("lock_file_open", "lock_file_commit"),
    ("io_uring_get_sqe", "io_uring_queue_init"), ("tls_connect_servername", "tls_config_set_ca_file"),
    ("read_object_file", "read_index_from"), ("wait_or_whine", "wait_for_pager"), ("poll_add", "poll_remove"),
    ("signal_add", "signal_emit"), ("thread_pool_submit", "thread_pool_wait"), ("free_commit_list", "free_tree_buffer"),
    ("rocksdb::Arena::Allocate(unsigned long)", "rocksdb::Arena::AllocateNewBlock(unsigned long)"),
    ("alloc::BuddyHeap::take(int)", "alloc::BuddyHeap::merge(int)"),
    ("mono::Mixer::render(float*)", "mono::Mixer::resample(float*)"), ("uv_encode_plane", "uv_decode_plane"),
    ("-[DDXMLNode stringValue]", "-[DDXMLDocument rootElement]"),
  ]

  @Test(arguments: libraries)
  func `Two functions of a library are two faults`(one: String, other: String) {
    for kind in [ChoiceTests.kind("bad-access[null]", fault: true), ChoiceTests.kind("abort", abort: true)] {
      let raise = kind.isAbort ? ["raise|libc.so.6", "abort|libc.so.6"] : []
      let texts = [one, other].map { name in
        ChoiceTests.signature(kind, raise + ["\(name)|shop", "handle|shop", "main|shop"]).text
      }
      #expect(texts[0] != texts[1])
      for (text, name) in zip(texts, [one, other]) { #expect(text.contains(name), "\(text)") }
    }
  }
}
