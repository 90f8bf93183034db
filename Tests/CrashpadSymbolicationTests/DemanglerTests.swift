// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadSymbolication
import Testing
import ToolRunner

@Suite("Demangler")
struct DemanglerTests {
  @Test(
    "Mangled names become those that people wrote",
    arguments: [
      // Swift
      ("$s4main3fooyyF", "main.foo() -> ()"),
      ("_$s4main3fooyyF", "main.foo() -> ()"),
      ("_T04main3fooyyF", "main.foo() -> ()"),
      ("$s4main3fooyyF.cold.1", "main.foo() -> () with unmangled suffix \".cold.1\""),
      (
        "$s4main5StoreC4load3keySaySiGSgSDySSypG_tF",
        "main.Store.load(key: [Swift.String : Any]) -> [Swift.Int]?"
      ),
      ("$s4main1fyyyycSgF", "main.f((() -> ())?) -> ()"),
      ("$sSa4mainSQRzlE1fyyF", "(extension in main):Swift.Array<A where A: Swift.Equatable>.f() -> ()"),
      // The file id of a private declaration, which has letters that look like references.
      (
        "$s10Foundation24URLResourceValuesStorageC4read33_F90A2F480B61EE78BC0B3683A06A0466LL_3forSDyAA0B3KeyVypSgGSayAHG"
          + "_AA5NSURLCtKF15volumeAttributeL_yAI0A10Essentials04FilesP0VKFTf0nnsnns_n",
        "function signature specialization <Arg[2] = Stack Promoted from Box, Arg[5] = Stack Promoted from Box> of "
          + "volumeAttribute #1 (FoundationEssentials.FileAttributeKey) throws -> Any? in "
          + "Foundation.URLResourceValuesStorage.(read in _F90A2F480B61EE78BC0B3683A06A0466)(_: "
          + "[Foundation.URLResourceKey], for: Foundation.NSURL) throws -> [Foundation.URLResourceKey : Any?]"
      ),
      // C++
      ("_Z3fooi", "foo(int)"),
      ("__Z3fooi", "foo(int)"),
      ("_Z3fooi.cold", "foo(int) (.cold)"),
      ("_Z3fooi.part.0.llvm.123", "foo(int) (.part.0.llvm.123)"),
      ("_ZN3App5startEv.isra.0", "App::start() (.isra.0)"),
      ("_ZN7QWidget4showEv.isra.0", "QWidget::show() (.isra.0)"),
      ("_ZN4core9AssetFile7usrPathEv", "core::AssetFile::usrPath()"),
      (
        "_Z5twiceIiENSt9enable_ifIXsr3std11is_integralIT_EE5valueEiE4typeES1_",
        "std::enable_if<std::is_integral<int>::value, int>::type twice<int>(int)"
      ),
      // Without an N behind the sr, as GCC writes it.
      (
        "_Z5twiceIiENSt9enable_ifIXsrSt11is_integralIT_E5valueEiE4typeES2_",
        "std::enable_if<std::is_integral<int>::value, int>::type twice<int>(int)"
      ),
      (
        "_ZNK3AnycvT_IivEEv",
        "Any::operator int<int, void>() const"
      ),
      ("_ZN3geo5totalEPKPK5Shapei", "geo::total(Shape const* const*, int)"),
      ("___Z3foov_block_invoke", "invocation function for block in foo()"),
      ("____Z3foov_block_invoke_2", "invocation function for block in foo()"),
      // Rust's legacy names
      ("_ZN4core3fmt9Formatter3new17h0123456789abcdefE", "core::fmt::Formatter::new"),
      ("_ZN4core3fmt9Formatter3new17h0123456789abcdefE.llvm.A5F0", "core::fmt::Formatter::new"),
      (
        "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
        "<Test + 'static as foo::Bar<Test>>::bar"
      ),
      // Rust's v0, of RFC 2603
      ("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"),
      ("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate", "<std::path::PathBuf>::new"),
      ("_RNCNCNvCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"),
      ("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"),
      (
        "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
        "utf8_idents::საჭმელად_გემრიელი_სადილი"
      ),
    ])
  func names(symbol: String, name: String) {
    #expect(Demangler.demangle(symbol) == name)
    var demangler = Demangler()
    #expect(demangler.name(symbol) == name)
    #expect(demangler.name(symbol) == name)
  }

  @Test(
    "Other names stay as they are",
    arguments: [
      "", "_", "main", "_main", "-[View layout]", "+[View new]", "$", "_R", "_Z", "_RNvC", "$sXX", "OBJC_CLASS_$_X",
    ])
  func others(symbol: String) {
    var demangler = Demangler()
    #expect(demangler.name(symbol) == symbol)
    #expect(Demangler.demangle(symbol) == nil)
  }

