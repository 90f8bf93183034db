// SPDX-License-Identifier: Apache-2.0
import CrashpadSignatures
import Foundation
import Testing

/// One name for what compilers, optimizers and symbol files name in many ways.
struct FunctionNameTests {
  struct Form: Sendable, CustomTestStringConvertible {
    let name: String
    let symbols: [String]
    var image: String?
    var testDescription: String { name }
  }

  static let swift = [
    Form(
      name: "VC.viewDidLoad",
      symbols: [
        "VC.viewDidLoad()", "App.VC.viewDidLoad() -> ()", "@objc VC.viewDidLoad()", "specialized VC.viewDidLoad()",
        "merged VC.viewDidLoad()",
        "@objc App.VC.viewDidLoad() -> ()", "partial apply for VC.viewDidLoad()", "VC.viewDidLoad() [inlined]",
        "static App.VC.viewDidLoad() throws -> ()",
        "generic specialization <Swift.Int> of App.VC.viewDidLoad() -> ()",
        "protocol witness for VC.viewDidLoad() in conformance VC",
        "function signature specialization <Arg[0] = Dead> of App.VC.viewDidLoad() -> ()",
        "(2) await resume partial function for VC.viewDidLoad()",
        "$s3App2VCC11viewDidLoadyyF", "_$s3App2VCC11viewDidLoadyyF", "$s3App2VCC11viewDidLoadyyF.cold.1",
        "VC.viewDidLoad() (.cold.1)",
      ], image: "App"),
    Form(
      name: "Note.score",
      symbols: [
        "App.Note.score(Swift.Int) -> Swift.Int", "Note.score(_:)",
        "protocol witness for App.Entry.score(Swift.Int) -> Swift.Int in conformance App.Note : App.Entry in App",
        "protocol witness for Entry.score(_:) in conformance Note",
        "protocol witness for App.Entry.score(Swift.Int) -> Swift.Int in conformance <A> App.Note<A> : App.Entry in App",
        "protocol witness for App.(Entry in _0123456789ABCDEF0123456789ABCDEF).score(Swift.Int) -> Swift.Int in conformance App.(Note in _0123456789ABCDEF0123456789ABCDEF) : App.(Entry in _0123456789ABCDEF0123456789ABCDEF) in App",
        "$s3App4NoteVAA5EntryA2aDP5scoreyS2iFTW",
      ], image: "App"),
    Form(
      name: "Note.words.getter",
      symbols: [
        "App.Note.words.getter : [Swift.String]",
        "protocol witness for App.Entry.words.getter : [Swift.String] in conformance App.Note : App.Entry in App",
      ], image: "App"),
    Form(
      name: "(closure) VC.viewDidLoad",
      symbols: [
        "closure #1 (Swift.Int) -> () in App.VC.viewDidLoad() -> ()", "closure #7 in closure #1 in VC.viewDidLoad()",
        "partial apply for closure #1 in VC.viewDidLoad()", "implicit closure #2 in VC.viewDidLoad()",
        "closure #1 in VC.viewDidLoad()partial apply".replacing("partial apply", with: ""),
      ], image: "App"),
    Form(
      name: "Store.load(_:from:)",
      symbols: [
        "Store.load(_:from:)", "App.Store.load(_: Swift.String, from: Foundation.URL) throws -> [Swift.Int]",
        "specialized Store.load(_:from:)",
        "App.(Store in _0123456789ABCDEF0123456789ABCDEF).load(_: Swift.String, from: [Swift.String : Swift.Int]) async -> ()",
      ], image: "App"),
    Form(
      name: "Store.total.getter", symbols: ["Store.total.getter", "App.Store.total.getter : Swift.Int"], image: "App"),
    Form(
      name: "Cart.total",
      symbols: ["Cart.total()", "Cart.total() [inlined]", "$defer #1 () in Cart.total()", "Cart.total()"]),
    Form(
      name: "Array._checkSubscript(_:wasNativeTypeChecked:)",
      symbols: ["specialized Array._checkSubscript(_:wasNativeTypeChecked:)"]),
    Form(name: "Foo.< infix", symbols: ["static Foo.< infix(_:_:)"]),
    Form(name: "outlined destroy of Cart", symbols: ["outlined destroy of Cart"]),
  ]

