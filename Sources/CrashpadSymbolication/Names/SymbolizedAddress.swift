// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
/// A position in a program's source.
package struct SourceLocation: Sendable, Hashable {
  /// The path, without `..` in the middle, which compilers leave in paths of their own headers.
  package let file: String?
  /// The line number, starting at 1; 0 if unknown.
  package let line: UInt64
  /// The column number, starting at 1; 0 if unknown.
  package let column: UInt64

  package init(file: String?, line: UInt64, column: UInt64 = 0) {
    self.file = file.map(Self.tidied)
    self.line = line
    self.column = column
  }

  /// Converts `/usr/lib/gcc/../include/a.h` to `/usr/lib/include/a.h`. A symbolic link before `..` would lead
  /// elsewhere, but the path is from another machine and for display. A leading `..` is kept: `../a.c`
  static func tidied(_ path: String) -> String {
    let bytes = path.utf8
    guard let first = bytes.firstIndex(of: UInt8(ascii: "/")), path[first...].contains("/../") else { return path }
    var parts: [Substring] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false) {
      if part == "..", let last = parts.last, last != "..", last != ".", !last.isEmpty {
        parts.removeLast()
        // The rest of `a/../b` begins with b, not with a slash.
        continue
      }
      parts.append(part)
    }
    return parts.joined(separator: "/")
  }
}

/// The place of a lambda of C++ in the source of its function. Compilers number lambdas in different ways.
package struct LambdaPlace: Sendable, Hashable {
  /// The number of lines from the function's.
  package let line: Int
  /// The number of lambdas of the function before it on its line.
  package let rank: Int
}

/// The functions and the source location at an address.
package struct SymbolizedAddress: Sendable, Hashable {
  /// One function at the address. Inlined calls result in several.
  package struct Frame: Sendable, Hashable {
    /// The name in the symbols, mangled or not; nil if only the location is known.
    package let function: String?
    /// The demangled name; the same as `function` if that is not mangled, or demangling is off.
    package internal(set) var name: String?
    package let location: SourceLocation?
    /// The name with its namespaces and types, of a function of C++ of which the debug information has no mangled name.
    package private(set) var qualified: String?
    /// The place of a lambda in its function.
    package private(set) var lambda: LambdaPlace?
    /// The number of a closure of Rust in its function, from 0: older mangled names do not have it.
    package private(set) var closureNumber: Int?
    /// The path of the file that declares it. The location may be in another: that of a call which was inlined here, of which
    /// the debug information does not say that it was.
    package private(set) var declaredFile: String?

    package init(function: String?, location: SourceLocation?, declaredFile: String? = nil) {
      self.function = function.flatMap { nameUnlessBlank($0) }
      name = self.function
      self.location = location
      self.declaredFile = declaredFile
    }

    init(
      function: String?, location: SourceLocation?, qualified: String?, lambda: LambdaPlace?, closureNumber: Int?,
      declaredFile: String?
    ) {
      self.init(function: function, location: location, declaredFile: declaredFile)
      (self.qualified, self.lambda, self.closureNumber) = (qualified, lambda, closureNumber)
    }
  }

  /// The functions from the innermost inlined one to the compiled function, which is the last.
  package internal(set) var frames: [Frame]
  /// The start of the compiled function, relative to the module; nil if it is not known, as in some reports.
  package let functionAddress: UInt64?
  /// Whether the name is that of the nearest preceding symbol, which may be another function.
  package let isNearest: Bool

  package init(frames: [Frame], functionAddress: UInt64?, isNearest: Bool) {
    self.frames = frames
    self.functionAddress = functionAddress
    self.isNearest = isNearest
  }
}

extension SymbolizedAddress {
  /// Converts the address of the function to an offset from `base`.
  func relative(to base: UInt64) -> SymbolizedAddress {
    SymbolizedAddress(frames: frames, functionAddress: functionAddress.map { $0 &- base }, isNearest: isNearest)
  }
}
