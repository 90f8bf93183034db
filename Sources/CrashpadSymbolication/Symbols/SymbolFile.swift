// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// A file with symbols, or the files of one build of a module that complete each other. Thread-safe.
///
/// Offsets are those from the module's load address.
package protocol SymbolFile: AnyObject, Sendable {
  /// The address of the module's first page in the file; 0 for formats whose addresses are relative to it.
  var imageBase: UInt64 { get }
  /// The id of the slice that was selected in a universal file; nil for other files.
  var sliceID: DebugID? { get }
  /// Whether there are neither names nor lines.
  var isEmpty: Bool { get }
  /// Whether lines are available, so that no further search is needed.
  var hasDebugInfo: Bool { get }
  /// Whether the rules for frames are those of the program itself. Breakpad's text lacks some of their data, such as
  /// which frames are signal frames.
  var hasOwnFrameRules: Bool { get }
  /// Findings so far; each affects only the names that depend on it.
  var findings: FindingList { get }

  /// The offset of the code that is started, of files that say so.
  var entry: UInt64? { get }

  /// The symbol at an offset; nil if no symbol is near.
  func symbolize(_ offset: UInt64) -> SymbolizedAddress?
  /// The functions through which the call led that returns to an offset; empty if debug information does not say.
  ///
  /// - Parameters:
  ///   - callee: the function in which it ended, as the symbols have it; nil if that is not known.
  ///   - place: an offset in that function; nil if it is in another module.
  func callPath(returningTo offset: UInt64, to callee: String?, at place: UInt64?) -> [CalledFunction]
  /// The start of the function that contains an offset, also as an offset.
  func functionAddress(_ offset: UInt64) -> UInt64?
  /// Returns the data that contains an offset, or the nearest data of unknown size before it. Nil if there is neither.
  func dataSymbol(at offset: UInt64) -> DataSymbol?
  /// Whether a return address in a stack can be at an offset, as far as known.
  func isInFunction(_ offset: UInt64) -> Bool
  /// The rules to unwind from a frame at an offset to its caller; nil if there are none.
  func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules?
  /// The caller's registers, from unwind information that has no rules per address.
  func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters?
  /// The bytes of parameters that the function takes off the stack when it returns; nil if unknown.
  func parameterSize(at offset: UInt64) -> UInt64?
  /// Eight bytes of code, little-endian; nil if the file does not have them.
  func code(at offset: UInt64) -> UInt64?
  /// Code around an offset, and how many bytes of it are before the offset; nil if the file does not have it.
  func code(around offset: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)?
  /// Up to `count` bytes that the file loads at an offset, code or not; nil if it does not have the first one.
  func data(at offset: UInt64, count: Int) -> [UInt8]?
}

extension SymbolFile {
  package var sliceID: DebugID? { nil }
  package var hasOwnFrameRules: Bool { true }
  package var entry: UInt64? { nil }
  package func callPath(returningTo offset: UInt64, to callee: String?, at place: UInt64?) -> [CalledFunction] { [] }
  package func dataSymbol(at offset: UInt64) -> DataSymbol? { nil }
  package func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? { nil }
  package func parameterSize(at offset: UInt64) -> UInt64? { nil }
  package func code(at offset: UInt64) -> UInt64? { nil }
  package func code(around offset: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? { nil }
  package func data(at offset: UInt64, count: Int) -> [UInt8]? { nil }
}
