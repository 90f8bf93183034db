// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import ToolRunner

/// The answer of one program for one address: the innermost frame first.
struct Chain: Equatable, CustomStringConvertible {
  struct Frame: Equatable {
    /// Empty where it is not known.
    var function: String
    var file: String
    var line: Int
    var column: Int
  }
  var frames: [Frame]

  var description: String {
    frames.map { frame in
      let function = frame.function.isEmpty ? "??" : frame.function
      return "\(function) \(frame.file.isEmpty ? "??" : frame.file):\(frame.line):\(frame.column)"
    }.joined(separator: " < ")
  }

  var knowsNoFile: Bool { frames.allSatisfy { $0.file.isEmpty } }

  /// With the same name for the outermost frame, which is the function that was not inlined.
  func renamingOutermost(_ name: String) -> Chain {
    var copy = self
    if !copy.frames.isEmpty { copy.frames[copy.frames.count - 1].function = name }
    return copy
  }

  func withoutColumns() -> Chain {
    var copy = self
    for index in copy.frames.indices { copy.frames[index].column = 0 }
    return copy
  }

  func withoutFunctions() -> Chain {
    var copy = self
    for index in copy.frames.indices { copy.frames[index].function = "" }
    return copy
  }
}

extension Chain.Frame {
  /// From `file:line:column`, where question marks stand for what is not known, and the column may be missing.
  init(function: String, location: Substring) {
    self.function = function == "??" ? "" : function
    var parts = location.split(separator: ":", omittingEmptySubsequences: false)
    var numbers: [Int] = []
    // elfutils puts the discriminator behind a blank.
    if let last = parts.last, let blank = last.firstIndex(of: " ") { parts[parts.count - 1] = last[..<blank] }
    while parts.count > 1, numbers.count < 2, let last = parts.last, last == "?" || Int(last) != nil {
      numbers.insert(Int(last) ?? 0, at: 0)
      parts.removeLast()
    }
    let file = parts.joined(separator: ":")
    self.file = file == "??" ? "" : Self.withoutParents(file)
    line = numbers.first ?? 0
    column = numbers.count > 1 ? numbers[1] : 0
  }
}

extension Chain.Frame {
  /// The path without `..` in its middle, as ours are.
  static func withoutParents(_ path: String) -> String {
    parents.withLock { parents in
      if let known = parents[path] { return known }
      var short = path
      while let match = short.firstMatch(of: #/[^\/]+\/\.\.\//#), !match.output.hasPrefix("../"),
        !match.output.hasPrefix("./")
      {
        short.removeSubrange(match.range)
      }
      parents[path] = short
      return short
    }
  }

  /// The results, as the same few paths come thousands of times.
  private static let parents = Mutex<[String: String]>([:])
}

/// The programs that are asked. Each gets all addresses at once, on its standard input.
enum Symbolizers {
  private static func input(_ addresses: [UInt64]) -> String {
    addresses.map { "0x\(String($0, radix: 16))\n" }.joined()
  }

  static func ours(_ file: String, _ addresses: [UInt64], in folder: TemporaryFolder) throws -> [Chain] {
    let result = try Tool.run(
      ["symbols", "lookup", "--no-demangle", folder.url(file).path], in: folder, input: Data(input(addresses).utf8))
    try #require(result.status == 0, "\(result.errorText)")
    return try records(result.text, addresses.count)
  }

  static func llvm(
    _ file: String, _ addresses: [UInt64], in folder: TemporaryFolder, program: String? = Toolbox.llvmSymbolizer
  ) throws -> [Chain] {
    let program = try #require(program)
    try folder.write(Array(input(addresses).utf8), to: "addresses")
    let result = try Tool.shell(
      "'\(program)' --obj='\(file)' --output-style=LLVM --no-demangle --inlines --functions=linkage < addresses",
      in: folder)
    return try records(result.text, addresses.count)
  }

  /// Frames on two lines each, and an empty line behind each address.
  private static func records(_ text: String, _ count: Int) throws -> [Chain] {
    var chains: [Chain] = []
    var frames: [Chain.Frame] = []
    var function: Substring?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let name = function {
        frames.append(Chain.Frame(function: String(name), location: line))
        function = nil
      } else if line.isEmpty {
        if !frames.isEmpty { chains.append(Chain(frames: frames)) }
        frames = []
      } else {
        function = line
      }
    }
    try #require(chains.count == count)
    return chains
  }

  /// Addresses are told apart by their own lines.
  static func elfutils(_ file: String, _ addresses: [UInt64], in folder: TemporaryFolder) throws -> [Chain] {
    let program = try #require(Toolbox.euAddr2line)
    try folder.write(Array(input(addresses).utf8), to: "addresses")
    let result = try Tool.shell("'\(program)' -a -f -i -e '\(file)' < addresses", in: folder)
    var chains: [Chain] = []
    var function: Substring?
    for line in result.outputLines where !line.isEmpty {
      if line.hasPrefix("0x"), line.dropFirst(2).allSatisfy(\.isHexDigit) {
        chains.append(Chain(frames: []))
        function = nil
      } else if let name = function {
        try #require(!chains.isEmpty)
        chains[chains.count - 1].frames.append(Chain.Frame(function: String(name), location: line))
        function = nil
      } else {
        // The first frame of several says where it was inlined, which the next one says too.
        function = line.firstRange(of: " inlined at ").map { line[..<$0.lowerBound] } ?? line
      }
    }
    try #require(chains.count == addresses.count)
    return chains
  }
}
