// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadDatabase DATABASE ID
// Lists the reports of a database, and changes the one whose id was given as text.
import CrashpadDatabase
import SystemPackage

let arguments = CommandLine.arguments
let database = try CrashDatabase(FilePath(arguments[1]))
func list() throws(FileFailure) {
  for state in [ReportState.pending, .completed] {
    for report in try database.listing(of: state).reports.sorted(by: { $0.fileName < $1.fileName }) {
      let isRequested = report.metadata.value?.isUploadExplicitlyRequested ?? false
      print("\(report.id.text) \(state): \(report.size) bytes, requested: \(isRequested)")
    }
  }
}

print(UUIDBytes(text: "not an id") == nil)
guard let id = UUIDBytes(text: arguments[2]) else { throw Errno.invalidArgument }
try list()
let session = try DatabaseSession(database)
_ = try session.changeSettings { $0.uploadsEnabled = true }
try session.requestUpload(id)
try list()
try session.skipUpload(id)
try list()
do { try session.skipUpload(id) } catch { print("\(error)") }
try session.delete(id)
do { try session.delete(id) } catch {
  guard case .notFound = error else { throw error }
  print("deleted")
}
session.close()
if case .found(let settings) = try database.settings() { print("uploads: \(settings.uploadsEnabled)") }
do { _ = try CrashDatabase(FilePath("/nowhere")) } catch {
  if case .file(let failure) = error { print("\(failure.path): \(failure.errno)") }
}
