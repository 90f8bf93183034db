// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore

/// One input of `validate` with its result.
struct ValidatedInput: Sendable {
  let name: String
  /// The argument that names the input, or would; `-` for standard input.
  let argument: String
  var format: InputFormat?
  var findings = FindingList()
  /// The reason why the input could not be read.
  var failure: FailureText?
  /// The time taken.
  var duration = Duration.zero
}

/// All inputs of one run of `validate`, and whether the run fails.
struct ValidationResults {
  let inputs: [ValidatedInput]
  /// The exit status for inputs that could not be read.
  let readingStatus: ExitStatus
  /// Whether warnings count as errors.
  let isStrict: Bool
  var maxWarnings: Int?

  func count(_ severity: Severity) -> Int { inputs.reduce(0) { $0 + $1.findings.count(of: severity) } }

  private var hasTooManyWarnings: Bool { maxWarnings.map { count(.warning) > $0 } ?? false }

  var status: ExitStatus {
    if readingStatus != .success { return readingStatus }
    let hasFailed = count(.error) > 0 || (isStrict && count(.warning) > 0) || hasTooManyWarnings
    return hasFailed ? .findings : .success
  }

  /// Whether this input alone makes the run fail.
  func isBad(_ input: ValidatedInput) -> Bool {
    input.failure != nil || input.findings.count(of: .error) > 0
      || ((isStrict || hasTooManyWarnings) && input.findings.count(of: .warning) > 0)
  }
}
