internal import Glibc
package import SystemPackage

/// Where the handler's library, which is preloaded into programs, lies.
package enum HandlerLibrary {
  package static let fileName = "libcrashpad_handler.so"
  /// Names the library's file.
  package static let variable = "CRASHPADCTL_HANDLER_LIBRARY"

  package enum Search: Sendable {
    /// The absolute path.
    case found(FilePath)
    /// The places where it was looked for.
    case missing([FilePath])
    /// The loader takes no path with a blank or a colon in it.
    case unusablePath(FilePath)
  }

  /// - Parameters:
  ///   - named: the only place, if somebody named one.
  ///   - variable: the environment's; the only place if there is no `named` one.
  package static func search(named: FilePath?, variable: FilePath?) -> Search {
    let places = (named ?? variable).map { [absolute($0)] } ?? self.places
    guard let place = places.first(where: isFile) else { return .missing(places) }
    return place.string.contains { " :\t\n".contains($0) } ? .unusablePath(place) : .found(place)
  }

  /// Beside the tool, as it is installed, and as it is built.
  private static var places: [FilePath] {
    guard let tool = ProgramFile.ownPath else { return [] }
    let folder = tool.removingLastComponent()
    return ["", "../lib/crashpadctl", "../handler", "../../handler"].map {
      folder.appending($0).appending(fileName).lexicallyNormalized()
    }
  }

  private static func isFile(_ path: FilePath) -> Bool {
    var status = stat()
    return unsafe path.withPlatformString { unsafe stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The same path from any directory.
  package static func absolute(_ path: FilePath) -> FilePath {
    if path.isAbsolute { return path }
    guard let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe FilePath(platformString: folder).pushing(path).lexicallyNormalized()
  }
}
