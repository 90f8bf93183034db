// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadGroups SYMBOLS DUMP...
// Counts crashes by signature.
import CrashpadGroups
import SystemPackage

let arguments = CommandLine.arguments.dropFirst().map { FilePath($0) }
var grouping = CrashGrouping(symbols: [arguments[0]])
for path in arguments.dropFirst() {
  let signature = try grouping.add(path)
  print("\(path.lastComponent?.string ?? ""): \(signature?.text ?? "no meaning") \(signature?.flags.count ?? 0)")
}
for group in grouping.groups {
  let versions = group.versions.keys.sorted().joined(separator: " ")
  print("\(group.id) \(group.count)x \(group.text), versions \(versions), first \(group.first ?? 0)")
}
