// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// TLS and proxies.
@Suite("Ways to the server")
struct NetworkTests {
  @Test(
    "A certificate that is not to be trusted: nothing is sent, and the run ends",
    .enabled(if: WebServer.isPossible, "no nginx or openssl"), arguments: ["expired", "wrong", "self", "good"])
  func badCertificate(_ certificate: String) throws {
    let server = try WebServer.shared.get()
    let (_, collector, database) = try UploadDatabase.withCollector(1...2)
    // The system knows nothing of the test's CA.
    let options = certificate == "good" ? "" : "--ca-file \(server.authority)"
    let result = try database.upload(to: server.secureURL(collector, certificate), "--jobs 1 \(options)", status: 1)
    #expect(result.errorText.contains("no secure connection"), "\(result.errorText)")
    for number in 1...2 { try database.expectPending(number, attempts: 0) }
    #expect(try collector.events.isEmpty)
  }

  @Test(
    "The CA from $SSL_CERT_FILE, and --ca-file before it", .enabled(if: WebServer.isPossible, "no nginx or openssl"))
  func authority() throws {
    let server = try WebServer.shared.get()
    let (folder, collector, database) = try UploadDatabase.withCollector(1...2)
    let url = server.secureURL(collector, host: "127.0.0.1")
    let id = UploadDatabase.id
    try database.upload(to: url, "--report \(id(1))", variables: "SSL_CERT_FILE=\(server.authority)", status: 0)
    try folder.write([], to: "empty")
    try database.upload(
      to: url, "--report \(id(2)) --ca-file \(server.authority)", variables: "SSL_CERT_FILE=empty", status: 0)
    #expect(try collector.requests.count == 2)
  }

