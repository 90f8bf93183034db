// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadText
import CrashpadView
import DumpInterpretation
import CrashpadEvents
import CrashpadFiles
import CrashpadJSON
import CrashpadRedaction
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// The work on one dump: that of the command with the operation's name, whose document the answer has.
///
/// All dumps share the files with symbols, each of which is read once.
struct WorkerOperations: Sendable {
  private let signatures: SignatureOptions
  /// Finds no symbols.
  private let raw: SignatureOptions
  private let full: SymbolCache
  /// For events.
  private let named: SignatureOptions
  private let simplified: SymbolCache

  init(search: SymbolSearch, inApp globs: [Glob]) {
    let mangled = SymbolCache(search, names: .mangled)
    signatures = SignatureOptions(mangled, inApp: globs)
    full = SymbolCache(sharing: mangled, names: .full)
    named = SignatureOptions(full)
    simplified = SymbolCache(sharing: mangled, names: .simplified)
    let none = SymbolCache(SymbolSearch(paths: [], looksInSystem: false), names: .mangled)
    raw = SignatureOptions(none, inApp: globs)
  }

  func answer(_ request: WorkerRequest, _ dump: WorkerInput.Dump) -> WorkerAnswer {
    if request.operation == .version { return version(request) }
    switch dump {
    case .tooLarge(let count):
      let limit = TextFormat.size(UInt64(InputFile.pipeLimit))
      let text = "has \(grouped(count)) bytes, more than \(limit); --max-input-size allows more"
      return failed(request, text, .noInput)
    case .bytes(let bytes):
      do {
        let input = try DumpInput(InputFile(bytes: bytes), named: FilePath(argument: request.input))
        return try answer(request, input)
      } catch {
        let (text, status) = Sentences.failure(error, creating: false)
        return failed(request, text, status)
      }
    }
  }

  private func answer(_ request: WorkerRequest, _ input: DumpInput) throws -> WorkerAnswer {
    switch request.operation {
    case .raw, .signature: signature(request, input)
    case .symbolize: symbolize(request, input)
    case .explain: try explain(request, input)
    case .events: events(request, input)
    case .validate: validate(request, input)
    case .convert: try convert(request, input)
    case .redact: try redact(request, input)
    case .version: version(request)
    }
  }

  private func answer(
    _ request: WorkerRequest, _ status: ExitStatus, made: [UInt8]? = nil,
    _ document: @escaping (inout JSONWriter) -> Void
  ) -> WorkerAnswer {
    let isDone = [.success, .findings, .noData].contains(status)
    return WorkerAnswer(
      request.id, request.operation, isDone ? .done : .failed, exit: status, made: made, document: document)
  }

  /// The document of a command that can't read its input.
  private func failed(_ request: WorkerRequest, _ text: String, _ status: ExitStatus) -> WorkerAnswer {
    let failure = FailureText(text, status)
    return WorkerAnswer(request.id, request.operation, .failed, exit: status, error: text) { json in
      switch request.operation {
      case .raw, .signature:
        SignatureDocument.document.write(SignatureDocument(failure, input: request.input), to: &json)
      case .symbolize: SymbolizeDocument.document.write(SymbolizeDocument(failure, input: request.input), to: &json)
      case .explain:
        ExplanationDocument.document.write(ExplanationDocument(input: request.input, error: text), to: &json)
      case .validate:
        let failed = ValidatedInput(
          name: displayName(request.input), argument: request.input, failure: failure)
        ValidationDocument.document.write(
          ValidationDocument(results: results(request, failed), input: failed), to: &json)
      case .convert:
        ConvertDocument.document.write(
          ConvertDocument(input: request.input, output: nil, result: BatchResult(failure: failure)), to: &json)
      case .redact:
        let document = RedactDocument(
          input: request.input, output: nil, result: BatchResult(failure: failure), isDryRun: false)
        RedactDocument.document.write(document, to: &json)
      case .events: EventsDocument.document.write(EventsDocument(failure, input: request.input), to: &json)
      case .version: json.null()
      }
    }
  }

  private func version(_ request: WorkerRequest) -> WorkerAnswer {
    answer(request, .success) { json in
      json.object { WorkerDocument.version.write(WorkerRequest.Operation.allCases, to: &$0) }
    }
  }

  // MARK: Operations

