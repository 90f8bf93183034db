// SPDX-License-Identifier: Apache-2.0
/// One row of the table of frames that say nothing of the fault: which functions, where, and why.
///
/// Each row holds in the modules of a runtime, or for the symbols of a language: a program's own functions may have any name.
/// There is no way to make a row without either.
package struct SignatureRule: Sendable {
  package let rule: FrameRule
  /// Patterns of the normalized name. With no name at all, every frame of `modules` without a name.
  package let names: [Glob]
  /// The modules in which `names` hold; nil if they hold for all symbols that are known to be of `languages`.
  package let modules: ModuleList?
  /// Names in full, or with a namespace of their own, that hold in every module for symbols that may be of `languages`: what
  /// is linked into programs.
  package let anywhere: [Glob]
  package let languages: Language

  package var id: String { rule.id }

  /// A row of the modules of a runtime.
  init(
    _ frameClass: FrameRule.Class, _ id: String, _ names: [Glob], in modules: ModuleList, anywhere: [Glob] = [],
    of languages: Language = .c, meaning: String? = nil, callsNothing: Bool = false, _ reason: String
  ) {
    rule = FrameRule(frameClass, id, meaning: meaning, callsNothing: callsNothing, reason)
    (self.names, self.modules, self.anywhere, self.languages) = (names, modules, anywhere, languages)
  }

  /// A row of a language.
  init(
    _ frameClass: FrameRule.Class, _ id: String, _ names: [Glob], anywhere: [Glob] = [], of languages: Language,
    meaning: String? = nil, callsNothing: Bool = false, _ reason: String
  ) {
    rule = FrameRule(frameClass, id, meaning: meaning, callsNothing: callsNothing, reason)
    (self.names, modules, self.anywhere, self.languages) = (names, nil, anywhere, languages)
  }

  var isOfUnnamed: Bool { names.isEmpty && anywhere.isEmpty }

  /// In the order in which they are tried: the first that matches counts.
  package static let all = captureRules + raiseRules + waitRules + loopRules + baseRules + runtimeRules
}

/// Patterns of modules' file names.
package struct ModuleList: Sendable, ExpressibleByArrayLiteral {
  package let globs: [Glob]

  package init(arrayLiteral globs: Glob...) { self.globs = globs }

  private init(_ globs: [Glob]) { self.globs = globs }

  static func + (one: ModuleList, other: ModuleList) -> ModuleList { ModuleList(one.globs + other.globs) }

  func contains(_ module: String) -> Bool { globs.contains { $0.matches(module) } }

  /// The C library with its loader, and what stands in its place on other systems.
  static let c: ModuleList = [
    "libc.so*", "libc-2.*", "libc.musl*", "libm.so*", "libm-2.*", "libpthread*", "librt.so*", "librt-2.*", "libdl.so*",
    "ld-musl*", "ld-linux*", "ld-2.*", "linux-vdso*", "linux-gate*", "vdso", "[vdso]", "libsystem_*", "libSystem*",
    "libdyld*", "dyld", "dyld_sim", "libcompiler_rt*", "libresolv*", "linker", "linker64", "ntdll*", "kernel32*",
    "KERNEL32*", "kernelbase*", "KERNELBASE*", "ucrtbase*", "msvcrt*", "vcruntime*", "VCRUNTIME*",
  ]
  static let cxx: ModuleList = [
    "libstdc++*", "libc++*", "libgcc_s*", "libunwind*", "msvcp*", "MSVCP*", "vcruntime*", "VCRUNTIME*", "libobjc*",
  ]
  static let objectiveC: ModuleList = [
    "libobjc*", "CoreFoundation", "Foundation", "libsystem_blocks*", "libBlocksRuntime*",
  ]
  static let swift: ModuleList = [
    "libswift*", "lib_Foundation*", "libFoundation*", "lib_StringProcessing*", "lib_RegexParser*",
    "libSynchronization*",
  ]
  static let dispatch: ModuleList = ["libdispatch*", "libxpc*"]
  /// The frameworks in which an application's events arrive.
  static let apple: ModuleList = [
    "UIKit*", "AppKit", "GraphicsServices", "HIToolbox", "FrontBoardServices", "WatchKit", "SwiftUI", "SwiftUICore",
    "BackBoardServices",
  ]
  static let sanitizers: ModuleList = [
    "libasan*", "libubsan*", "libtsan*", "liblsan*", "libhwasan*", "libclang_rt.*",
  ]
  static let allocators: ModuleList = [
    "libjemalloc*", "libtcmalloc*", "libmimalloc*", "librpmalloc*", "libmozglue*",
  ]
  /// Engines that come with programs and run their code.
  static let engines: ModuleList = [
    "Flutter", "libflutter*", "hermes", "libhermes*", "UnityFramework", "UnityPlayer*", "libunity*", "GameAssembly*",
    "libil2cpp*", "libmono*", "QtCore", "Qt?Core*", "libQt?Core*", "JavaScriptCore", "libjsc*", "React", "libreact*",
    "libjsi*",
  ]
  static let crashReporters: ModuleList = [
    "Sentry", "SentryPrivate", "libsentry*", "KSCrash*", "CrashReporter", "PLCrashReporter*", "Bugsnag*", "libbugsnag*",
    "FirebaseCrashlytics", "libcrashlytics*", "Datadog*", "AppCenterCrashes", "Instabug*", "NewRelic*",
    "Backtrace", "dbgcore.dll", "dbghelp.dll",
  ]
}

/// Finds the row of a frame.
struct RuleIndex: Sendable {
  private var patterns = PatternIndex()

  private static let shared = RuleIndex()

  private static let unnamed = SignatureRule.all.filter(\.isOfUnnamed)

  private init() {
    // Two orders for each row: that of its modules, and that of every module.
    for (order, rule) in SignatureRule.all.enumerated() {
      for glob in rule.names { patterns.add(glob, order: 2 * order) }
      for glob in rule.anywhere { patterns.add(glob, order: 2 * order + 1) }
    }
  }

  /// The rule for a frame without a name. It needs no index, which takes longer to make than a small dump to read.
  static func ruleOfUnnamed(in module: String) -> FrameRule? {
    unnamed.first { $0.modules?.contains(module) == true }?.rule
  }

  /// - Parameters:
  ///   - name: normalized; nil for a frame without one.
  ///   - module: the module's file name.
  ///   - origin: whose function it is, as far as its symbol shows.
  static func rule(_ name: String?, in module: String?, _ origin: SymbolOrigin) -> FrameRule? {
    guard let name else { return module.flatMap { ruleOfUnnamed(in: $0) } }
    return shared.rule(of: name, in: module, origin)
  }

  private func rule(of name: String, in module: String?, _ origin: SymbolOrigin) -> FrameRule? {
    let rules = SignatureRule.all
    return patterns.first(name) { order in
      let rule = rules[order / 2]
      if order % 2 == 1 { return origin.mayBe(rule.languages) }
      guard let modules = rule.modules else { return origin.isKnown(as: rule.languages) }
      // The library may be linked into the program.
      return origin.isInSwiftLibrary && modules.contains("libswiftCore.so")
        || module.map { modules.contains($0) } ?? false
    }.map { rules[$0 / 2].rule }
  }
}
