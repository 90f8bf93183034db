// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes

extension DumpInput {
  /// The input read by the reader of its format, with findings about the input as it was given.
  func reading(_ options: ReadingOptions) -> FormatReading {
    var reading = FormatRow.of(format).read(file, options)
    reading.findings = located(reading.findings, options.limits)
    return reading
  }

  /// Findings with the offsets of the wrapped text, behind those that say what was removed.
  func located(_ findings: FindingList, _ limits: Limits) -> FindingList {
    guard let unwrapping else { return findings }
    var result = FindingList(limit: limits.maximumFindings)
    for step in unwrapping.steps {
      let rule = step.isUncertain ? ReportRules.damagedWrapping : ReportRules.wrapped
      result.append(Finding(rule, at: step.offset, found: .text(step.text)))
    }
    var findings = findings
    findings.replaceOffsets { unwrapping.source(of: $0) }
    result.append(contentsOf: findings)
    return result
  }
}