  static let objectiveC = [
    Form(
      name: "-[VC tap:]",
      symbols: [
        "-[VC tap:]", "-[VC(Events) tap:]", "__10-[VC tap:]_block_invoke", "___10-[VC tap:]_block_invoke_2",
        "__10-[VC tap:]_block_invoke.34", "-[VC tap:].cold.1",
        "-[VC+ 1045168 (Events) tap:]",
      ]),
    Form(name: "+[VC shared]", symbols: ["+[VC shared]", "__12+[VC shared]_block_invoke"]),
  ]

  static let cxx = [
    Form(
      name: "Cart::total",
      symbols: [
        "Cart::total(int)", "Cart::total(int) const", "Cart::total", "_ZN4Cart5totalEi", "__ZN4Cart5totalEi",
        "_ZN4Cart5totalEi.cold", "Cart::total(int) [clone .cold]",
        "Cart::total(int) [clone .isra.0] [clone .cold]", "Cart::total(int) (.cold.1)", "_ZNK4Cart5totalEi.part.0",
        "virtual thunk to Cart::total(int)",
        "non-virtual thunk to Cart::total(int) const", "invocation function for block in Cart::total(int)",
        "_ZN4Cart5totalEi.llvm.1234567",
        "Cart::total[abi:cxx11](int)",
      ]),
    Form(
      name: "Cart::get<T>",
      symbols: [
        "long Cart::get<long>(long)",
        "std::vector<int>& Cart::get<std::map<int, (anonymous namespace)::A>>(int (*)(long))", "_ZN4Cart3getIlEET_S1_",
      ]),
    Form(
      name: "(anonymous)::load",
      symbols: [
        "(anonymous namespace)::load()", "{anonymous}::load()", "void (anonymous namespace)::load(int)",
        "_ZN12_GLOBAL__N_14loadEi",
      ]),
    Form(
      name: "run::λ",
      symbols: [
        "run()::{lambda(int, int)#1}::operator()(int, int) const", "run()::$_0::operator()(int, int) const",
        "run()::'lambda0'(int)::operator()(int) const", "run()::$_3::__invoke(int)",
      ]),
    Form(name: "Money::operator<", symbols: ["Money::operator<(Money const&) const"]),
    Form(name: "operator<<T>".replacing("<<T>", with: "<<"), symbols: ["operator<<(std::ostream&, Cart const&)"]),
    Form(name: "operator<<<T>", symbols: ["std::ostream& operator<<<char>(std::ostream&, Cart const&)"]),
    Form(name: "Cart::operator->", symbols: ["Cart::operator->() const"]),
    Form(name: "Cart::operator()", symbols: ["Cart::operator()(int) const"]),
    Form(name: "operator new", symbols: ["operator new(unsigned long)", "_Znwm"]),
    Form(name: "Cart::operator unsigned int", symbols: ["Cart::operator unsigned int() const"]),
  ]

  static let others = [
    Form(
      name: "prog::run",
      symbols: [
        "prog::run", "prog::run::h0123456789abcdef", "_ZN4prog3run17h0123456789abcdefE", "_RNvCs1234_4prog3run",
        "prog::run::<i32>",
      ]),
    Form(
      name: "prog::run::{{closure}}",
      symbols: ["prog::run::{{closure}}", "prog::run::{{closure}}::h99", "prog::run::{closure#0}"]),
    Form(
      name: "<prog::Cart as core::fmt::Display>::fmt",
      symbols: ["<prog::Cart as core::fmt::Display>::fmt", "<prog::Cart<i32> as core::fmt::Display>::fmt"]),
    Form(
      name: "prog::Cart::total", symbols: ["<prog::Cart>::total", "<prog::Cart<u8>>::total", "prog::Cart::total::<u8>"]),
    Form(
      name: "main.(*Cart).Total",
      symbols: ["main.(*Cart).Total", "main.(*Cart[...]).Total".replacing("[...]", with: "")]),
    Form(name: "(closure) main.run", symbols: ["main.run.func1", "main.run.func2.1", "main.run.gowrap1"]),
    Form(
      name: "memcpy",
      symbols: [
        "memcpy", "memcpy@@GLIBC_2.14", "memcpy@plt", "__memcpy_avx_unaligned_erms", "__memcpy_evex_unaligned",
        "__GI_memcpy", "__memcpy_sse2",
      ]),
    Form(
      name: "parse_line",
      symbols: [
        "parse_line", "parse_line.cold", "parse_line.isra.0", "parse_line.constprop.0.isra.0", "parse_line.part.3",
        "parse_line.llvm.998", "__parse_line_block_invoke_2",
      ]),
    Form(name: "pthread_kill", symbols: ["pthread_kill", "pthread_kill$VARIANT$mp"]),
  ]

