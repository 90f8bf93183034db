import ArgumentParser
import Symbolication
import SystemPackage

struct SymbolsLookupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lookup",
    abstract: "Print function, file and line of addresses of one file.",
    discussion: """
      Addresses are those of the file itself, as nm prints them; of a Breakpad
      symbol file, offsets in its module. Without any, they are read from standard
      input, one on each line, and answered at once. The answer to one address is a
      line with the function and one with file, line and column, for each call that
      was inlined there and for the function itself, and then an empty line.

      Examples:
        crashpadctl symbols lookup app.debug 0x1139 0x114f
        nm app | awk '{print $1}' | crashpadctl symbols lookup app
      """)

  @Argument(help: "The file with the symbols.", completion: .file())
  var file: String

  @Argument(help: "Addresses, hexadecimal, with or without 0x.")
  var addresses: [String] = []

  @Flag(name: .customLong("no-demangle"), help: "Print the names as the file has them.")
  var noDemangle = false

  func run() throws {
    let symbols = try SymbolFile(FilePath(file))
    var text = ""
    if addresses.isEmpty {
      while let line = readLine() { answer(line, symbols, &text) }
    } else {
      for address in addresses { answer(address, symbols, &text) }
    }
    Terminal.output(text)
  }

  private func answer(_ line: String, _ symbols: SymbolFile, _ text: inout String) {
    let digits = line.hasPrefix("0x") ? line.dropFirst(2) : Substring(line)
    guard let address = UInt64(digits, radix: 16), let found = symbols.symbolize(address &- symbols.imageBase) else {
      text += "??\n??:0:0\n\n"
      return
    }
    for frame in found.frames {
      text += frame.function ?? "??"
      text += "\n"
      text += frame.location?.file ?? "??"
      text += ":\(frame.location?.line ?? 0):\(frame.location?.column ?? 0)\n"
    }
    text += "\n"
    if text.utf8.count > 64 * 1024 {
      Terminal.output(text)
      text = ""
    }
  }
}
