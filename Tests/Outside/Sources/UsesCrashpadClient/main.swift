// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadClient DATABASE
// Starts the handler, writes a dump without a crash, makes a report of it, and sends the events of earlier crashes.
import CrashpadClient
import SystemPackage

enum Crash {
  static let path = StringAnnotation("request-path")
}

var options = CrashpadClient.Options()
options.upload.headers = [HTTPHeader(name: "X-Key", value: "k")].compactMap(\.self)
options.upload.redaction = RedactionPolicy()
try CrashpadClient.startCrashpadInProcessHandler(
  database: FilePath(CommandLine.arguments[1]), url: "http://user:secret@/", annotations: ["version": "1.2.3"],
  options: options)
Crash.path.set("/v2/cart")
let summary = try CrashpadClient.dumpWithoutCrash()
print("\(summary.reports.count) report, \(summary.remaining.count) dumps remain")
print("crashed: \(CrashpadClient.crashedLastRun), \(try CrashpadClient.processIntermediateDumps().reports.count) more")
do { try CrashpadClient.startProcessingPendingReports() } catch { print("\(error)") }
do {
  print("events of \(try CrashpadClient.sendCrashEvents(.otel) { _ in }) crashes")
} catch {
  switch error {
  case .client(let failure): print("\(failure)")
  case .send(let error): print("\(error)")
  }
}
