import CrashpadBytes
import CrashpadCore
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText

/// The schema crashpadctl-signature/1 of crashpadctl-json(5): what `group` takes from one dump.
struct SignatureDocument {
  static let schema = "crashpadctl-signature/1"

  private let dump: Dump
  private let input: String
  private let signature: Signature?
  private let key: String?
  private let facts: CrashFacts?

  /// - Parameters:
  ///   - input: the name of the dump.
  ///   - isKeyed: whether to make the key by which crashes share a signature; `options` then find no symbols.
  init(_ dump: Dump, input: String, options: SignatureOptions, isKeyed: Bool) {
    self.dump = dump
    self.input = input
    guard let snapshot = dump.snapshot else {
      (signature, key, facts) = (nil, nil, nil)
      return
    }
    if isKeyed {
      let keyed = KeyedSignature(snapshot, dump.file, options)
      (signature, key) = (keyed.signature, keyed.key)
    } else {
      (signature, key) = (Signature(snapshot, dump.file, nil, options), nil)
    }
    facts = CrashFacts(dump, snapshot, input: displayName(input))
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      InputDocument.writeHead(Self.schema, dump, input: input, to: &json)
      guard let signature, let facts else { return }
      json.key("signature")
      SignatureJSON.write(signature, saysNamed: true, to: &json)
      if let key { json.member("key", key) }
      json.object("crash") { write(facts, to: &$0) }
    }
  }

  private func write(_ facts: CrashFacts, to json: inout JSONWriter) {
    let snapshot = dump.snapshot
    json.member("id", facts.id)
    json.member("time", facts.time.flatMap { Wording.rfc3339(Timestamp(seconds: $0)) })
    json.member("seconds", facts.time)
    json.member("program", facts.program)
    json.member("version", facts.version)
    json.member("debug_id", executable?.debugID?.text)
    json.member("device", facts.device)
    json.member("system", facts.system)
    json.member("client", facts.client)
    json.member("quick", facts.isQuick)
    json.member("report", facts.report)
    json.member("role", facts.role?.rawValue)
    json.member("pid", facts.processID)
    json.member("process", facts.process)
    json.member("since", facts.periodStart)
    json.member("thread_count", snapshot?.threads.count)
  }

  /// Callers that give all dumps of one build to one worker load its symbols once.
  private var executable: ModuleIdentity? {
    guard let snapshot = dump.snapshot, let index = snapshot.executableIndex else { return nil }
    return ModuleIdentity(snapshot.modules[index], snapshot, dump.file)
  }
}
