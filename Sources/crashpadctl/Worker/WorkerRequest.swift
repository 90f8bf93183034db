import CrashpadCore
import DumpInterpretation
import CrashpadEvents
import CrashpadJSON
import CrashpadMinidump
import CrashpadRedaction
import CrashpadSnapshot
import CrashpadSymbolication

/// The head of a request.
struct WorkerRequest: Sendable {
  /// What the caller named it; comes back in the answer.
  enum ID: Sendable, Equatable {
    case none
    case text(String)
    case number(Int128)

    init(_ value: JSONValue?) {
      if let text = value?.string {
        self = .text(text)
      } else if let number = value?.integer {
        self = .number(number)
      } else {
        self = .none
      }
    }

    func write(to json: inout JSONWriter) {
      switch self {
      case .none: json.null()
      case .text(let text): json.string(text)
      case .number(let number): json.number(number)
      }
    }
  }

  enum Operation: String, Sendable, CaseIterable {
    case raw, signature, symbolize, explain, events, convert, validate, redact, version
  }

  /// The head asks for nothing that there is.
  struct Refusal: Error { let text: String }

  let id: ID
  let operation: Operation
  /// What documents call the dump.
  let input: String
  let architecture: CPUArchitecture?
  /// Nil of a request that names none.
  let guessesArchitecture: Bool?
  let options: WorkerOptions

  static let schema = "crashpadctl-worker/1"

  /// What there is of an id, whatever else is wrong.
  static func id(in head: [UInt8]) -> ID {
    let tree = unsafe JSONTree(head.span.bytes)
    return tree.failure == nil ? ID(tree.root?["id"]) : .none
  }

  init(head: [UInt8]) throws(Refusal) {
    let tree = unsafe JSONTree(head.span.bytes)
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
    guard tree.failure == nil, let root = tree.root, root.kind == .object,
      head[tree.end...].allSatisfy({ blanks.contains($0) })
    else { throw Refusal(text: "the head is no JSON object") }
    if let schema = root["schema"], schema.string != Self.schema {
      throw Refusal(text: "the head's schema is not \(Self.schema)")
    }
    id = ID(root["id"])
    guard id != .none else { throw Refusal(text: "the head has no id: a text or an integer") }
    guard let operation = root["op"]?.string.flatMap({ Operation(rawValue: $0) }) else {
      let names = Operation.allCases.map(\.rawValue).joined(separator: ", ")
      throw Refusal(text: "the head has no op of \(names)")
    }
    self.operation = operation
    input =
      switch id {
      case _ where root["input"] != nil: try WorkerOptions.text(root["input"], "input") ?? ""
      case .text(let text): text
      case .number(let number): String(number)
      case .none: ""
      }
    let arch = try WorkerOptions.choice(root["arch"], "arch", ArchitectureArgument.self)
    architecture = arch?.architecture
    guessesArchitecture = arch.map { $0 == .guess }
    options = try WorkerOptions(root, operation)
  }
}

/// What a head may have besides: the options of the command that has the operation's name.
struct WorkerOptions: Sendable {
  var threads: ThreadChoice?
  var part = SymbolizationJSON.Part.stacks
  var isStrict = false
  var ignored: Set<String> = []
  var conversion = Conversion(to: .minidump)
  var policy = RedactionPolicy()
  var isDryRun = false
  var mapping = EventMapping.seed
  var event = CrashEventInput(id: .zero)

  /// Members of all heads, then those of some.
  private static let common: Set<String> = ["schema", "id", "op", "input"]

  private static func members(of operation: WorkerRequest.Operation) -> Set<String> {
    switch operation {
    case .raw, .signature, .explain: ["arch"]
    case .symbolize: ["arch", "threads", "modules", "missing"]
    case .events: ["arch", "mapping", "assume_foreground", "client_id", "received"]
    case .validate: ["arch", "strict", "ignore"]
    case .convert: ["arch", "to", "annotations", "report_id", "client_id", "memory"]
    case .redact:
      [
        "keep_annotation", "remove_annotation", "hide", "keep_user_names", "keep_secrets", "keep_memory",
        "keep_registers", "keep_numbers", "keep_variable", "keep_arguments", "dry_run",
      ]
    case .version: []
    }
  }

  init(_ root: JSONValue, _ operation: WorkerRequest.Operation) throws(WorkerRequest.Refusal) {
    let allowed = Self.common.union(Self.members(of: operation))
    var seen: Set<String> = []
    // A misspelt option of redaction would leave in a dump what was to be removed, and so would one of two.
    for member in root.members {
      let name = Wording.printable(member.key)
      guard allowed.contains(member.key) else {
        throw WorkerRequest.Refusal(text: "\(operation.rawValue) has no option \(name)")
      }
      guard seen.insert(member.key).inserted else { throw WorkerRequest.Refusal(text: "the head has \(name) twice") }
    }
    threads = try Self.choice(root["threads"], "threads")
    if try Self.flag(root["modules"], "modules") { part = .modules }
    if try Self.flag(root["missing"], "missing") { part = .missing }
    isStrict = try Self.flag(root["strict"], "strict")
    ignored = Set(try Self.texts(root["ignore"], "ignore"))
    isDryRun = try Self.flag(root["dry_run"], "dry_run")
    try readConversion(root)
    try readPolicy(root)
    mapping = try Self.choice(root["mapping"], "mapping", EventMapping.self) ?? .seed
    event.assumesForeground = try Self.flag(root["assume_foreground"], "assume_foreground")
    event.clientID = conversion.options.clientID
    event.fallbackTime = try Self.seconds(root["received"], "received") * 1000
  }

