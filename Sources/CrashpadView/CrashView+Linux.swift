// SPDX-License-Identifier: Apache-2.0
internal import CrashpadCore
internal import CrashpadFiles
package import CrashpadSnapshot
internal import CrashpadText

/// Facts from the system texts of a Linux process, and about its capture.
extension CrashView {
  /// Such as "Debian GNU/Linux 12 (bookworm)", from os-release or lsb-release.
  package var distribution: String? {
    guard snapshot.system.operatingSystem == .linux else { return nil }
    return value(of: ["PRETTY_NAME", "DISTRIB_DESCRIPTION"], in: snapshot.linux?.release, separator: "=")
      .map(Self.unquoted).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Values with spaces are quoted.
  static func unquoted(_ value: String) -> String {
    for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
      return String(value.dropFirst().dropLast())
    }
    return value
  }

  /// Such as "Intel(R) Xeon(R) Processor @ 2.60GHz", from /proc/cpuinfo.
  package var cpuModel: String? { value(of: ["model name"], in: snapshot.linux?.cpuInfo, separator: ":") }

  /// Such as "6.1.55-18-amd64 #1 SMP … x86_64": uname(1) without the system's name. Nil
  /// if the build has another form.
  package var kernel: String? {
    guard snapshot.system.operatingSystem == .linux, let build = line(snapshot.system.osBuild),
      build.hasPrefix("Linux ")
    else { return nil }
    return String(build.dropFirst("Linux ".count))
  }

  /// The value for one of these names in the first 8 KiB of a text with one name per line.
  func value(of names: [String], in content: SnapshotBytes?, separator: Character) -> String? {
    guard let content else { return nil }
    let text = dump.file.withBytes { snapshot.text(content.prefix(min(content.count, 8192)), in: $0) }
    for line in text.split(separator: "\n") {
      guard let end = line.firstIndex(of: separator) else { continue }
      let name = line[..<end].filter { $0 != "\t" }
      guard names.contains(String(name)) else { continue }
      let value = line[line.index(after: end)...].drop { $0 == " " || $0 == "\t" }
      return value.isEmpty ? nil : TextFormat.printable(String(value))
    }
    return nil
  }

  /// A file of the process or of its system, as the dump has it.
  package struct LinuxFile: Sendable {
    package let name: String
    /// Bytes.
    package let count: Int
  }

  package var linuxFiles: [LinuxFile] {
    guard let linux = snapshot.linux else { return [] }
    let files = [
      ("/proc/cpuinfo", linux.cpuInfo), ("/proc/self/status", linux.processStatus), ("/etc/os-release", linux.release),
      ("/proc/self/cmdline", linux.commandLine), ("/proc/self/environ", linux.environment),
      ("/proc/self/auxv", linux.auxiliaryVector), ("/proc/self/maps", linux.maps),
      ("/proc/self/limits", linux.limits),
    ]
    return files.compactMap { name, content in content.map { LinuxFile(name: name, count: $0.count) } }
  }

  // MARK: How it was captured

  /// The names of the annotations that are created when the dump of a Linux process is interpreted.
  private static let captureDurationName = "crashpad_capture_ns"
  private static let captureNotesName = "crashpad_capture_notes"

  private func annotation(_ name: String) -> String? {
    guard snapshot.system.operatingSystem == .linux else { return nil }
    return snapshot.annotations.first { line($0.name) == name }.map { annotation in
      dump.file.withBytes { snapshot.text(annotation.value, in: $0) }
    }
  }

  /// The time from the signal to the end of the capture, in nanoseconds.
  package var captureDuration: UInt64? { annotation(Self.captureDurationName).flatMap { UInt64($0) } }

  /// The handler's notes on data that it could not capture.
  package var captureNotes: [String] {
    annotation(Self.captureNotesName)?.split(separator: "\n").map { TextFormat.printable(String($0)) } ?? []
  }

  /// Whether an annotation is displayed elsewhere, as capture data.
  func isOfCapture(_ annotation: Annotation) -> Bool {
    snapshot.system.operatingSystem == .linux
      && [Self.captureDurationName, Self.captureNotesName, Annotation.raisedAgain].contains(line(annotation.name))
  }

  /// The name of a capture method, such as "signal" or "ptrace".
  package static func name(of capture: ThreadSnapshot.Capture) -> String {
    switch capture {
    case .own: "own"
    case .signal: "signal"
    case .ptrace: "ptrace"
    case .proc: "proc"
    case .notStopped: "not-stopped"
    }
  }

  /// Whether the registers of any thread were captured in another way than by a signal.
  package var hasUnusualCaptures: Bool {
    snapshot.threads.contains { [.ptrace, .proc, .notStopped].contains($0.capture) }
  }
}
