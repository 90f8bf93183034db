// SPDX-License-Identifier: Apache-2.0
import CrashpadSupervision
import CrashpadText
import SystemPackage

/// Messages about programs and the handler's library.
enum RunSentences {
  static func noDirectory(_ database: FilePath) -> String {
    "\(TextFormat.printable(database)) is not a directory, so crashes leave no dump; --database names another place"
  }

  /// Why the crashes of a program are not captured.
  static func obstacle(_ obstacle: ProgramFile.Obstacle, _ file: ProgramFile) -> String {
    let path = TextFormat.printable(file.path)
    let program = file.script.map { "\(TextFormat.printable($0)): its interpreter \(path)" } ?? "\(path): it"
    switch obstacle {
    case .isStatic: return "\(program) is linked statically and can't load the handler; its crashes are not captured"
    case .otherMachine(let number):
      return
        "\(program) is for another processor (ELF machine \(number)) than the handler; its crashes are not captured"
    case .otherLoader(let loader):
      return "\(program) has another C library, of \(TextFormat.printable(loader)), than the handler; "
        + "its crashes are not captured"
    case .missingLoader(let loader): return "\(program) needs \(TextFormat.printable(loader)), which is not there"
    case .getsRights:
      return "\(program) gets rights when it is started, and then no library of others; its crashes are not captured"
    }
  }

  /// The advice for such a program.
  static func remedy(_ obstacle: ProgramFile.Obstacle) -> String {
    switch obstacle {
    case .isStatic: "link it dynamically, or let it capture them itself with the client library"
    case .otherMachine, .otherLoader: "use crashpadctl and its handler library, built for the program's system"
    case .missingLoader(let loader): "install \(TextFormat.printable(loader)), the program's loader"
    case .getsRights: "start it as the user whose rights it gets, or let it capture them itself with the client library"
    }
  }

  /// The path of the library, or why there is none.
  static func library(_ search: HandlerLibrary.Search) -> String {
    switch search {
    case .found(let path): TextFormat.printable(path)
    case .missing(let places):
      "the handler's library was not found; searched "
        + places.map { TextFormat.printable($0) }.joined(separator: ", ")
        + "; make install installs it, and --handler-library names it"
    case .unusablePath(let path):
      "\(TextFormat.printable(path)): the loader can't preload a path that contains a blank or a colon"
    }
  }
}