  @Test("Names that would become gigabytes stay as they are")
  func explosions() {
    // Each Foo has the one before twice.
    var swift = "$s1a1fyyAA3FooVyADy"
    swift += String(repeating: "ADy", count: 21) + "S2iG"
    for letter in "EFGHIJKLMNOPQRSTUVWXY" { swift += "A\(letter)G" }
    #expect(Demangler.demangle(swift + "AZGF") == nil)
    var cxx = "_Z1f1PIiiE"
    for digit in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" { cxx += "S_IS\(digit)_S\(digit)_E" }
    #expect(Demangler.demangle(cxx) == nil)
    // The functions of libstdc++ 12 that never return.
    for symbol in [
      "_ZSfIXsrU", "_Z1fIXsr1aIT_E1bUs", "_ZN5swifn7jlEENSt9enable_ifIXsrC", "_ZSfIXsr3fooU3barE", "_ZSfIXsrDE",
    ] {
      #expect(Demangler.demangle(symbol) == nil)
    }
    #expect(Demangler.demangle("_ZN" + String(repeating: "1a", count: 1 << 20) + "E") == nil)
    #expect(Demangler.demangle("_RNvC1a" + String(repeating: "R", count: 3000) + "u") == nil)
    // A tuple of two references to the tuple before, and so on.
    var rust = "_RINvC1a1fTuuE"
    var last = 8
    for _ in 0..<40 {
      let next = rust.utf8.count - 2
      rust += "TB\(base62(last))B\(base62(last))E"
      last = next
    }
    #expect(Demangler.demangle(rust + "E") == nil)
  }

  @Test(
    "Swift names with many references, and with names of other functions in them, are read",
    arguments: [
      (
        "$s3SIL11WalkerCacheV0C5Entry029_F0A4831A974E5A910FA31AFED0E4E2E9LLV8needWalk4pathxSgx_tF",
        "SIL.WalkerCache.(CacheEntry in _F0A4831A974E5A910FA31AFED0E4F0E9).needWalk(path: A) -> A?"
      ),
      (
        "$s7SWBUtil4PathVs5Error_pIggzo_ACytSgsAD_pIeggrzo_TR0100$s7SWBCore11XCFrameworkV22removeSwiftModuleFiles33_"
          + "63F5460EAB7370BA51EA592F5DA5993CLL4fromy7SWBUtil4B15V_tKFZyAIKXEfU_Tf3nnpf_n",
        "function signature specialization <Arg[2] = [Constant Propagated Function : closure #1 (SWBUtil.Path) throws -> () "
          + "in static SWBCore.XCFramework.(removeSwiftModuleFiles in _63F5460EAB7370BA51EA592F5DA5993C)(from: SWBUtil.Path) "
          + "throws -> ()]> of reabstraction thunk helper from @callee_guaranteed (@guaranteed SWBUtil.Path) -> "
          + "(@error @owned Swift.Error) to @escaping @callee_guaranteed (@guaranteed SWBUtil.Path) -> "
          + "(@out ()?, @error @owned Swift.Error)"
      ),
    ])
  func references(symbol: String, name: String) {
    #expect(Demangler.demangle(symbol) == name)
  }

  @Test("Many parameters of types that are named once do not look like gigabytes")
  func manyParameters() throws {
    // The types of a function, and the same ones by reference of a closure in it.
    let types = (0..<26).map { "AA3F\(letter($0, 97))\(letter($0, 97))VSg" }
    let references = (0..<26).map { number in
      let part = 4 + 3 * number
      return part < 26 ? "A" + letter(part, 65) : "A\(part == 26 ? "" : String(part - 27))_"
    }
    let symbol = "$s1m1fyy\(list(types))tFy\(list(references))tXEfU_"
    let name = try #require(Demangler.demangle(symbol))
    #expect(name.hasPrefix("closure #1 (m.Faa?, m.Fbb?, "))
  }

  private func letter(_ number: Int, _ first: Int) -> String {
    String(UnicodeScalar(UInt8(first + number)))
  }

  private func list(_ types: [String]) -> String { types[0] + "_" + types.dropFirst().joined() }

  @Test(
    "Specializations that end too early are refused: Swift's demangler reads beyond them for ever",
    arguments: ["$s3foo3baryyFTf3p", "$s3foo3baryyFTf3nnp", "$s3foo3baryyF17$s3foo3baryyFTf3pTf3pf_n"])
  func endless(symbol: String) {
    #expect(Demangler.demangle(symbol) == nil)
  }

  private func base62(_ value: Int) -> String {
    if value == 0 { return "_" }
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    var text = ""
    var rest = value - 1
    repeat {
      text = String(digits[rest % 62]) + text
      rest /= 62
    } while rest > 0
    return text + "_"
  }

