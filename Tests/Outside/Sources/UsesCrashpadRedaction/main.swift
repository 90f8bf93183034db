// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadRedaction DUMP COPY
// Writes a redacted copy of a dump, and reports what was removed.
import CrashpadRedaction
import SystemPackage

let arguments = CommandLine.arguments.map { FilePath($0) }
var policy = RedactionPolicy()
policy.keptAnnotations.append(NamePattern("plat"))
let redaction = Redaction(policy)
let report = try redaction.redact(arguments[1], to: arguments[2])
print("\(report.inputByteCount) bytes, then \(report.outputByteCount)")
for removal in report.removals { print("\(removal.kind) \(removal.name): \(removal.count)") }
do { _ = try redaction.redact(FilePath("/nowhere"), to: arguments[2]) } catch {
  guard case .input(let errno) = error else { throw error }
  print("\(errno)")
}
