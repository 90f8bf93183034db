/// Where reports are sent, and in which form that server has them.
///
/// Nothing but `displayName` is fit to be told: the rest may have keys and tokens.
public struct UploadDestination: Sendable {
  package let server: UploadServer
  package let address: WebAddress
  /// Fields that every report gets, unless it has one of that name.
  package let constantFields: [UploadField]
  /// Header fields that every request gets.
  package let headers: [HTTPHeader]
  /// The name of the part that has the minidump.
  package let minidumpName: String
  /// Whether bodies are compressed unless somebody says otherwise. They are then sent in chunks.
  package let usesGzip: Bool
  /// Whether product, version and client id go into the URL.
  package let identifiesClients: Bool

  init(_ server: UploadServer, _ address: WebAddress, constantFields: [UploadField] = []) {
    self.server = server
    self.address = address
    self.constantFields = constantFields
    headers = []
    minidumpName = UploadFields.minidumpName
    usesGzip = server.takesGzip
    identifiesClients = server.identifiesClients
  }

  /// A server that takes what Crashpad sends.
  public init(url: String) throws(WebAddressFailure) { self.init(.crashpad, try WebAddress(url)) }

  /// Scheme, host and port.
  public var displayName: String { address.displayName }

  /// The fields that a report gets for this server. None of them is in the place of one that the report has.
  package func addedFields(to report: UploadFields) -> [UploadField] {
    (constantFields + server.copies.compactMap { $0.field(of: report) }).filter { field in
      !report.fields.contains { $0.name == field.name }
    }
  }

  /// Whether the server refuses a report that has a field of that name.
  package func refuses(field name: [UInt8]) -> Bool { server.refusedFields.contains { name == Array($0.utf8) } }

  /// The fields of a report as this server has them. What the report has stays as it is, unless the server refuses the
  /// report for it.
  package func fields(of report: UploadFields) -> UploadFields {
    var fields = report
    if report.fields.contains(where: { refuses(field: $0.name) }) {
      fields = UploadFields()
      for field in report.fields where !refuses(field: field.name) { fields.set(field) }
    }
    for field in addedFields(to: report) { fields.set(field) }
    return fields
  }

  /// The address for a report with these fields.
  ///
  /// Source: `CrashReportUploadThread::UploadReport` in `handler/crash_report_upload_thread.cc`.
  package func address(of fields: UploadFields) -> WebAddress {
    guard identifiesClients else { return address }
    var address = self.address
    for (field, parameter) in [("prod", "product"), ("ver", "version"), ("guid", "guid")] {
      if let value = fields[field] { address = address.adding(parameter, value) }
    }
    return address
  }

  /// Whether an answer with status 200 says that the server threw the report away; then what it says of why.
  package func rejection(in body: [UInt8]) -> String? {
    guard let prefix = server.rejection, body.starts(with: prefix.utf8) else { return nil }
    let reason = body.dropFirst(prefix.utf8.count).prefix { $0 > 0x20 && $0 < 0x7f }
    return String(decoding: reason, as: UTF8.self)
  }
}
