// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The declarations of libcurl, against its own header.
@Suite("The constants of libcurl")
struct CurlConstantsTests {
  private static let declarations = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/CCrashpadCurl/CCrashpadCurl.h").standardizedFileURL

  /// Our name to libcurl's.
  private static func theirs(_ name: String) -> String {
    let special = [
      "CURL_INIT_ALL": "CURL_GLOBAL_ALL", "CURL_VERSION_HTTP_1_1": "CURL_HTTP_VERSION_1_1",
      "CURL_TLS_1_2": "CURL_SSLVERSION_TLSv1_2", "CURL_READ_ABORT": "CURL_READFUNC_ABORT",
      "CURL_SEEK_OK": "CURL_SEEKFUNC_OK", "CURL_SEEK_FAIL": "CURL_SEEKFUNC_FAIL", "CURL_ERROR_SIZE": "CURL_ERROR_SIZE",
    ]
    if let name = special[name] { return name }
    for (prefix, replacement) in [("CURL_OPTION_", "CURLOPT_"), ("CURL_INFO_", "CURLINFO_"), ("CURL_", "CURLE_")]
    where name.hasPrefix(prefix) {
      return replacement + name.dropFirst(prefix.count)
    }
    return name
  }

  /// The constants that libcurl has had only since a release: an older header has no name for the value.
  private static let later = ["CURL_TOO_LARGE": "0x080600"]

  private static let compiler = ["cc", "gcc", "clang"].first { name in
    (try? Tool.shell(
      "printf '#include <curl/curl.h>\\nint main(void) { return 0; }' | \(name) -x c -fsyntax-only -",
      in: TemporaryFolder()
    ).status) == 0
  }

  @Test("They are those of curl/curl.h", .enabled(if: compiler != nil, "libcurl's header is not installed"))
  func constants() throws {
    let text = try String(contentsOf: Self.declarations, encoding: .utf8)
    let names = text.matches(of: #/static const [a-z_]+ (CURL_[A-Z0-9_]+) =/#).map { String($0.1) }
    #expect(names.count > 50)
    // Both headers would define the functions' types.
    let values = text.split(separator: "\n").filter { $0.hasPrefix("static const ") }.joined(separator: "\n")
    let checks = names.map { name in
      """
      #if LIBCURL_VERSION_NUM >= \(Self.later[name] ?? "0")
      _Static_assert(OUR_\(name) == (long long)\(Self.theirs(name)), "\(name)");
      #endif
      """
    }
    let ours = values.replacing(#/static const [a-z_]+ (CURL_[A-Z0-9_]+) = ([^;]+);/#) {
      "#define OUR_\($0.1) (\($0.2))"
    }
    let folder = try TemporaryFolder()
    try folder.write(Array("#include <curl/curl.h>\n\(ours)\n\(checks.joined(separator: "\n"))\n".utf8), to: "t.c")
    let result = try Tool.shell("\(Self.compiler ?? "cc") -std=c11 -w -fsyntax-only t.c", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
  }
}