  private mutating func readConversion(_ root: JSONValue) throws(WorkerRequest.Refusal) {
    conversion = Conversion(to: try Self.choice(root["to"], "to", Conversion.Target.self) ?? .minidump)
    conversion.memory = try Self.choice(root["memory"], "memory", MemorySelection.self) ?? .stacks
    let annotations = root["annotations"]
    guard annotations.map({ $0.kind == .object }) ?? true else {
      throw WorkerRequest.Refusal(text: "annotations takes texts by their names")
    }
    for (key, value) in annotations?.members ?? [] {
      guard let text = value.string else { throw WorkerRequest.Refusal(text: "annotations takes texts by their names") }
      conversion.options.annotations.append((key, text))
    }
    conversion.options.reportID = try Self.uuid(root["report_id"], "report_id")
    conversion.options.clientID = try Self.uuid(root["client_id"], "client_id")
  }

  private mutating func readPolicy(_ root: JSONValue) throws(WorkerRequest.Refusal) {
    policy.keptAnnotations = try Self.patterns(root["keep_annotation"], "keep_annotation")
    policy.removedAnnotations = try Self.patterns(root["remove_annotation"], "remove_annotation")
    policy.keptVariables = try Self.patterns(root["keep_variable"], "keep_variable")
    for text in try Self.texts(root["hide"], "hide") {
      guard let pattern = TextPattern(text) else {
        throw WorkerRequest.Refusal(text: "hide takes texts with more than wildcards")
      }
      policy.hiddenText.append(pattern)
    }
    policy.hidesUserNames = try !Self.flag(root["keep_user_names"], "keep_user_names")
    policy.hidesSecrets = try !Self.flag(root["keep_secrets"], "keep_secrets")
    policy.memory = try Self.choice(root["keep_memory"], "keep_memory", RedactionPolicy.Memory.self) ?? .stacks
    policy.keepsRegisters = try Self.flag(root["keep_registers"], "keep_registers")
    policy.keepsSmallNumbers = try Self.flag(root["keep_numbers"], "keep_numbers")
    policy.keepsArguments = try Self.flag(root["keep_arguments"], "keep_arguments")
  }

  // MARK: Values

  static func text(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> String? {
    guard let value else { return nil }
    guard let text = value.string else { throw WorkerRequest.Refusal(text: "\(name) takes a text") }
    return text
  }

  private static func flag(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> Bool {
    guard let value else { return false }
    guard value.kind == .bool, let flag = value.bool else {
      throw WorkerRequest.Refusal(text: "\(name) takes true or false")
    }
    return flag
  }

  /// A text, or a list of them.
  private static func texts(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> [String] {
    guard let value else { return [] }
    guard value.kind == .string || value.elements.allSatisfy({ $0.string != nil }) && value.kind == .array else {
      throw WorkerRequest.Refusal(text: "\(name) takes a list of texts")
    }
    return value.strings
  }

  private static func patterns(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> [NamePattern] {
    try texts(value, name).filter { !$0.isEmpty }.map { NamePattern($0) }
  }

  private static func uuid(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> UUIDBytes {
    guard let text = try text(value, name) else { return .zero }
    guard let uuid = UUIDBytes(text: text) else { throw WorkerRequest.Refusal(text: "\(name) takes a UUID") }
    return uuid
  }

  /// Since 1970.
  private static func seconds(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> Int64 {
    guard let value else { return 0 }
    guard let seconds = value.int64, (0..<1 << 40).contains(seconds) else {
      throw WorkerRequest.Refusal(text: "\(name) takes seconds since 1970")
    }
    return seconds
  }

  static func choice<Choice: RawRepresentable & CaseIterable>(
    _ value: JSONValue?, _ name: String, _ type: Choice.Type
  ) throws(WorkerRequest.Refusal) -> Choice? where Choice.RawValue == String {
    guard let value else { return nil }
    if let choice = value.string.flatMap({ Choice(rawValue: $0) }) { return choice }
    let values = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw WorkerRequest.Refusal(text: "\(name) takes one of \(values)")
  }

  /// `crashed`, `all`, or the number of a thread.
  private static func choice(_ value: JSONValue?, _ name: String) throws(WorkerRequest.Refusal) -> ThreadChoice? {
    guard let value else { return nil }
    let text = value.string ?? value.integer.map { String($0) } ?? ""
    guard let choice = ThreadChoice(argument: text) else {
      throw WorkerRequest.Refusal(text: "\(name) takes crashed, all, or the number of a thread")
    }
    return choice
  }
}
