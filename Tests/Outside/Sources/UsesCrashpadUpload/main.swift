// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadUpload DATABASE ID URL
// Forecasts the upload of the report whose id was given as text, and then sends it.
import CrashpadUpload
import SystemPackage

let arguments = CommandLine.arguments
guard let id = UUIDBytes(text: arguments[2]), let header = HTTPHeader(name: "Authorization", value: "Bearer x") else {
  throw Errno.invalidArgument
}
var options = ReportUploader.Options(try UploadDestination(url: arguments[3]))
options.reports = [id]
options.headers = [header]
options.fields = [UploadField("channel", "beta")]
options.redaction = RedactionPolicy()
options.maximumAttempts = 3
options.connectTimeout = .seconds(5)
options.timeout = .seconds(5)
options.userAgent = "outside/1"
options.proxy = ""
options.now = 1_700_000_000
let uploading = ReportUploader(try CrashDatabase(FilePath(arguments[1])), options: options)

func show(_ event: ReportUploader.Event) {
  switch event {
  case .begins(let count): print("\(count) reports")
  case .result(let result):
    switch result.outcome {
    case .planned(let fields, let byteCount):
      let names = fields.fields.map { String(decoding: $0.name, as: UTF8.self) }
      print("would send \(result.id.text): \(byteCount > 0), \(names.joined(separator: " "))")
    case .uploaded(let serverID, let byteCount):
      print("sent \(result.id.text): \(serverID.count > 0), \(byteCount > 0)")
    default: print("\(result.id.text): \(result.outcome)")
    }
  case .stops(let stop): print("stops: \(stop)")
  case .attemptNotNoted(let failure): print("\(failure)")
  }
}

/// The reason why a run does not begin with these options.
func refusal(_ options: ReportUploader.Options) throws(CrashDatabase.OpenFailure) -> UploadFailure? {
  let uploading = ReportUploader(try CrashDatabase(FilePath(arguments[1])), options: options)
  do { try uploading.run { _ in } } catch { return error }
  return nil
}

try uploading.forecast(show)
try uploading.run(show)
options.certificateFile = FilePath("/nowhere/ca.pem")
options.proxy = "no proxy"
if case .badProxy = try refusal(options) { print("bad proxy") }
options.proxy = nil
options.headers = [HTTPHeader(name: "Content-Type", value: "text/plain")].compactMap(\.self)
if case .badHeader(let name) = try refusal(options) { print("bad header \(name)") }