  @Test(
    "Only the certificates of --ca-file are trusted",
    .enabled(if: WebServer.isPossible && Machine.canMount, "no nginx or openssl, or no rights to mount"))
  func pinned() throws {
    let server = try WebServer.shared.get()
    let (folder, collector, database) = try UploadDatabase.withCollector(1...2)
    let made = try Tool.shell(
      """
      mkdir hashed && cp '\(server.authority)' hashed/ca.pem && '\(WebServer.openssl!)' rehash hashed
      '\(WebServer.openssl!)' req -x509 -newkey rsa:2048 -nodes -keyout other.key -subj /CN=other -days 2 -out other.pem
      """, in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    let url = server.secureURL(collector)
    let id = UploadDatabase.id
    try database.upload(to: url, "--report \(id(1))", variables: "SSL_CERT_DIR=hashed", status: 0)
    // The system trusts the server now, and a run that names another authority does not.
    let system =
      "unshare --mount \(Machine.mapping) sh -c 'mount --bind hashed /etc/ssl/certs && exec \"$0\" \"$@\"'"
    for (options, variables) in [("--ca-file other.pem", ""), ("", "SSL_CERT_FILE=other.pem")] {
      let result = try database.upload(
        to: url, "--retry-now --report \(id(2)) \(options)", variables: variables, prefix: system)
      #expect(result.status == 1 && result.errorText.contains("no secure connection"), "\(result.errorText)")
    }
    #expect(try collector.requests.count == 1)
  }

  @Test(
    "An address of IPv6, over TLS too", .enabled(if: WebServer.isPossible && WebServer.hasIPv6, "no nginx or no IPv6"))
  func version6() throws {
    let server = try WebServer.shared.get()
    let (_, collector, database) = try UploadDatabase.withCollector(1...2)
    try database.upload(
      to: server.url(collector).replacing("127.0.0.1", with: "[::1]"), "--verbose --report \(UploadDatabase.id(1))",
      status: 0)
    try database.upload(
      to: server.secureURL(collector, host: "[::1]"), "--report \(UploadDatabase.id(2)) --ca-file \(server.authority)",
      status: 0)
    #expect(try collector.requests.count == 2)
  }

  @Test("A CA's file that is none, or of a port that does not speak TLS")
  func noTLS() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...1)
    let url = collector.url().replacing("http:", with: "https:")
    let missing = try database.upload(to: url, "--ca-file missing")
    #expect(missing.status == 66 && missing.errorText.contains("missing: error: "), "\(missing.errorText)")
    try database.expectPending(1, attempts: 0)
    for content in ["", "no certificate\n", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"] {
      try folder.write(Array(content.utf8), to: "ca")
      let wrong = try database.upload(to: url, "--ca-file ca")
      #expect(wrong.status == 64 && wrong.errorText.contains("no certificate in PEM form"), "\(wrong.errorText)")
    }
    #expect(try collector.events.isEmpty)
    let plain = try database.upload(to: url, "--timeout 2s --connect-timeout 2s")
    #expect(plain.status == 75 && plain.errorText.contains("secure"), "\(plain.errorText)")
    try database.expectPending(1, attempts: 0)
  }

  @Test("HTTP to a port that speaks TLS is a wrong address", .enabled(if: WebServer.isPossible, "no nginx or openssl"))
  func plainToSecure() throws {
    let server = try WebServer.shared.get()
    let (_, collector, database) = try UploadDatabase.withCollector(1...6)
    let url = server.secureURL(collector).replacing("https:", with: "http:")
    for _ in 1...6 {
      let result = try database.upload(to: url, "--retry-now")
      #expect(result.status == 1 && result.errorText.contains("refuses this address"), "\(result.errorText)")
    }
    for number in 1...6 { try database.expectPending(number, attempts: 0) }
  }

  @Test("Proxies of the environment and of --proxy, and none for those of no_proxy")
  func proxies() throws {
    let folder = try TemporaryFolder()
    // A proxy that gets every request answers as if it had forwarded it.
    let proxy = try Collector(in: folder, "proxy")
    let server = try Collector(in: folder, "server")
    let database = try UploadDatabase(folder)
    try database.add(1...8)
    let far = "http://crashes.example/submit"
    let here = "http://127.0.0.1:\(proxy.port)"
    let dead = "http://127.0.0.1:9"
    let runs: [(url: String, variables: String, options: String, proxied: Bool)] = [
      (far, "http_proxy=\(here)", "", true),
      (far, "all_proxy=\(here)", "", true),
      (far, "", "--proxy \(here)", true),
      (far, "http_proxy=\(dead)", "--proxy \(here)", true),
      (server.url(), "http_proxy=\(dead) no_proxy=127.0.0.1", "", false),
      (server.url(), "http_proxy=\(dead) NO_PROXY='*'", "", false),
      (server.url(), "http_proxy=\(dead)", "--proxy ''", false),
      // The exceptions of the environment apply to its own proxies.
      (server.url(), "no_proxy=127.0.0.1", "--proxy \(here)", true),
    ]
    for (index, run) in runs.enumerated() {
      let before = (try proxy.requests.count, try server.requests.count)
      let result = try database.upload(
        to: run.url, "--report \(UploadDatabase.id(index + 1)) \(run.options)", variables: run.variables)
      #expect(result.status == 0, "\(run): \(result.errorText)")
      let after = (try proxy.requests.count, try server.requests.count)
      #expect(after.0 - before.0 == (run.proxied ? 1 : 0) && after.1 - before.1 == (run.proxied ? 0 : 1), "\(run)")
    }
    for event in try proxy.requests.dropLast() {
      #expect(event.target.hasPrefix("http://crashes.example/submit"), "\(event.target)")
    }
    try database.expectUploaded(1, as: "CrashID=bp-1")
  }

  @Test(
    "A proxy that TLS goes through, and one that refuses", .enabled(if: WebServer.isPossible, "no nginx or openssl"))
  func tunnel() throws {
    let server = try WebServer.shared.get()
    let folder = try TemporaryFolder()
    let proxy = try Collector(in: folder, "proxy")
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1...3)
    let variables = "https_proxy=http://127.0.0.1:\(proxy.port)"
    let options = "--jobs 1 --ca-file \(server.authority)"
    try database.upload(
      to: server.secureURL(collector), "\(options) --report \(UploadDatabase.id(1))", variables: variables, status: 0)
    #expect(try collector.requests.count == 1)
    #expect(try proxy.events.map(\.target) == ["localhost:\(server.securePorts["good"]!)"])
    let refused = try database.upload(to: "https://refused.invalid/", options, variables: variables)
    #expect(refused.status == 1 && refused.errorText.contains("407"), "\(refused.errorText)")
    for number in 2...3 { try database.expectPending(number, attempts: 0) }
  }

  @Test("A proxy that can't be read is told without its password, and nothing goes without it")
  func oddProxies() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...1)
    try folder.write(Array("http://us%0aer:SECRET@127.0.0.1:1\n".utf8), to: "proxy")
    let addresses = [
      "http://user:SECRET@127.0.0.1:99999", "foo://user:SECRET@127.0.0.1", "http://user:SECRET@[::1",
      "http://u:SE CRET@x",
      "user:SECRET@127.0.0.1:99999", "http://us%0aer:SECRET@127.0.0.1:1", "http://us%00er:SECRET@127.0.0.1:1", "@proxy",
    ]
    for address in addresses {
      let result = try database.upload(to: collector.url(), "--proxy '\(address)'")
      #expect(result.status == 64 && !result.errorText.contains("SECRET"), "\(result.errorText)")
      if address == "@proxy" { continue }
      let variable = try database.upload(to: collector.url(), variables: "http_proxy='\(address)'")
      #expect(variable.status == 64 && !variable.errorText.contains("SECRET"), "\(variable.errorText)")
    }
    try database.expectPending(1, attempts: 0)
    #expect(try collector.events.isEmpty)
  }

  @Test("A connection that no server accepts counts as a missing server: the report is not given up for it")
  func fullQueue() throws {
    let folder = try TemporaryFolder()
    let database = try UploadDatabase(folder)
    try database.add(1)
    // The kernel drops connections to a full queue of one, as firewalls do.
    try folder.write(
      Array(
        """
        import socket, sys, subprocess
        server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(0)
        port = server.getsockname()[1]
        fill = []
        for _ in range(4):
            s = socket.socket(); s.setblocking(False)
            try: s.connect(("127.0.0.1", port))
            except BlockingIOError: pass
            fill.append(s)
        for _ in range(6):
            subprocess.run(sys.argv[1:] + ["--url", "http://127.0.0.1:%d/" % port])
        """.utf8), to: "full.py")
    let result = try Tool.shell(
      "command -v python3 >/dev/null || exit 0; python3 full.py crashpadctl upload -d db --connect-timeout 1s --retry-now --proxy ''",
      in: folder, limit: 120)
    if result.errorText.isEmpty { return }
    #expect(!result.errorText.contains("given up"), "\(result.errorText)")
    #expect(result.errorText.contains("no connection"), "\(result.errorText)")
    try database.expectPending(1, attempts: 0)
  }

  @Test("A proxy that is away ends the run")
  func deadProxy() throws {
    let folder = try TemporaryFolder()
    let proxy = try Collector(in: folder)
    proxy.stop()
    let database = try UploadDatabase(folder)
    try database.add(1...2)
    try database.upload(
      to: "http://crashes.example/", "--jobs 1", variables: "http_proxy=http://127.0.0.1:\(proxy.port)", status: 75)
    for number in 1...2 { try database.expectPending(number, attempts: 0) }
  }
}
