// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Collectors and proxies of other projects, where they are installed; `make soak` installs them.
@Suite("Servers of other projects")
struct RealServerTests {
  // MARK: Proxies

  enum ProxyKind: String, CaseIterable, Sendable {
    case tinyproxy, squid

    var isInstalled: Bool {
      let helper = "/usr/lib/squid/basic_ncsa_auth"
      return WebServer.find(rawValue) != nil && (self == .tinyproxy || FileManager.default.fileExists(atPath: helper))
    }

    /// Asks for the user `user` with the password `secret`.
    func start(in folder: TemporaryFolder) throws -> Daemon {
      let program = WebServer.find(rawValue) ?? ""
      switch self {
      case .tinyproxy:
        return try Daemon(in: folder) { port in
          """
          printf '%s\\n' 'Port \(port)' 'Listen 127.0.0.1' 'Timeout 60' 'Allow 127.0.0.1' 'BasicAuth user secret' > conf
          exec '\(program)' -d -c conf
          """
        }
      case .squid:
        return try Daemon(in: folder) { port in
          """
          chmod 755 . ..; printf 'user:%s\\n' "$(openssl passwd -apr1 secret)" > users; chmod 644 users
          touch cache.log; chmod 666 cache.log
          cat > conf <<'END'
          http_port 127.0.0.1:\(port)
          pid_filename none
          access_log none
          cache_log \(folder.work.path)/cache.log
          cache deny all
          coredump_dir none
          visible_hostname localhost
          shutdown_lifetime 0 seconds
          auth_param basic program /usr/lib/squid/basic_ncsa_auth \(folder.work.path)/users
          acl known proxy_auth REQUIRED
          http_access allow known
          http_access deny all
          END
          exec '\(program)' -N -f conf
          """
        }
      }
    }

    static var installed: [ProxyKind] { allCases.filter(\.isInstalled) }
  }

  @Test(
    "A proxy that asks for a password: with it reports go through, over TLS with an own CA too; without it none does",
    .enabled(if: !ProxyKind.installed.isEmpty && WebServer.isPossible, "no squid or tinyproxy, or no nginx"),
    .enabled(if: Soak.isOn, "starts servers"), arguments: ProxyKind.installed)
  func proxy(_ kind: ProxyKind) throws {
    let server = try WebServer.shared.get()
    let (folder, collector, database) = try UploadDatabase.withCollector(1...4)
    try database.add(5, content: ReceivedTests.attachment)
    let proxy = try kind.start(in: folder)
    let address = "127.0.0.1:\(proxy.port)"
    for (url, options) in [
      (collector.url(), ""), (server.secureURL(collector), "--ca-file \(server.authority)"),
    ] {
      for login in ["", "user:WRONG@"] {
        let refused = try database.upload(to: url, "--retry-now --proxy 'http://\(login)\(address)' \(options)")
        #expect([1, 75].contains(refused.status), "\(refused.errorText)")
        // tinyproxy answers 401 to a wrong password.
        let isProxys = ["407", "proxy answered 401", "the proxy before it answered 401"].contains {
          refused.errorText.contains($0)
        }
        #expect(isProxys && !refused.errorText.contains("WRONG"), "\(refused.errorText)")
      }
    }
    for number in 1...5 { try database.expectPending(number, attempts: 0) }
    #expect(try collector.events.isEmpty)
    let with = "--retry-now --proxy 'http://user:secret@\(address)'"
    try database.upload(to: collector.url(), "\(with) --report \(UploadDatabase.id(1))", status: 0)
    try database.upload(
      to: server.secureURL(collector), "\(with) --ca-file \(server.authority) --report \(UploadDatabase.id(2))",
      status: 0)
    try database.upload(to: collector.url(), with, status: 0)
    #expect(try collector.requests.count == 5)
    let large = try #require(try collector.requests.first { $0.report == UploadDatabase.id(5) })
    let part = try #require(large.parts.first { $0.name == "upload_file_minidump" })
    #expect(try collector.bytes(of: part, large) == ReceivedTests.attachment)
  }

  // MARK: Collectors

  private static let python: String? = {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let place = sources.appending(path: ".build/collectors/bin").standardizedFileURL.path
    return FileManager.default.isExecutableFile(atPath: "\(place)/gunicorn") ? place : nil
  }()
  private static let antenna = ProcessInfo.processInfo.environment["ANTENNA"]

  /// Reports of two minidumps, one with an attachment.
  private func database(_ folder: TemporaryFolder) throws -> UploadDatabase {
    let database = try UploadDatabase(folder)
    for number in 1...2 {
      try folder.write(SynthDump(SynthParameters.tiny(seed: UInt64(number))).bytes, to: "\(number).idump")
      let attachment = number == 1 ? "--attachment log=1.idump" : ""
      let made = try Tool.shell(
        """
        crashpadctl convert \(number).idump -o \(number).dmp --annotation product=app --annotation version=1 &&
        crashpadctl database import -d db \(number).dmp \(attachment)
        """, in: folder)
      try #require(made.status == 0, "\(made.errorText)")
    }
    return database
  }

