public import ArgumentParser
public import CrashpadCore
import FileSystem
import Snapshot
import Symbolication
import SystemPackage

struct SymbolizeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "symbolize",
    abstract: "Walk the stacks of dumps and name their functions, files and lines.",
    discussion: """
      Examples:
        crashpadctl symbolize crash.dmp
        crashpadctl symbolize --symbols MyApp.dSYM crash.idump
      """)

  @Argument(help: "Dumps; - is standard input.", completion: .file())
  var dumps: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("A file or folder with symbols. May be repeated.", valueName: "path"), completion: .file())
  var symbols: [String] = []

  @Option(name: .long, help: ArgumentHelp("Whose stacks to print.", valueName: "which"))
  var threads: Symbolization.Threads = .crashed

  func run() throws {
    let cache = SymbolCache(SymbolSearch(paths: symbols.map { FilePath($0) }))
    for dump in dumps {
      let inspection = Inspection(try DumpInput.open(dump))
      guard let snapshot = inspection.snapshot else { continue }
      let result = Symbolization(snapshot, inspection.file, cache, threads: threads)
      var text = ""
      for thread in result.threads {
        text += "Thread \(thread.index ?? -1)\(thread.isCrashed ? " crashed" : "")\n"
        for (number, frame) in thread.frames.enumerated() {
          text += "  \(number) \(Wording.hex(frame.frame.instruction)) \(frame.frame.trust.rawValue)"
          if let module = frame.frame.module {
            text += " \(result.modules[module].identity.debugName) + \(Wording.hex(frame.frame.moduleOffset ?? 0))"
          }
          for function in frame.symbol?.frames ?? [] {
            text += "\n       \(function.name ?? "?") \(function.location?.file ?? ""):\(function.location?.line ?? 0)"
          }
          text += "\n"
        }
        text += "  end: \(thread.end.rawValue)\n"
      }
      Terminal.output(text)
    }
  }
}

extension Symbolization.Threads: ExpressibleByArgument {}
