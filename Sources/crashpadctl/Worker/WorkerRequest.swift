// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadText
import DumpInterpretation
import CrashpadEvents
import CrashpadJSON
import CrashpadMinidump
import CrashpadRedaction
import CrashpadSnapshot
import CrashpadSymbolication

/// The head of a request.
struct WorkerRequest: Sendable {
  /// The caller's id of the request; it comes back in the answer.
  typealias ID = RequestID

  enum Operation: String, Sendable, CaseIterable {
    case raw, signature, symbolize, explain, events, convert, validate, redact, version
  }

  /// The head of the request names an unknown operation or option.
  struct Refusal: Error { let text: String }

  let id: ID
  let operation: Operation
  /// The name of the dump in documents.
  let input: String
  let architecture: CPUArchitecture?
  /// Nil if the request has none.
  let guessesArchitecture: Bool?
  let options: WorkerOptions

  static let schema = "crashpadctl-worker/1"

  /// The id of a request, even if the rest of it is wrong.
  static func id(in head: [UInt8]) -> ID {
    let tree = unsafe JSONTree(head.span.bytes)
    return tree.failure == nil ? ID(tree.root?["id"]) : .none
  }

  init(head: [UInt8]) throws(Refusal) {
    let tree = unsafe JSONTree(head.span.bytes)
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
    guard tree.failure == nil, let root = tree.root, root.kind == .object,
      head[tree.end...].allSatisfy({ blanks.contains($0) })
    else { throw Refusal(text: "the head is not a JSON object") }
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
    let members = WorkerMembers(root)
    input =
      switch id {
      case _ where root["input"] != nil: try members.text("input") ?? ""
      case .text(let text): text
      case .number(let number): String(number)
      case .none: ""
      }
    let arch = try members.choice("arch", ArchitectureArgument.self)
    architecture = arch?.architecture
    guessesArchitecture = arch.map { $0 == .guess }
    options = try WorkerOptions(root, operation)
  }
}

/// The further members of a head: the options of the command that has the operation's name.
struct WorkerOptions: Sendable {
  var threads: ThreadChoice?
  var part = SymbolizeDocument.Part.stacks
  var isStrict = false
  var ignored: Set<String> = []
  var conversion = Conversion(to: .minidump)
  var policy = RedactionPolicy()
  var isDryRun = false
  var mapping = EventMapping.seed
  var event = CrashEventInput(id: .zero)
  var redactsEvents = false

  /// Members of all heads, then those of some.
  private static let common: Set<String> = ["schema", "id", "op", "input"]

  private static func members(of operation: WorkerRequest.Operation) -> Set<String> {
    switch operation {
    case .raw, .signature, .explain: ["arch"]
    case .symbolize: ["arch", "threads", "modules", "missing"]
    case .events: ["arch", "mapping", "assume_foreground", "client_id", "received", "redact"]
    case .validate: ["arch", "strict", "ignore"]
    case .convert: ["arch", "to", "annotations", "report_id", "client_id", "memory"]
    case .redact:
      [
        "keep_annotation", "remove_annotation", "hide", "keep", "keep_user_names", "keep_secrets", "keep_memory",
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
      let name = TextFormat.printable(member.key)
      guard allowed.contains(member.key) else {
        throw WorkerRequest.Refusal(text: "\(operation.rawValue) has no option \(name)")
      }
      guard seen.insert(member.key).inserted else { throw WorkerRequest.Refusal(text: "the head has \(name) twice") }
    }
    let head = WorkerMembers(root)
    threads = try head.threads("threads")
    if try head.flag("modules") { part = .modules }
    if try head.flag("missing") { part = .missing }
    isStrict = try head.flag("strict")
    ignored = Set(try head.texts("ignore"))
    isDryRun = try head.flag("dry_run")
    try readConversion(head)
    try readPolicy(head)
    mapping = try head.choice("mapping", EventMapping.self) ?? .seed
    event.assumesForeground = try head.flag("assume_foreground")
    redactsEvents = try head.flag("redact")
    event.clientID = conversion.options.clientID
    event.fallbackTime = try head.seconds("received") * 1000
  }

  private mutating func readConversion(_ head: WorkerMembers) throws(WorkerRequest.Refusal) {
    conversion = Conversion(to: try head.choice("to", Conversion.Target.self) ?? .minidump)
    conversion.memory = try head.choice("memory", MemorySelection.self) ?? .stacks
    conversion.options.annotations = try head.annotations("annotations")
    conversion.options.reportID = try head.uuid("report_id")
    conversion.options.clientID = try head.uuid("client_id")
  }

  private mutating func readPolicy(_ head: WorkerMembers) throws(WorkerRequest.Refusal) {
    policy.keptAnnotations = try head.patterns("keep_annotation")
    policy.removedAnnotations = try head.patterns("remove_annotation")
    policy.keptVariables = try head.patterns("keep_variable")
    for text in try head.texts("hide") {
      guard let pattern = TextPattern(text) else {
        throw WorkerRequest.Refusal(text: "hide takes texts with more than wildcards")
      }
      policy.hiddenText.append(pattern)
    }
    for name in try head.texts("keep") {
      guard let kind = PersonalKind(rawValue: name) else {
        throw WorkerRequest.Refusal(text: "keep takes kinds of personal data")
      }
      policy.keptKinds.insert(kind)
    }
    policy.hidesUserNames = try !head.flag("keep_user_names")
    policy.hidesSecrets = try !head.flag("keep_secrets")
    policy.memory = try head.choice("keep_memory", RedactionPolicy.Memory.self) ?? .stacks
    policy.keepsRegisters = try head.flag("keep_registers")
    policy.keepsSmallNumbers = try head.flag("keep_numbers")
    policy.keepsArguments = try head.flag("keep_arguments")
  }
}

/// The members of a head by their names. What is not of the right kind is refused.
struct WorkerMembers {
  private let root: JSONValue