  @Test(arguments: swift + objectiveC + cxx + others)
  func `Names of one function are the same`(form: Form) {
    for symbol in form.symbols {
      #expect(FunctionName.normalized(symbol, image: form.image, .first) == form.name, "\(symbol)")
    }
  }

  /// Names in version 2 keep what tells functions apart: parameters of C++, and numbers of closures.
  static let second = [
    Form(name: "camlStore__work", symbols: ["camlStore__work_166", "camlStore__work_238"]),
    Form(name: "camlStore.work", symbols: ["camlStore.work_12"]),
    Form(name: "camlStore__fun_667", symbols: ["camlStore__fun_667"]),
    Form(name: "caml_alloc_1", symbols: ["caml_alloc_1"]),
    Form(
      name: "Cart::find(int, std::string const&)",
      symbols: [
        "Cart::find(int, std::string const&)", "Cart::find(int, std::__1::basic_string<char> const&) const",
        "bool Cart::find(int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
        "_ZN4Cart4findEiRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
      ]),
    Form(name: "Cart::total", symbols: ["Cart::total()", "Cart::total() const", "Cart::total(void)", "Cart::total"]),
    // Local to a file: compilers leave out the parameters where it is inlined.
    Form(name: "shop::helper", symbols: ["_ZN4shopL6helperEi", "shop::helper", "shop::helper()"]),
    Form(name: "URL::load(int)", symbols: ["_ZN3URL4loadEi", "URL::load(int)"]),
    // The words behind variants of a function are words of programs, too.
    Form(name: "roll_back", symbols: ["roll_back"]), Form(name: "answer_no", symbols: ["answer_no"]),
    Form(name: "memcpy", symbols: ["__memcpy_ssse3_back", "__memcpy_avx_no_vzeroupper", "__memcpy_simd"]),
    // GCC's parts of coroutines, global and local to their file, and Clang's.
    Form(
      name: "Feed::load(int)",
      symbols: ["Feed::load(Feed::load(int)::_ZN4Feed4loadEi.Frame*)", "Feed::load(int)", "_ZN4Feed4loadEi.resume"]),
    Form(
      name: "fetch", symbols: ["fetch(fetch(int*)::_ZL5fetchPi.Frame*)", "_ZL5fetchPi.resume", "fetch"]),
    Form(
      name: "(anonymous)::Player::seconds",
      symbols: ["_ZN12_GLOBAL__N_16Player7secondsEi", "(anonymous namespace)::Player::seconds(int)"]),
    Form(
      name: "absl::Cord::load(absl::Status)",
      symbols: [
        "absl::lts_20230802::Cord::load(absl::lts_20230802::Status)",
        "absl::debian3::Cord::load(absl::debian3::Status)", "absl::Cord::load(absl::Status)",
      ]),
    Form(name: "absl::lts_open", symbols: ["absl::lts_open()"]),
    Form(name: "Ring<T>::at", symbols: ["Ring<int>::at(int)", "int& Ring<Order>::at(Order const&)"]),
    Form(
      name: "Cart::run::λ2",
      symbols: [
        "Cart::run(int)::{lambda(int)#2}::operator()(int) const", "Cart::run(int)::$_1::operator()(int) const",
        "Cart::run(int)::'lambda0'(int)::operator()(int) const",
      ]),
    Form(name: "VC.load.λ2", symbols: ["closure #2 in VC.load()", "partial apply for closure #2 in VC.load()"]),
    Form(name: "VC.load.λ1_3", symbols: ["closure #3 in closure #1 in App.VC.load() -> ()"], image: "App"),
    Form(name: "VC.load", symbols: ["implicit closure #2 in VC.load()", "VC.load()"]),
    Form(
      name: "-[VC tap:].λ1",
      symbols: [
        "__10-[VC tap:]_block_invoke", "___10-[VC tap:]_block_invoke", "__10-[VC tap:]_block_invoke.34",
        "__10-[VC(Events) tap:]_block_invoke.cold.1",
      ]),
    Form(name: "-[VC tap:].λ2", symbols: ["__10-[VC tap:]_block_invoke_2", "__10-[VC tap:]_block_invoke_2.45"]),
    Form(name: "parse_line.λ2", symbols: ["__parse_line_block_invoke_2", "__parse_line_block_invoke_2.cold.1"]),
    Form(name: "main.run.func2.1", symbols: ["main.run.func2.1"]),
    Form(name: "main.run", symbols: ["main.run.gowrap1", "main.run"]),
    Form(name: "com.shop.Cart.total", symbols: ["kfun:com.shop.Cart#total(){}kotlin.Int"]),
    Form(name: "Precompiled_Api_fetch", symbols: ["Precompiled_Api_fetch_1234", "Precompiled_Api_fetch_98"]),
  ]

