import CrashpadCore
import CrashpadFiles

/// Parses the most frequent commands without the argument parser, which takes longer than
/// `inspect` takes for a small dump.
///
/// Only arguments that mean the same to the parser are parsed here. All others are left to it, including
/// mistakes and requests for help.
enum QuickCommand {
  case version
  case convert(ConvertArguments)
  case inspect(InspectRun)
  case run(ProgramRun)

  /// Nil if the arguments need the parser.
  init?(_ words: [String]) {
    var words = QuickWords(rest: words[...])
    switch words.next() {
    case "--version":
      guard words.isEmpty else { return nil }
      self = .version
    case "convert":
      guard let arguments = ConvertArguments(&words) else { return nil }
      self = .convert(arguments)
    case "inspect":
      guard let run = InspectRun(&words) else { return nil }
      self = .inspect(run)
    case "run":
      guard let run = ProgramRun(&words) else { return nil }
      self = .run(run)
    default: return nil
    }
  }

  func run() throws {
    switch self {
    case .version: Terminal.output(toolVersionText + "\n")
    case .convert(let arguments): try arguments.run()
    case .inspect(let run): try run.run()
    case .run(let run): try run.run()
    }
  }
}

/// The remaining words of the command line.
struct QuickWords {
  var rest: ArraySlice<String>

  var isEmpty: Bool { rest.isEmpty }

  mutating func next() -> String? { rest.popFirst() }

  /// The value of an option; nil if the parser has to decide whether the next word is a value.
  mutating func value() -> String? {
    guard let word = rest.first, Self.isPlain(word) else { return nil }
    return next()
  }

  /// Whether a word is neither an option nor empty.
  static func isPlain(_ word: String) -> Bool { !word.isEmpty && word.utf8.first != UInt8(ascii: "-") }
}

extension ConvertArguments {
  fileprivate init?(_ words: inout QuickWords) {
    self.init(dumps: [])
    while let word = words.next() {
      switch word {
      case "-o", "--output":
        guard let path = words.value() else { return nil }
        output = path
      case "--to":
        guard let target = words.value().flatMap(Conversion.Target.init(rawValue:)) else { return nil }
        options.conversion = Conversion(to: target)
      case "-j", "--jobs":
        guard let count = words.value().flatMap({ Int($0) }), count >= 0 else { return nil }
        options.jobs = jobCount(count)
      case "-k", "--keep-going": options.keepsGoing = true
      case "-q", "--quiet": isQuiet = true
      default:
        guard QuickWords.isPlain(word) else { return nil }
        dumps.append(word)
      }
    }
    if dumps.isEmpty { return nil }
  }
}

extension InspectRun {
  fileprivate init?(_ words: inout QuickWords) {
    self.init(dumps: [])
    while let word = words.next() {
      switch word {
      case "-s", "--symbols":
        guard let path = words.value() else { return nil }
        symbols.append(path)
      case "-f", "--format":
        guard let format = words.value().flatMap(OutputFormat.init(rawValue:)) else { return nil }
        self.format = format
      default:
        guard QuickWords.isPlain(word) else { return nil }
        dumps.append(word)
      }
    }
    if dumps.isEmpty { return nil }
  }
}

extension ProgramRun {
  fileprivate init?(_ words: inout QuickWords) {
    self.init(program: [])
    while let word = words.rest.first, !QuickWords.isPlain(word) {
      _ = words.next()
      if word == "--" { break }
      switch word {
      case "-d", "--database":
        guard let path = words.value() else { return nil }
        database = path
      case "--handler-library":
        guard let path = words.value() else { return nil }
        library = path
      case "-s", "--symbols":
        guard let path = words.value() else { return nil }
        symbols.symbols.append(path)
      case "-q", "--quiet": quiet = true
      case "--process": process = true
      case "--no-children": noChildren = true
      case "--no-system": symbols.noSystem = true
      default: return nil
      }
    }
    if words.isEmpty { return nil }
    program = words.rest.map { ArgumentText.bytes($0) }
  }
}
