// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadExplanations DUMP SYMBOLS
// Explains a crash, and the codes of others.
import CrashpadExplanations
import SystemPackage

let arguments = CommandLine.arguments.map { FilePath($0) }
guard let crash = try CrashExplanation(arguments[1], symbols: [arguments[2]]) else { throw Errno.invalidArgument }
print("\(crash.isCrash ? "crash" : "no crash"): \(crash.summary)")
for text in crash.endedBy { print("ended by: \(text)") }
for fact in crash.evidence { print("evidence: \(fact.text) [\(fact.place ?? "")] \(fact.frame ?? -1)") }
for text in crash.advice { print("to do: \(text)") }
print("codes: \(crash.codes.map(\.title).joined(separator: ", "))")
for code in CodeExplanation.meanings(of: "0x8badf00d") { print("\(code.title): \(code.meaning) \(code.endedBy)") }
print("unknown: \(CodeExplanation.meanings(of: "NO_SUCH_CODE").count)")
