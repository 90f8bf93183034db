// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadSymbols DUMP SYMBOLS
// Prints the crashed stack with names: the program of README.md.
import CrashpadSymbols
import SystemPackage

func crashedStack(_ dump: FilePath, symbols: FilePath) throws -> [String] {
  let crash = try NamedCrash(dump, symbols: [symbols])
  return crash.threads.filter(\.isCrashed).flatMap(\.frames).map { frame in
    "\(frame.module ?? "?") \(frame.function ?? "?") \(frame.file ?? "?"):\(frame.line)"
  }
}

let arguments = CommandLine.arguments.map { FilePath($0) }
for line in try crashedStack(arguments[1], symbols: arguments[2]) { print(line) }
do { _ = try NamedCrash(FilePath("/nowhere")) } catch {
  guard case .file(let errno) = error else { throw error }
  print("\(errno)")
}
