// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import SystemPackage

/// The result of `convert` for one input as JSON.
struct ConvertDocument {
  let input: String
  let output: FilePath?
  let result: BatchResult<Conversion.Summary>

  static let document = Document<ConvertDocument>(
    "crashpadctl-convert/1",
    "Output of `crashpadctl convert --format json`: a document on one line for each input.",
    .argument("input", "The name of the input.") { $0.input },
    .path("output", "The path of the output.") { $0.output },
    .word(
      "outcome", of: ["converted", "incomplete", "rejected", "failed"],
      """
      The outcome.
      `converted`: the whole input was converted.
      `incomplete`: the input is truncated, and the part before that was converted.
      `rejected`: nothing was written because the input contains no usable dump.
      `failed`: the input could not be read or the output not written; the members after `status` are omitted.
      """, .always
    ) { $0.result.failure != nil ? "failed" : $0.result.value?.outcome.rawValue },
    .members(ifAny: InputRecord.failure) { $0.result.failure },
    .number("bytes", "The size of the output.", .omittable) { $0.result.value?.byteCount },
    .members(ifAny: FindingRecord.list) { $0.result.value?.findings })
}
