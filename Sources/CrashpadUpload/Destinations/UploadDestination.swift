// SPDX-License-Identifier: Apache-2.0
/// The server for reports, and the form in which that server expects them.
///
/// Print only `displayName`: the other properties may contain keys and tokens.
public struct UploadDestination: Sendable {
  package let server: UploadServer
  package let address: WebAddress
  /// Fields added to every report that does not have them.
  package let constantFields: [UploadField]

  init(_ server: UploadServer, _ address: WebAddress, constantFields: [UploadField] = []) {
    self.server = server
    self.address = address
    self.constantFields = constantFields
  }

  /// A server that accepts Crashpad's uploads.
  public init(url: String) throws(WebAddressFailure) { self.init(.crashpad, try WebAddress(url)) }

  /// Scheme, host and port.
  public var displayName: String { address.displayName }

  /// The fields that this server adds to a report. They never replace a field of the report.
  package func addedFields(to report: UploadFields) -> [UploadField] {
    (constantFields + server.copies.compactMap { $0.field(of: report) }).filter { field in
      !report.fields.contains { $0.name == field.name }
    }
  }

  /// Whether the server rejects reports with a field of this name.
  package func refuses(field name: [UInt8]) -> Bool { server.refusedFields.contains { name == Array($0.utf8) } }

  /// The fields of a report for this server. The fields of the report are kept, except those for which the server
  /// would reject the report.
  package func fields(of report: UploadFields) -> UploadFields {
    var fields = report
    fields.removeAll { refuses(field: $0) }
    fields.set(addedFields(to: report))
    return fields
  }

  /// The address for a report with these fields.
  ///
  /// Source: `CrashReportUploadThread::UploadReport` in `handler/crash_report_upload_thread.cc`.
  package func address(of fields: UploadFields) -> WebAddress {
    guard server.identifiesClients else { return address }
    var address = self.address
    for (field, parameter) in [("prod", "product"), ("ver", "version"), ("guid", "guid")] {
      if let value = fields[field] { address = address.adding(parameter, value) }
    }
    return address
  }

  /// If the answer, which has status 200, states that the server discarded the report:
  /// the server's reason. Otherwise nil.
  package func rejection(in body: [UInt8]) -> String? {
    guard let prefix = server.rejection, body.starts(with: prefix.utf8) else { return nil }
    let reason = body.dropFirst(prefix.utf8.count).prefix { $0 > 0x20 && $0 < 0x7f }
    return String(decoding: reason, as: UTF8.self)
  }
}
