import FileSystem

/// The commands that are started most often, read without the parser, which takes longer than `inspect` does for a small dump.
///
/// Only words that mean the same to the parser are read here. All others, mistakes and requests for help among them, are left
/// to it.
enum QuickCommand {
  case version
  case inspect(InspectRun)
  case run(ProgramRun)

  /// Nil if the words are for the parser.
  init?(_ words: [String]) {
    var words = QuickWords(rest: words[...])
    switch words.next() {
    case "--version":
      guard words.isEmpty else { return nil }
      self = .version
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
    case .version: Terminal.output(Crashpadctl.versionText + "\n")
    case .inspect(let run): try run.run()
    case .run(let run): try run.run()
    }
  }
}

/// Words of the command line, from the first on.
struct QuickWords {
  var rest: ArraySlice<String>

  var isEmpty: Bool { rest.isEmpty }

  mutating func next() -> String? { rest.popFirst() }

  /// The value of an option; nil if the parser has to decide whether the next word is one.
  mutating func value() -> String? {
    guard let word = rest.first, Self.isPlain(word) else { return nil }
    return next()
  }

  /// Whether a word is neither an option nor empty.
  static func isPlain(_ word: String) -> Bool { !word.isEmpty && word.utf8.first != UInt8(ascii: "-") }
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
        guard let format = words.value().flatMap(ReportFormat.init(rawValue:)) else { return nil }
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