  @Test("Changed names never trap")
  func mutations() {
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let names = [
      "$s8Dispatch0A5QueueC11getSpecific3keyxSgAA0aD3KeyCyxG_tlF", "_ZNSt3mapISsiSt4lessISsESaISt4pairIKSsiEEEixERS3_",
      "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
      "_RINvCs2_1a1fKj7b_KVNtB2_1SS1xKc61_1yb1_ENtB2_1TDNtB2_1UpI1vhEL_FUKCyEuE",
      "_ZN71_$LT$Test$u20$$u2b$$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
    ].map { Array($0.utf8) }
    for round in 0..<Soak.times(20_000, or: 5_000) {
      var bytes = names[round % names.count]
      for _ in 0...random.below(4) {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = UInt8(random.between(33, 126))
        case 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(random.between(1, 20)), at: place)
        }
        if bytes.isEmpty { bytes = [0x5f] }
      }
      _ = Demangler.demangle(String(decoding: bytes, as: UTF8.self))
    }
  }

  // MARK: Against other tools

  private static func has(_ command: String) -> Bool {
    guard let folder = try? TemporaryFolder() else { return false }
    return (try? Tool.shell("command -v \(command)", in: folder).status) == 0
  }

  private static let cxxfilt = ["llvm-cxxfilt-19", "llvm-cxxfilt"].first(where: has)
  /// Toolchains of rustup are not on the commands' PATH; they are in the home directory of who runs the tests.
  private static let rustc: String? = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/rustc" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  private static let rustSource = """
    #![crate_type = "lib"]
    pub trait Shape<'a> { type Out; fn area(&'a self) -> Self::Out; }
    pub struct Square<T, const N: usize>(pub T);
    impl<'a, T: Copy + 'a, const N: usize> Shape<'a> for Square<T, N> {
      type Out = T;
      #[inline(never)] fn area(&'a self) -> T { self.0 }
    }
    impl<T, const N: usize> Square<T, N> {
      #[inline(never)] pub fn each<F: Fn(&T) -> bool>(&self, f: F) -> bool { f(&self.0) }
    }
    #[inline(never)] pub fn generic<T, const C: char, const B: bool, const I: i32>(_: T) -> usize { I as usize }
    pub mod größe { #[inline(never)] pub fn ändern(x: &mut [u8]) { x[0] = 1 } }
    pub fn all() {
      let s = Square::<u64, 7>(3);
      println!("{} {}", s.area(), s.each(|x| { let f = |y: u64| y > 1; f(*x) }));
      generic::<(u8,), 'x', true, -5>((1,));
      generic::<fn(&str, *const i8) -> !, '\\'', false, 9>(|_, _| panic!());
      generic::<unsafe extern "C" fn(&mut u8), 'ä', false, 0>({ unsafe extern "C" fn g(_: &mut u8) {} g });
      generic::<&dyn for<'a> Fn(&'a [u8; 4]) -> &'a (), 'q', true, 1>(&|_| &());
      generic::<Box<dyn Iterator<Item = String> + Send>, 'q', true, 2>(Box::new(std::iter::empty()));
      größe::ändern(&mut [0]);
    }
    """

  @Test(
    "Rust's compiler and LLVM's demangler agree",
    .enabled(if: rustc != nil && cxxfilt != nil, "rustc or llvm-cxxfilt is not installed"),
    arguments: ["v0", "legacy"])
  func rust(version: String) throws {
    let rustc = try #require(Self.rustc)
    let cxxfilt = try #require(Self.cxxfilt)
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.rustSource.utf8), to: "a.rs")
    // A toolchain's rustc finds its own through HOME, which the runner hides.
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
    let build = try Tool.shell(
      "HOME='\(home)' '\(rustc)' -C symbol-mangling-version=\(version) --emit=obj -o a.o a.rs"
        + (version == "legacy" ? " -Z unstable-options" : ""), in: folder)
    if build.status != 0, version == "legacy" { return }
    try #require(build.status == 0, "\(build.errorText)")
    let symbols = try Tool.shell("nm a.o | awk '{print $NF}' | grep -E '^(_R|_ZN)' | sort -u", in: folder).outputLines
      .map(String.init).filter { !$0.isEmpty }
    try #require(symbols.count > 20)
    try folder.write(Array(symbols.joined(separator: "\n").utf8), to: "symbols")
    let expected = try Tool.shell("\(cxxfilt) < symbols", in: folder).outputLines.map(String.init)
    for (symbol, name) in zip(symbols, expected) {
      // LLVM shows the hashes of crates, and the types of constants, that people did not write.
      let plain = name.replacing(#/\[[0-9a-f]{8,16}\]/#, with: "").replacing(#/::h[0-9a-f]{16}$/#, with: "")
      let own = Demangler.demangle(symbol)
      #expect(own != nil, "\(symbol)")
      // LLVM escapes what is not ASCII.
      if version == "v0" { #expect(own?.replacing("ä'", with: "\\u{e4}'") == plain, "\(symbol)") }
    }
  }
}