  @Test(
    "Socorro's Antenna keeps each report with its attachment, and what it discards is given up",
    .enabled(if: antenna != nil && python != nil, "$ANTENNA is not set, or scripts/dependencies collectors did not run")
  )
  func antennaKeeps() throws {
    let (antenna, python) = (Self.antenna ?? "", Self.python ?? "")
    let folder = try TemporaryFolder()
    let database = try database(folder)
    func start(_ rules: String, _ products: String) throws -> Daemon {
      try Daemon(in: folder) { port in
        """
        export LOCAL_DEV_ENV=True CRASHMOVER_CRASHSTORAGE_CLASS=antenna.ext.fs.crashstorage.FSCrashStorage
        export CRASHMOVER_CRASHSTORAGE_FS_ROOT=$PWD/store BREAKPAD_THROTTLER_RULES=antenna.throttler.\(rules)
        export CRASHMOVER_CRASHPUBLISH_CLASS=antenna.ext.crashpublish_base.NoOpCrashPublish
        export BREAKPAD_THROTTLER_PRODUCTS=antenna.throttler.\(products)
        exec '\(python)/gunicorn' --chdir '\(antenna)' --bind 127.0.0.1:\(port) antenna.wsgi:application
        """
      }
    }
    func upload(_ port: Int) throws -> Tool.Outcome {
      try database.upload(to: nil, "--to breakpad=http://127.0.0.1:\(port)/submit --verbose", now: nil)
    }
    do {
      let server = try start("ACCEPT_ALL", "ALL_PRODUCTS")
      let result = try upload(server.port)
      #expect(result.status == 0 && result.errorText.contains("CrashID=bp-"), "\(result.errorText)")
    }
    let kept = try Tool.shell(
      """
      ls store/*/upload_file_minidump | wc -l; ls store/*/log | wc -l; cmp store/*/log/* 1.idump && echo same
      cat store/*/upload_file_minidump/* | wc -c; cat db/completed/*.dmp | wc -c
      """, in: folder)
    let lines = kept.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.prefix(3) == ["2", "1", "same"], "\(kept.text) \(kept.errorText)")
    #expect(Set(lines.dropFirst(3)).count == 1, "\(kept.text)")
    _ = try Tool.shell("crashpadctl database import -d db 2.dmp", in: folder)
    // The dump has no annotation, without which Antenna takes no report.
    let bare = try Tool.shell("crashpadctl database import -d db 2.idump", in: folder)
    #expect(bare.status == 0, "\(bare.errorText)")
    let server = try start("MOZILLA_RULES", "MOZILLA_PRODUCTS")
    let result = try upload(server.port)
    #expect(result.status == 1 && result.errorText.contains("discarded it: rule_"), "\(result.errorText)")
    #expect(result.errorText.contains("discarded it: malformed_"), "\(result.errorText)")
  }

  @Test(
    "Bugsink, which takes minidumps as Sentry does, makes an event of each report",
    .enabled(if: Soak.isOn && python != nil, "scripts/dependencies collectors did not run, or no soak"))
  func bugsink() throws {
    let python = Self.python ?? ""
    let folder = try TemporaryFolder()
    let database = try database(folder)
    let manage = "'\(python)/bugsink-manage'"
    let variables = "export DJANGO_SETTINGS_MODULE=bugsink_conf PYTHONPATH=$PWD"
    let made = try Tool.shell(
      """
      \(variables); '\(python)/bugsink-create-conf' --template=singleserver --host=127.0.0.1 --base-dir=$PWD || exit
      sed -i 's/^BUGSINK = {/BUGSINK = {"FEATURE_MINIDUMPS": True,/; s/"TASK_ALWAYS_EAGER": [A-Za-z]*/"TASK_ALWAYS_EAGER": True/' bugsink_conf.py
      \(manage) migrate && \(manage) migrate --database=snappea || exit
      \(manage) shell -c 'from projects.models import Project; from teams.models import Team; p = Project.objects.create(
      name="p", team=Team.objects.create(name="t")); print("KEY", p.sentry_key, p.id)'
      """, in: folder)
    let words = try #require(made.text.split(separator: "\n").last { $0.hasPrefix("KEY ") }, "\(made.errorText)")
      .split(separator: " ")
    let server = try Daemon(in: folder) { port in
      "\(variables); exec '\(python)/gunicorn' --bind 127.0.0.1:\(port) bugsink.wsgi"
    }
    let result = try database.upload(
      to: nil, "--to sentry=http://\(words[1])@127.0.0.1:\(server.port)/\(words[2]) --verbose", now: nil, status: 0)
    #expect(result.errorText.components(separatedBy: "uploaded as {\"id\"").count == 3, "\(result.errorText)")
    let events = try Tool.shell(
      "\(variables); \(manage) shell -c 'from events.models import Event; print(\"EVENTS\", Event.objects.count())'",
      in: folder)
    #expect(events.text.contains("EVENTS 2"), "\(events.text) \(events.errorText)")
    let wrong = try Tool.shell("crashpadctl database import -d db 1.dmp", in: folder)
    #expect(wrong.status == 0)
    let refused = try database.upload(
      to: nil, "--to sentry=http://00000000000000000000000000000000@127.0.0.1:\(server.port)/\(words[2])", now: nil)
    #expect(refused.status == 1, "\(refused.errorText)")
    #expect(try folder.names(in: "db/pending").contains { $0.hasSuffix(".dmp") })
  }
}
