// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadFiles
import SystemPackage

/// The data that `group` takes from one dump, as JSON.
struct SignatureDocument {
  private let head: InputHead
  private let crash: Crash?

  private struct Crash {
    let signature: Signature
    /// By which crashes share a signature; nil if it was not asked for.
    let key: String?
    let facts: CrashFacts
    let debugID: String?
    let threadCount: Int
  }

  /// - Parameters:
  ///   - input: the name of the dump.
  ///   - isKeyed: whether to make the key by which crashes share a signature; `options` then find no symbols.
  init(_ dump: Dump, input: String, options: SignatureOptions, isKeyed: Bool) {
    head = InputHead(input: input, content: .dump(dump))
    guard let snapshot = dump.snapshot else {
      crash = nil
      return
    }
    let keyed = isKeyed ? KeyedSignature(snapshot, dump.file, options) : nil
    crash = Crash(
      signature: keyed?.signature ?? Signature(snapshot, dump.file, nil, options), key: keyed?.key,
      facts: CrashFacts(dump, snapshot, input: displayName(input), at: FilePath(argument: input)),
      // Callers that give all dumps of one build to one worker load its symbols once.
      debugID: snapshot.executableIndex.flatMap {
        ModuleIdentity(snapshot.modules[$0], snapshot, dump.file).debugID?.text
      }, threadCount: snapshot.threads.count)
  }

  init(_ failure: FailureText, input: String) {
    head = InputHead(input: input, content: .failure(failure))
    crash = nil
  }

  static let document = Document<SignatureDocument>(
    "crashpadctl-signature/1",
    "A document of the operations `raw` and `signature` of crashpadctl-worker(1): the data that `group` uses of one dump.",
    .members(of: InputHead.record) { $0.head },
    .object("signature", SignatureRecord.withNamed, "The signature; see crashpadctl-group(5).", .omittable) {
      $0.crash?.signature
    },
    .text(
      "key",
      "Only of `raw`: 32 hexadecimal digits. Crashes with the same key have the same kind, the same frames in the same builds "
        + "of modules, and the same code addresses on top of the stack. So they have the same signature with any symbols.",
      .omittable
    ) { $0.crash?.key },
    .object("crash", facts, "The facts that groups count.", .omittable) { $0.crash })

  private static let facts = Record<Crash>(
    .text("id", "The id of the report, or otherwise the input.", .always) { $0.facts.id },
    .time("time", "The time of the crash.") { $0.facts.time },
    .number("seconds", "The same in seconds since 1970.") { $0.facts.time },
    .text("program", "The program.") { $0.facts.program },
    .text("version", "Its version.") { $0.facts.version },
    .text("debug_id", "The id of its executable, for symbol servers.") { $0.debugID },
    .text("device", "The model of the device.") { $0.facts.device },
    .text("system", "The system and its version.") { $0.facts.system },
    .text("client", "The installation.") { $0.facts.client },
    .flag("quick", "Whether the program ended within seconds of its start.") { $0.facts.isQuick },
    .text("report", "The id of the report, for other reports of the same crash.") { $0.facts.report },
    .text("role", "The part that the report has among those of the same crash.") { $0.facts.role?.rawValue },
    .number("pid", "The process id.") { $0.facts.processID },
    .text("process", "The name of the executable's file.") { $0.facts.process },
    .number("since", "The start of a period that ends with `seconds`.") { $0.facts.periodStart },
    .number("thread_count", "The number of threads.", .always) { $0.threadCount })
}
