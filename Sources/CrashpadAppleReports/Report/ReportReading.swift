// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadSnapshot

/// The result of reading one report.
package struct ReportReading: Sendable {
  /// Nil if the report is not about a crash or can't be read; `findings` gives the reason.
  package var snapshot: ProcessSnapshot?
  package var findings: FindingList
}
