// SPDX-License-Identifier: Apache-2.0
import CrashpadSymbols
import SystemPackage

// begin
func crashedStack(_ dump: FilePath, symbols: FilePath) throws -> [String] {
  let crash = try NamedCrash(dump, symbols: [symbols])
  return crash.threads.filter(\.isCrashed).flatMap(\.frames).map { frame in
    "\(frame.module ?? "?") \(frame.function ?? "?") \(frame.file ?? "?"):\(frame.line)"
  }
}
// end
