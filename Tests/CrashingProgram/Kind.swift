// SPDX-License-Identifier: Apache-2.0
import CrashKinds

/// The ways in which the program ends. A new one is a case here, and a line in `run`.
enum Kind: String, CaseIterable {
  // Memory
  case null, wild
  case jumpNull = "jump-null"
  case stackOverflow = "stack-overflow"
  case doubleFree = "double-free"
  case heapOverflow = "heap-overflow"
  case bus
  // Swift
  case fatalError = "fatal-error"
  case precondition, bounds, overflow
  case forceUnwrap = "force-unwrap"
  case cast
  // C and C++
  case abort
  case assert
  case smash
  case cxxException = "cxx-exception"
  case cxxInteger = "cxx-integer"
  case pureVirtual = "pure-virtual"
  // Instructions and signals
  case fpe, illegal, trap, sys
  /// The number of the signal of --signal; 6 by default.
  case raise
  case twoThreads = "two-threads"
  /// A child crashes; this process exits with 128 and the child's signal.
  case fork, vfork
  // No crash
  /// The main thread never answers again.
  case hang
  /// Until a signal comes from outside.
  case wait
  case exit

  func run(signal: Int32) {
    switch self {
    case .null: kind_null()
    case .wild: kind_wild()
    case .jumpNull: kind_jump_null()
    case .stackOverflow: kind_stack_overflow()
    case .doubleFree: kind_double_free()
    case .heapOverflow: kind_heap_overflow()
    case .bus: kind_bus()
    case .fatalError: SwiftCrashes.callFatalError()
    case .precondition: SwiftCrashes.failPrecondition()
    case .bounds: SwiftCrashes.indexOutOfBounds()
    case .overflow: SwiftCrashes.overflow()
    case .forceUnwrap: SwiftCrashes.unwrapNil()
    case .cast: SwiftCrashes.castWrongly()
    case .abort: kind_abort()
    case .assert: kind_assert()
    case .smash: kind_smash()
    case .cxxException: kind_cxx_exception()
    case .cxxInteger: kind_cxx_exception_of_no_type()
    case .pureVirtual: kind_pure_virtual()
    case .fpe: kind_fpe()
    case .illegal: kind_illegal()
    case .trap: kind_trap()
    case .sys: kind_sys()
    case .raise: kind_raise(signal)
    case .twoThreads: kind_two_threads()
    case .fork: kind_in_child(0)
    case .vfork: kind_in_child(1)
    case .hang, .wait: wait_forever()
    case .exit: return
    }
  }
}

enum SwiftCrashes {
  @inline(never)
  static func callFatalError() { fatalError("the text of the fatal error") }

  @inline(never)
  static func failPrecondition() { precondition(CommandLine.arguments.count > 1000, "the text of the precondition") }

  @inline(never)
  static func indexOutOfBounds() { keep(CommandLine.arguments.map(\.count)[1000]) }

  @inline(never)
  static func overflow() { keep(Int.max - CommandLine.arguments.count + 2 * CommandLine.arguments.count) }

  @inline(never)
  static func unwrapNil() { keep(Int("no number " + CommandLine.arguments[0])!) }

  @inline(never)
  static func castWrongly() {
    let value: any Sendable = CommandLine.arguments[0]
    keep(value as! Int)
  }

  @inline(never)
  private static func keep(_ value: Int) { if value == 0x1234_5678_9abc { wait_forever() } }
}
