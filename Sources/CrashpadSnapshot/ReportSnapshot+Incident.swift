// SPDX-License-Identifier: Apache-2.0
extension ReportSnapshot {
  /// The id of the report, if it tells this report from others: redaction leaves zeros.
  package var knownIncident: String? {
    incident.flatMap { $0.isEmpty || $0 == UUIDBytes.zero.text ? nil : $0 }
  }
}