  init(_ root: JSONValue) { self.root = root }

  /// Nil without the member.
  ///
  /// - Parameter expectation: "a text", for the refusal.
  private func value<Value>(
    _ name: StaticString, _ expectation: String, _ read: (JSONValue) -> Value?
  ) throws(WorkerRequest.Refusal) -> Value? {
    guard let value = root[name] else { return nil }
    guard let result = read(value) else { throw WorkerRequest.Refusal(text: "\(name) takes \(expectation)") }
    return result
  }

  func text(_ name: StaticString) throws(WorkerRequest.Refusal) -> String? { try value(name, "a text", \.string) }

  func flag(_ name: StaticString) throws(WorkerRequest.Refusal) -> Bool {
    try value(name, "true or false") { $0.kind == .bool ? $0.bool : nil } ?? false
  }

  /// A text, or a list of them.
  func texts(_ name: StaticString) throws(WorkerRequest.Refusal) -> [String] {
    try value(name, "a list of texts") { value in
      value.kind == .string || value.kind == .array && value.elements.allSatisfy { $0.string != nil }
        ? value.strings : nil
    } ?? []
  }

  /// An object of texts.
  func annotations(_ name: StaticString) throws(WorkerRequest.Refusal) -> [(String, String)] {
    try value(name, "texts by their names") { value in
      let annotations = value.members.compactMap { key, value in value.string.map { (key, $0) } }
      return value.kind == .object && annotations.count == value.members.count ? annotations : nil
    } ?? []
  }

  func patterns(_ name: StaticString) throws(WorkerRequest.Refusal) -> [NamePattern] {
    try texts(name).filter { !$0.isEmpty }.map { NamePattern($0) }
  }

  func uuid(_ name: StaticString) throws(WorkerRequest.Refusal) -> UUIDBytes {
    guard try text(name) != nil else { return .zero }
    return try value(name, "a UUID") { $0.string.flatMap { UUIDBytes(text: $0) } } ?? .zero
  }

  /// Since 1970.
  func seconds(_ name: StaticString) throws(WorkerRequest.Refusal) -> Int64 {
    try value(name, "seconds since 1970") { value in
      value.int64.flatMap { (0..<1 << 40).contains($0) ? $0 : nil }
    } ?? 0
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: StaticString, _ type: Choice.Type
  ) throws(WorkerRequest.Refusal) -> Choice? where Choice.RawValue == String {
    let values = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    return try value(name, "one of \(values)") { $0.string.flatMap { Choice(rawValue: $0) } }
  }

  func threads(_ name: StaticString) throws(WorkerRequest.Refusal) -> ThreadChoice? {
    try value(name, "crashed, all, or the number of a thread") { value in
      ThreadChoice(argument: value.string ?? value.integer.map { String($0) } ?? "")
    }
  }
}
