import BinaryFormat
import CrashpadCore
import FileSystem
import Snapshot

/// What the texts of a Linux process tell of its system, and how it was captured.
extension InspectionView {
  /// "Debian GNU/Linux 12 (bookworm)", of os-release or lsb-release.
  var distribution: String? {
    guard snapshot.system.operatingSystem == .linux else { return nil }
    return value(of: ["PRETTY_NAME", "DISTRIB_DESCRIPTION"], in: snapshot.linux?.release, separator: "=").map { value in
      // Values are quoted where they have spaces.
      for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
        return String(value.dropFirst().dropLast())
      }
      return value
    }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// "Intel(R) Xeon(R) Processor @ 2.60GHz", of /proc/cpuinfo.
  var cpuModel: String? { value(of: ["model name"], in: snapshot.linux?.cpuInfo, separator: ":") }

  /// "6.1.55-18-amd64 #1 SMP … x86_64": uname(1) without the system's name. Nil if the build is something else.
  var kernel: String? {
    guard snapshot.system.operatingSystem == .linux, let build = text(snapshot.system.osBuild),
      build.hasPrefix("Linux ")
    else { return nil }
    return String(build.dropFirst("Linux ".count))
  }

  /// The executable's path, of Linux.
  var executablePath: String? {
    guard snapshot.system.operatingSystem == .linux else { return nil }
    return snapshot.modules.first { $0.fileType == .executable }.flatMap { text($0.name) }
  }

  /// What stands behind one of these names in the first kilobytes of a text with a name in each line.
  private func value(of names: [String], in content: Content?, separator: Character) -> String? {
    guard let content else { return nil }
    let text = input.withBytes { snapshot.text(content.prefix(min(content.count, 8192)), in: $0) }
    for line in text.split(separator: "\n") {
      guard let end = line.firstIndex(of: separator) else { continue }
      let name = line[..<end].filter { $0 != "\t" }
      guard names.contains(String(name)) else { continue }
      let value = line[line.index(after: end)...].drop { $0 == " " || $0 == "\t" }
      return value.isEmpty ? nil : Wording.printable(String(value))
    }
    return nil
  }

  // MARK: How it was captured

  /// Names of annotations that the interpretation of a Linux process' dump makes.
  private static let captureDurationName = "crashpad_capture_ns"
  private static let captureNotesName = "crashpad_capture_notes"

  private func annotation(_ name: String) -> String? {
    guard snapshot.system.operatingSystem == .linux else { return nil }
    return snapshot.annotations.first { text($0.name) == name }.map { annotation in
      input.withBytes { snapshot.text(annotation.value, in: $0) }
    }
  }

  /// From the signal to the end of the capture, in nanoseconds.
  var captureDuration: UInt64? { annotation(Self.captureDurationName).flatMap { UInt64($0) } }

  /// What the handler could not capture.
  var captureNotes: [String] {
    annotation(Self.captureNotesName)?.split(separator: "\n").map { Wording.printable(String($0)) } ?? []
  }

  /// Whether an annotation is shown as something else.
  func isOfCapture(_ annotation: Annotation) -> Bool {
    snapshot.system.operatingSystem == .linux
      && [Self.captureDurationName, Self.captureNotesName].contains(text(annotation.name))
  }

  /// "signal", "ptrace": how a thread's registers were got.
  static func name(of capture: ThreadSnapshot.Capture) -> String {
    switch capture {
    case .own: "own"
    case .signal: "signal"
    case .ptrace: "ptrace"
    case .proc: "proc"
    case .notStopped: "not-stopped"
    }
  }

  /// Whether there is a thread whose registers were not got in the usual way, from a signal.
  var hasUnusualCaptures: Bool {
    snapshot.threads.contains { [.ptrace, .proc, .notStopped].contains($0.capture) }
  }
}
