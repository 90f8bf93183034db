// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import ToolRunner

/// Debian's nginx before the collectors, over HTTP and TLS, started once for all tests of a process.
///
/// `/to/PORT/PATH` goes to the collector on that port, `/limited/PORT/PATH` with at most 2000 bytes, and
/// `/unbuffered/PORT/PATH` while it comes, `/impatient/PORT/PATH` waits a second for an answer. It ends with this process, and takes its files with it.
struct WebServer: Sendable {
  let port: Int
  /// By the name of a certificate: `good`, `expired`, `wrong` (another host's), `self` (signed by itself).
  let securePorts: [String: Int]
  /// The certificate of the CA that signed the others.
  let authority: String

  static let shared = Result { try WebServer() }
  static let certificates = ["good", "expired", "wrong", "self"]

  static let nginx = find("nginx")
  static let openssl = find("openssl")
  static var isPossible: Bool { nginx != nil && openssl != nil }
  /// Whether there is a loopback address of IPv6 too; the servers listen there then.
  static let hasIPv6 = (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8))?.contains(" lo\n") == true

  static func find(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin", "/usr/bin"]
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  func url(_ collector: Collector, _ path: String = "/submit", by location: String = "to") -> String {
    "http://127.0.0.1:\(port)/\(location)/\(collector.port)\(path)"
  }

  func secureURL(_ collector: Collector, _ certificate: String = "good", host: String = "localhost") -> String {
    "https://\(host):\(securePorts[certificate]!)/to/\(collector.port)/submit"
  }

  struct NotStarted: Error, CustomStringConvertible { let description: String }

  private init() throws {
    guard let nginx = Self.nginx, let openssl = Self.openssl else { throw NotStarted(description: "not installed") }
    let folder = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-nginx-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
      try Self.shell(Self.makeCertificates, [openssl], in: folder)
      authority = folder.appending(path: "ca.pem").path
      var reason = ""
      for _ in 0..<5 {
        let ports = (0...Self.certificates.count).map { _ in Self.freePort() }
        try Data(Self.configuration(ports).utf8).write(to: folder.appending(path: "nginx.conf"))
        if try Self.start(nginx, folder, ports) {
          port = ports[0]
          securePorts = Dictionary(uniqueKeysWithValues: zip(Self.certificates, ports.dropFirst()))
          return
        }
        // Another program took the port first.
        reason = (try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)) ?? ""
      }
      throw NotStarted(description: reason)
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  /// Below those that the kernel gives away by itself.
  static func freePort() -> Int {
    while true {
      let port = Int.random(in: 10_000..<32_000)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      let isFree = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isFree { return port }
    }
  }

  /// Runs nginx until standard input ends; false if it ends at once. A run that does not start leaves the folder.
  private static func start(_ nginx: String, _ folder: URL, _ ports: [Int]) throws -> Bool {
    let script = """
      "$0" -c "$1/nginx.conf" -p "$1" 2>"$1/messages" &
      server=$!
      read -r nothing
      kill $server 2>/dev/null
      wait $server
      [ -e "$1/started" ] && rm -rf "$1"
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script, nginx, folder.path]
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try Tool.startUnblocked(process)
    let errors = folder.appending(path: "error.log")
    // Ready when it has its process's number written, which is after it has its ports.
    for _ in 0..<3000 {
      if FileManager.default.fileExists(atPath: folder.appending(path: "nginx.pid").path) {
        try Data().write(to: folder.appending(path: "started"))
        running.withLock { $0.append(input) }
        return true
      }
      let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
      if text.contains("[emerg]") { break }
      usleep(10_000)
    }
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return false
  }

  /// Open as long as this process lives.
  private static let running = Mutex<[Pipe]>([])

  private static func shell(_ script: String, _ arguments: [String], in folder: URL) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-ec", script] + arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    let errors = folder.appending(path: "messages")
    try Data().write(to: errors)
    let handle = try FileHandle(forWritingTo: errors)
    process.standardError = handle
    process.standardOutput = handle
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw NotStarted(description: (try? String(contentsOf: errors, encoding: .utf8)) ?? "openssl failed")
    }
  }

  private static let makeCertificates = """
    key() { "$0" ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
    issue() { # NAME HOSTS DAYS
      key "$1"
      "$0" req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
      echo "subjectAltName=$2" >"$1.ext"
      "$0" x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$3" -extfile "$1.ext" -out "$1.pem"
    }
    key ca
    "$0" req -x509 -new -key ca.key -subj "/CN=CA of a test" -days 30 -out ca.pem
    issue good DNS:localhost,IP:127.0.0.1,IP:0:0:0:0:0:0:0:1 30
    issue expired DNS:localhost,IP:127.0.0.1 -1
    issue wrong DNS:other.example 30
    key self
    "$0" req -x509 -new -key self.key -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 30 -out self.pem
    """

  private static func configuration(_ ports: [Int]) -> String {
    let pass = "proxy_pass http://127.0.0.1:$1$2$is_args$args; proxy_http_version 1.1; proxy_read_timeout 30;"
    let locations = """
      location ~ ^/to/(\\d+)(/.*)$ { \(pass) }
      location ~ ^/limited/(\\d+)(/.*)$ { client_max_body_size 2000; \(pass) }
      location ~ ^/impatient/(\\d+)(/.*)$ { \(pass.replacing("timeout 30", with: "timeout 1")) }
      location ~ ^/unbuffered/(\\d+)(/.*)$ { proxy_request_buffering off; \(pass) }
      """
    func listen(_ port: Int, _ option: String = "") -> String {
      (["127.0.0.1"] + (hasIPv6 ? ["[::1]"] : [])).map { "listen \($0):\(port)\(option);" }.joined(separator: " ")
    }
    let secure = zip(certificates, ports.dropFirst()).map { name, port in
      """
      server {
        \(listen(port, " ssl"))
        ssl_certificate \(name).pem;
        ssl_certificate_key \(name).key;
        \(locations)
      }
      """
    }
    return """
      daemon off;
      master_process off;
      pid nginx.pid;
      error_log error.log notice;
      events { worker_connections 512; }
      http {
        access_log off;
        client_max_body_size 0;
        client_body_temp_path bodies;
        proxy_temp_path answers;
        fastcgi_temp_path none;
        uwsgi_temp_path none;
        scgi_temp_path none;
        server {
          \(listen(ports[0]))
          \(locations)
        }
        \(secure.joined(separator: "\n"))
      }
      """
  }
}
