// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Differences in which both answers are right, or ours is. A difference that is not in this list is an error.
enum KnownDifference: Hashable {
  /// The function that was not inlined is named by the symbol table here, as llvm-symbolizer does it: another alias, the
  /// other of two constructors, or a part that the compiler split off (`main.cold`, `sum.isra.0`). eu-addr2line has DWARF's
  /// own name there, and so has llvm-symbolizer of a file with the debug information alone.
  case symbolTableName
  /// The symbol table of a stripped program is in the file with its debug information, where llvm-symbolizer does not
  /// look for it.
  case strippedSymbol
  /// Without DWARF, llvm-symbolizer prints the last STT_FILE symbol that it saw, with line 0. For global
  /// symbols the file is often wrong.
  case fileSymbol
  /// eu-addr2line prints DW_AT_name where a function has no linkage name, as gcc gives none to lambdas and to what is in
  /// an unnamed namespace; ours has the symbol's name.
  case plainName
  /// eu-addr2line prints another chain of inlined calls for a few addresses of gcc's optimised programs. Where it was looked
  /// up, the entries that cover the address form one chain, which is not the one that it prints; why is not known.
  /// llvm-symbolizer has to have the same chain as we do.
  case elfutilsChain
}

extension KnownDifference {
  /// How our answer differs from llvm-symbolizer's; nil if it is equal, or if it differs in a way that is not known.
  static func fromLLVM(ours: Chain, llvm: Chain, symbols: Set<String>) -> KnownDifference? {
    guard let our = ours.frames.last, let their = llvm.frames.last else { return nil }
    if ours.knowsNoFile, llvm.frames.count == 1, their.line == 0, !their.file.isEmpty, !their.file.contains("/") {
      if our.function == their.function || symbols.isSuperset(of: [our.function, their.function]) {
        return .fileSymbol
      }
    }
    if ours.knowsNoFile, llvm.knowsNoFile, their.function.isEmpty, symbols.contains(our.function) {
      return .strippedSymbol
    }
    guard ours.renamingOutermost("") == llvm.renamingOutermost(""),
      symbols.contains(their.function) || isPart(our.function, of: their.function)
    else { return nil }
    return symbols.contains(our.function) ? .symbolTableName : nil
  }

  /// Whether a symbol such as `main.cold` is a part of a function. gcc's name for all symbols of a constructor (`C4`) or
  /// destructor (`D4`) stands in DWARF alone.
  private static func isPart(_ symbol: String, of function: String) -> Bool {
    let whole = String(symbol.prefix { $0 != "." })
    let unified = ["C1", "C2", "D0", "D1", "D2"].flatMap { kind in
      ["E", "I"].map { whole.replacingOccurrences(of: "\(kind)\($0)", with: "\(kind.prefix(1))4\($0)") }
    }
    return whole.contains(function) || unified.contains(function)
  }

  /// How our answer differs from that of eu-addr2line.
  static func fromElfutils(ours: Chain, elfutils: Chain, llvm: Chain?, symbols: Set<String>) -> KnownDifference? {
    if ours.withoutFunctions() == elfutils.withoutFunctions() {
      let differing = zip(ours.frames, elfutils.frames).filter { $0.function != $1.function }
      guard differing.count == 1, ours.frames.last != elfutils.frames.last, let our = ours.frames.last?.function
      else { return nil }
      let their = elfutils.frames.last?.function ?? ""
      if symbols.contains(our), symbols.contains(their) || isPart(our, of: their) { return .symbolTableName }
      return symbols.contains(our) && !their.hasPrefix("_Z") ? .plainName : nil
    }
    guard let llvm, ours.renamingOutermost("") == llvm.renamingOutermost("") else { return nil }
    return .elfutilsChain
  }
}
