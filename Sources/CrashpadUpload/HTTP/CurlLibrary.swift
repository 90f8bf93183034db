// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadCurl
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// The system's libcurl, loaded at the first upload. If it were linked, every start of a program would cost some
/// milliseconds and 6 MB for the two dozen libraries that libcurl needs.
@safe
final class CurlLibrary: Sendable {
  /// All variants have the same interface; they differ in their TLS library.
  static let names = ["libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"]

  /// Loaded once and never unloaded, and neither are its handles.
  static let shared: Result<CurlLibrary, UploadFailure> = Result { () throws(UploadFailure) in try CurlLibrary() }

  let easyInit: curl_easy_init_function
  let easyCleanup: curl_easy_cleanup_function
  let easyReset: curl_easy_reset_function
  let easyPerform: curl_easy_perform_function
  let easyErrorText: curl_easy_strerror_function
  let listAppend: curl_slist_append_function
  let listFree: curl_slist_free_all_function
  // Addresses of functions in a library that is never unloaded.
  nonisolated(unsafe) let setOption: curl_setopt
  nonisolated(unsafe) let getInfo: curl_getinfo
  /// "libcurl/7.88.1 OpenSSL/3.0.17 …"
  let version: String

  private init() throws(UploadFailure) {
    var reason = ""
    for name in Self.names {
      guard let library = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
        // The first library is the one to recommend to users.
        if reason.isEmpty { reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "" }
        continue
      }
      func function<Function>(_ name: String, _: Function.Type) throws(UploadFailure) -> Function {
        guard let address = unsafe dlsym(library, name) else {
          throw .noLibrary(names: Self.names, reason: "it has no \(name)")
        }
        return unsafe unsafeBitCast(address, to: Function.self)
      }
      let begin = try function("curl_global_init", curl_global_init_function.self)
      unsafe easyInit = try unsafe function("curl_easy_init", curl_easy_init_function.self)
      unsafe easyCleanup = try unsafe function("curl_easy_cleanup", curl_easy_cleanup_function.self)
      unsafe easyReset = try unsafe function("curl_easy_reset", curl_easy_reset_function.self)
      unsafe easyPerform = try unsafe function("curl_easy_perform", curl_easy_perform_function.self)
      unsafe easyErrorText = try unsafe function("curl_easy_strerror", curl_easy_strerror_function.self)
      unsafe listAppend = try unsafe function("curl_slist_append", curl_slist_append_function.self)
      unsafe listFree = try unsafe function("curl_slist_free_all", curl_slist_free_all_function.self)
      unsafe setOption = try unsafe function("curl_easy_setopt", curl_setopt.self)
      unsafe getInfo = try unsafe function("curl_easy_getinfo", curl_getinfo.self)
      let version = try unsafe function("curl_version", curl_version_function.self)
      guard begin(CURL_INIT_ALL) == 0 else {
        throw .noLibrary(names: Self.names, reason: "it does not start")
      }
      self.version = unsafe String(cString: version())
      return
    }
    throw .noLibrary(names: Self.names, reason: reason)
  }
}

/// The HTTP library used for uploads.
package enum HTTPLibrary {
  /// The version, such as "libcurl/7.88.1 OpenSSL/3.0.17 …". Throws `UploadFailure` if there is no libcurl.
  package static func version() throws(UploadFailure) -> String { try CurlLibrary.shared.get().version }

  /// The default file of trusted certificate authorities: `$SSL_CERT_FILE`, or libcurl's own. Nil if libcurl has
  /// none, or is older than 7.84 and can't report it. Throws `UploadFailure` if there is no libcurl.
  package static func certificateFile() throws(UploadFailure) -> FilePath? {
    let library = try CurlLibrary.shared.get()
    if let file = Environment.path("SSL_CERT_FILE") { return file }
    guard let handle = unsafe library.easyInit() else { return nil }
    defer { unsafe library.easyCleanup(handle) }
    var file: UnsafePointer<CChar>?
    guard unsafe curl_get_text(library.getInfo, handle, CURL_INFO_CAINFO, &file) == 0 else { return nil }
    return unsafe file.map { unsafe FilePath(platformString: $0) }
  }
}