  @Test(arguments: second)
  func `Names of one function are the same in version 2`(form: Form) {
    for symbol in form.symbols + [form.name] {
      #expect(FunctionName.normalized(symbol, image: form.image) == form.name, "\(symbol)")
    }
  }

  @Test(arguments: swift + objectiveC + cxx + others)
  func `A normalized name stays as it is`(form: Form) {
    // "(closure) f" is a form of signatures alone.
    guard !form.name.hasPrefix("(closure)"), !form.name.hasPrefix("outlined") else { return }
    for version in RuleVersion.allCases {
      #expect(FunctionName.normalized(form.name, image: form.image, version) == form.name)
    }
  }

  @Test func `Different methods stay different`() {
    let names = [
      "VC.tableView(_:didSelectRowAt:)", "VC.tableView(_:cellForRowAt:)", "-[VC tap:]", "+[VC tap:]", "Cart::total()",
      "Cart::count()", "<A as core::fmt::Display>::fmt",
      "<A as core::fmt::Debug>::fmt", "<B as core::fmt::Debug>::fmt", "Money::operator<(int)", "Money::operator<=(int)",
      "Money::operator<<(int)", "operator new(unsigned long)",
      "operator new[](unsigned long)", "operator delete(void*)",
    ]
    #expect(Set(names.map { FunctionName.normalized($0) }).count == names.count)
  }

  @Test func `Damaged names are names too`() {
    var generator = SystemRandomNumberGenerator()
    let pieces = [
      "<", ">", "(", ")", "[", "]", "{", "}", "::", " in ", " -> ", "closure #1", "operator", "_Z", "$s", "λ", ".cold",
      "-[", " as ", "'lambda", "\u{1b}", "é", "@", "+ 12 ",
    ]
    for _ in 0..<20_000 {
      let symbol = (0..<Int.random(in: 0..<9, using: &generator)).map { _ in
        pieces.randomElement(using: &generator) ?? ""
      }.joined()
      _ = FunctionName.normalized(symbol)
    }
  }

  @Test(arguments: [("$s", " #1 in a"), ("", "<f as T>"), ("<", "<"), ("a", "‹"), ("", "{lambda()#1}")])
  func `Names of a megabyte take neither the stack nor minutes`(start: String, part: String) {
    let begin = clock()
    _ = FunctionName.normalized(start + String(repeating: part, count: (1 << 20) / part.utf8.count))
    let seconds = Double(clock() - begin) / Double(CLOCKS_PER_SEC)
    #expect(seconds < 20, "\(seconds) s")
  }

  @Test(arguments: [
    "Cart::total(int) const::Item::go()", "Cart::total(int)::Item::go() const", "Cart::total(int) volatile::Item::go()",
    "Cart::total(int) const &::Item::go()", "long Cart::total(int) &&::Item::go() &&",
  ])
  func `A name in a function with qualifiers keeps the name of that function`(_ symbol: String) {
    #expect(FunctionName.normalized(symbol, image: "shop", .current) == "Cart::total::Item::go")
  }
}
