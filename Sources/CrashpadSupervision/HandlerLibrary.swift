// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// Finds the handler's library, which is preloaded into programs.
package enum HandlerLibrary {
  package static let fileName = "libcrashpad_handler.so"
  /// The library for glibc before 2.34, in which threads and the loading of libraries were in libraries of their own. Packages
  /// have both. Rules of groups know the handler by the beginning of its name.
  package static let olderFileName = "libcrashpad_handler.so.glibc2.31"
  /// The environment variable with the path of the library.
  package static let variable = "CRASHPADCTL_HANDLER_LIBRARY"

  package enum Search: Sendable {
    /// The absolute path.
    case found(FilePath)
    /// The places that were searched.
    case missing([FilePath])
    /// The loader accepts no path that contains a blank or a colon.
    case unusablePath(FilePath)
  }

  /// - Parameters:
  ///   - named: the only place, if it is given.
  ///   - variable: the value of the environment variable; the only place if `named` is nil.
  package static func search(named: FilePath?, variable: FilePath?) -> Search {
    let places = (named ?? variable).map { [$0.absolute] } ?? self.places
    guard let place = places.first(where: isFile) else { return .missing(places) }
    return place.string.contains { " :\t\n".contains($0) } ? .unusablePath(place) : .found(place)
  }

  /// Beside the tool, in the layouts of an installation and of a build.
  private static var places: [FilePath] {
    guard let tool = ProgramFile.ownPath else { return [] }
    let folder = tool.removingLastComponent()
    return ["", "../lib/crashpadctl", "../handler", "../../handler"].flatMap { place in
      fileNames(libc: SystemFacts.libcVersion).map { folder.appending(place).appending($0).lexicallyNormalized() }
    }
  }

  /// The names that fit a C library, the best first. Without "glibc" the library's own loader decides.
  package static func fileNames(libc: String?) -> [String] {
    guard let libc, libc.hasPrefix("glibc 2."), let minor = Int(libc.dropFirst(8).prefix { $0.isNumber }), minor < 34
    else { return [fileName] }
    return [olderFileName, fileName]
  }

  private static func isFile(_ path: FilePath) -> Bool {
    var status = stat()
    return unsafe path.withPlatformString { unsafe stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
