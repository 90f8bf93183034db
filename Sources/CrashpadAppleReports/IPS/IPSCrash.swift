// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads the body of a crash, an OS fault or a resource report.
extension ReportBuilder {
  mutating func readCrash(_ body: JSONValue) {
    readIdentity(body)
    readImages(body["usedImages"])
    report.faultingThread = body["faultingThread"]?.int64.flatMap { Int(exactly: $0) }
    readThreads(body["threads"])
    if let index = report.faultingThread, !snapshot.threads.indices.contains(index) {
      note(ReportRules.noCrashedThread, at: body["faultingThread"]?.offset, found: .text(String(index)))
      report.faultingNumber = index
      report.faultingThread = nil
    }
    readException(body)
    readTermination(body["termination"])
    readMessages(body)
    if let frames = body["lastExceptionBacktrace"] {
      report.lastException = readFrames(frames, "lastExceptionBacktrace")
    }
    readOwnFacts(body[OwnFacts.key])
    if snapshot.threads.isEmpty { note(ReportRules.noThreads) }
  }

  // MARK: Exception

  private mutating func readException(_ body: JSONValue) {
    let exception = body["exception"]
    let codes = exception?["rawCodes"]?.elements.map { $0.uint64 ?? 0 } ?? Self.codes(exception?["codes"]?.string)
    setException(type: exception?["type"]?.string, signal: exception?["signal"]?.string, codes: codes)
    report.exceptionCodes = exception?["codes"]?.string
    report.exceptionSubtype = exception?["subtype"]?.string
    report.exceptionMessage = exception?["message"]?.string
    if body["isCorpse"]?.bool == true { report.exceptionNotes.append(IPSNotes.corpse) }
    if report.isNonFatal { report.exceptionNotes.append(IPSNotes.nonFatal) }
    if report.isSimulated { report.exceptionNotes.append(IPSNotes.simulated) }
    let stream = body["instructionByteStream"]
    report.codeBefore = Base64.decode(stream?["beforePC"]?.string)
    report.codeAt = Base64.decode(stream?["atPC"]?.string)
  }

  /// Parses "0x0000000000000001, 0x000000011ecc5adc".
  static func codes(_ text: String?) -> [UInt64] {
    guard let text else { return [] }
    return text.split(separator: ",").map { part in
      let word = part.drop { $0 == " " }.prefix { $0 != " " }
      return word.hasPrefix("0x") ? UInt64(word.dropFirst(2), radix: 16) ?? 0 : UInt64(word) ?? 0
    }
  }

  private mutating func readTermination(_ value: JSONValue?) {
    guard let value, value.kind == .object else { return }
    var termination = ReportSnapshot.Termination()
    termination.namespace = value["namespace"]?.display
    termination.code = value["code"]?.uint64
    termination.flags = value["flags"]?.uint64
    termination.indicator = value["indicator"]?.string
    termination.reasons = value["reasons"]?.strings ?? []
    termination.details = value["details"]?.strings ?? []
    termination.byProcess = value["byProc"]?.string
    termination.byProcessID = value["byPid"]?.int64
    report.termination = termination
  }

  // MARK: Messages

  private mutating func readMessages(_ body: JSONValue) {
    for (image, texts) in body["asi"]?.members ?? [] {
      for text in texts.strings { addMessage(text, image: image.isEmpty ? nil : image) }
    }
    if let list = body["asi"], list.kind == .array {
      for text in list.strings { addMessage(text) }
    }
    report.kernelTriage = body["ktriageinfo"]?.string?.split(separator: "\n").map(String.init) ?? []
    report.vmRegionInfo = body["vmRegionInfo"]?.string ?? body["vmregioninfo"]?.string
    report.notes = body["reportNotes"]?.strings ?? []
  }
}