  private func signature(_ request: WorkerRequest, _ input: DumpInput) -> WorkerAnswer {
    let dump = Dump(input, architecture: request.architecture)
    let document = SignatureDocument(
      dump, input: request.input, options: request.operation == .raw ? raw : signatures,
      isKeyed: request.operation == .raw)
    return answer(request, dump.status) { SignatureDocument.document.write(document, to: &$0) }
  }

  private func symbolize(_ request: WorkerRequest, _ input: DumpInput) -> WorkerAnswer {
    let dump = Dump(input, architecture: request.architecture)
    var view: CrashView?
    if let snapshot = dump.snapshot {
      if let failure = request.options.threads?.failure(snapshot.threads.count) {
        return failed(request, failure, .noData)
      }
      view = CrashView(
        dump, snapshot, full, threads: request.options.threads?.threads ?? .crashed,
        allModules: request.options.part == .modules, signatures: signatures)
    }
    return answer(request, dump.status) {
      SymbolizeDocument.document.write(
        SymbolizeDocument(dump, view, input: request.input, part: request.options.part), to: &$0)
    }
  }

  private func explain(_ request: WorkerRequest, _ input: DumpInput) throws -> WorkerAnswer {
    let explained = try ExplainedInput(input, architecture: request.architecture, simplified)
    return answer(request, explained.status) {
      ExplanationDocument.document.write(ExplanationDocument(explained, input: request.input), to: &$0)
    }
  }

  private func events(_ request: WorkerRequest, _ input: DumpInput) -> WorkerAnswer {
    let dump = Dump(input, architecture: request.architecture)
    let id = dump.crashID(FilePath(argument: request.input))
    var made = request.options.event
    made.id = id
    let found = dump.snapshot.flatMap { CrashEvent($0, dump, made, full, named) }
    let event = request.options.redactsEvents ? found.map { $0.redacted() } : found
    let lines = event.map { EventForm.mapping(request.options.mapping).lines($0, EventReader.reporter) } ?? []
    return answer(request, dump.status, made: lines.isEmpty ? nil : Array(lines.joined())) { json in
      EventsDocument.document.write(
        EventsDocument(dump, id, lines: lines.count, input: request.input), to: &json)
    }
  }

  private func validate(_ request: WorkerRequest, _ input: DumpInput) -> WorkerAnswer {
    var validation = Validation()
    validation.architecture = request.architecture
    validation.guessesArchitecture = request.guessesArchitecture ?? false
    var findings = validation.validate(input)
    findings.remove(rules: request.options.ignored)
    let validated = ValidatedInput(
      name: displayName(request.input), argument: request.input, format: input.format, findings: findings)
    let results = results(request, validated)
    return answer(request, results.status) {
      ValidationDocument.document.write(ValidationDocument(results: results, input: validated), to: &$0)
    }
  }

  private func results(_ request: WorkerRequest, _ input: ValidatedInput) -> ValidationResults {
    ValidationResults(
      inputs: [input], readingStatus: input.failure?.status ?? .success, isStrict: request.options.isStrict)
  }

  private func convert(_ request: WorkerRequest, _ input: DumpInput) throws -> WorkerAnswer {
    var conversion = request.options.conversion
    conversion.options.architecture = request.architecture
    conversion.options.guessesArchitecture = request.guessesArchitecture ?? false
    let output = MemoryOutput()
    let result = BatchResult(converted: try conversion.convert(input, to: output))
    guard output.bytes.count <= UInt32.max else { return failed(request, Self.tooLong, .noData) }
    return answer(request, result.status, made: result.hasOutput ? output.bytes : nil) {
      ConvertDocument.document.write(ConvertDocument(input: request.input, output: nil, result: result), to: &$0)
    }
  }

  private func redact(_ request: WorkerRequest, _ input: DumpInput) throws -> WorkerAnswer {
    if let refusal = Sentences.refusalToRedact(input) { return failed(request, refusal.text, refusal.status) }
    let isDryRun = request.options.isDryRun
    let output = MemoryOutput()
    let report = try input.file.withBytes { bytes in
      let plan = try Redaction(request.options.policy).plan(bytes)
      if !isDryRun { try plan.write(bytes, to: output) }
      return plan.report
    }
    guard output.bytes.count <= UInt32.max else { return failed(request, Self.tooLong, .noData) }
    let document = RedactDocument(
      input: request.input, output: nil, result: BatchResult(report), isDryRun: isDryRun)
    return answer(request, .success, made: isDryRun ? nil : output.bytes) {
      RedactDocument.document.write(document, to: &$0)
    }
  }

  private static let tooLong = "becomes more than 4294967295 bytes, which no answer can have"
}
