// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadText
import SystemPackage

/// The destinations of the outputs.
struct OutputPlan {
  /// The output for each input, by its argument; empty for standard output.
  let paths: [String: FilePath]
  /// Whether the outputs go into a directory that may have to be created.
  let makesDirectories: Bool

  static let takesOneDump = FailureText("-o - takes one dump, and no directory", .usage)

  /// Throws if the outputs that the command line asks for are impossible.
  ///
  /// - Parameter target: the format of the outputs, whose names get its extension; nil if they keep the inputs' names.
  init(_ list: InputList, output: String?, target: Conversion.Target? = nil) throws(FailureText) {
    let isMany = list.inputs.count != 1 || list.hasDirectories
    if output == "-" || (output == nil && !isMany && list.inputs[0].argument == "-") {
      if isMany { throw Self.takesOneDump }
      paths = [:]
      makesDirectories = false
      return
    }
    let folder = output.map { FilePath(argument: $0) }
    let kind = folder.flatMap { folder in hint { try FileKind(at: folder, followingLink: true) } }
    let isDirectory = isMany || output?.hasSuffix("/") == true || kind == .directory
    if isDirectory, let output, let kind, kind != .directory {
      throw FailureText("\(displayName(output)) is not a directory", .usage)
    }
    if isMany, let output, let folder, kind == nil, !output.hasSuffix("/"), Self.isNamedAsFile(folder) {
      throw FailureText(
        "\(displayName(output)) would be a directory, as the inputs may be several; -o \(displayName(output))/ makes it",
        .usage)
    }
    makesDirectories = isDirectory && output != nil
    var paths: [String: FilePath] = [:]
    var seen: [FilePath: String] = [:]
    for input in list.inputs {
      let path: FilePath
      if let folder {
        path = isDirectory ? Self.named(folder.pushing(input.relativePath), target) : folder
      } else {
        path = Self.named(FilePath(argument: input.argument), target)
      }
      if let other = seen.updateValue(input.name, forKey: path.lexicallyNormalized()) {
        throw FailureText("\(other) and \(input.name) would both become \(TextFormat.printable(path))", .usage)
      }
      paths[input.argument] = path
    }
    self.paths = paths
  }

  private static func isNamedAsFile(_ path: FilePath) -> Bool {
    FormatRow.named(path) != nil && path.lastComponent?.string != "core" || path.extension == "json"
  }

  /// Replaces the extension if it belongs to a dump. The last part of a bundle id is not an extension.
  private static func named(_ path: FilePath, _ target: Conversion.Target?) -> FilePath {
    guard let target else { return path }
    let name = FileName(bytes: path.lastBytes) ?? FileName(literal: "dump")
    let stem = [".idump", ".json", ".locked", ".core"].lazy.compactMap { name.removing(suffix: $0) }.first ?? name
    return path.beside(stem.appending("." + target.fileExtension))
  }
}

extension InputList {
  /// Prints why a file can't be written: it is an input, or the archive of one. Returns nil if it can. To be called before anything
  /// is written there.
  func conflict(with output: String?) -> ExitStatus? {
    guard let output, output != "-", let own = InputIdentity(at: FilePath(argument: output)),
      let input = inputs.first(where: { $0.path.flatMap { InputIdentity(at: $0) }?.isOfFile(of: own) == true })
    else { return nil }
    Terminal.error("\(input.name): error: is the output too; name another file")
    return .usage
  }
}

extension FailureText {
  static let ownOutput = FailureText("is the output too; choose another with -o", .usage)
}
