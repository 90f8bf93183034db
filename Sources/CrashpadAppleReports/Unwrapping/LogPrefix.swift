// SPDX-License-Identifier: Apache-2.0
/// The text that one kind of log writes before each message.
struct LogPrefix: Sendable {
  /// With an article: "a time stamp".
  let name: String
  /// Whether several programs write into the log, which the text before the message tells apart.
  let hasOwner: Bool
  private let scan: @Sendable (inout PrefixScanner) -> Bool

  /// The number of bytes before the message; nil if the line does not begin so.
  func length(_ line: TextBytes) -> Int? {
    var scanner = PrefixScanner(line.prefix(512).drop { TextBytes.isBlank($0) })
    guard scan(&scanner) else { return nil }
    return scanner.rest.startIndex - line.startIndex
  }

  /// The text without what differs from line to line: digits, and numbers in hexadecimal.
  static func owner(_ text: TextBytes) -> [UInt8] {
    var owner: [UInt8] = []
    var scanner = PrefixScanner(text)
    // The month may end between two lines.
    var rest = scanner.monthAndDay() ? scanner.rest : text
    while let byte = rest.popFirst() {
      if byte.isDigit {
        if rest.first == UInt8(ascii: "x") {
          rest.removeFirst()
          rest = rest.drop { TextBytes([$0])[...].hexadecimal != nil }
        }
        rest = rest.drop { $0.isDigit }
        owner.append(UInt8(ascii: "0"))
      } else if TextBytes.isBlank(byte) {
        if owner.last != 0x20 { owner.append(0x20) }
      } else {
        owner.append(byte)
      }
    }
    if owner.last == 0x20 { owner.removeLast() }
    return owner
  }

  private static func row(
    _ name: String, owner: Bool = true, _ scan: @escaping @Sendable (inout PrefixScanner) -> Bool
  ) -> LogPrefix {
    LogPrefix(name: name, hasOwner: owner, scan: scan)
  }

  /// More specific ones first: the first of those that fit most lines is taken.
  static let all: [LogPrefix] = [
    // gh run view --log: the job, the step and the time.
    row("the columns of a job's log", owner: false) {
      $0.column() && $0.column() && $0.stamp("T") && $0.blank()
    },
    // GitLab: the time, the number of the stream, and a sign for continued lines.
    row("a time stamp of GitLab", owner: false) {
      $0.stamp("T") && $0.blank() && $0.digits(2) && $0.one(of: "OE") && $0.one(of: " +")
    },
    // journalctl -o short-iso, and syslog with RFC 3339 time stamps.
    row("a time stamp of syslog") {
      $0.stamp("T") && $0.blank() && $0.word() && $0.blank() && $0.tag() && $0.blank()
    },
    // RFC 5424.
    row("a head of syslog") {
      $0.skip("<") && $0.number() && $0.skip(">") && $0.number() && $0.blank() && $0.stamp("T") && $0.blank()
        && $0.word()
        && $0.blank() && $0.word() && $0.blank() && $0.word() && $0.blank() && $0.word() && $0.blank() && $0.skip("-")
        && $0.blank()
    },
    // RFC 3164, journalctl, and the device's console.
    row("a time stamp of syslog") {
      $0.monthAndDay() && $0.blanks() && $0.clock() && $0.blank() && $0.word() && $0.blank() && $0.tag()
        && $0.level() && $0.blank()
    },
    // GitHub Actions, Azure Pipelines.
    row("a time stamp", owner: false) { $0.stamp("T") && $0.blank() },
    row("a time stamp in brackets", owner: false) {
      $0.skip("[") && ($0.stamp("T") || $0.stamp(" ") || $0.clock()) && $0.skip("]") && $0.teamCity() && $0.blank()
    },
    // log show, in its default, syslog and compact styles.
    row("the columns of log show") {
      $0.stamp(" ") && $0.blanks() && $0.hexadecimal() && $0.blanks() && $0.word() && $0.blanks() && $0.hexadecimal()
        && $0.blanks() && $0.number() && $0.blanks() && $0.number() && $0.blanks() && $0.process() && $0.sender()
    },
    row("the columns of log show") {
      $0.stamp(" ") && $0.blanks() && $0.letters(1...2) && $0.blanks() && $0.bracketedProcess() && $0.blank()
        && $0.sender()
    },
    row("the columns of log show") {
      $0.stamp(" ") && $0.blanks() && $0.word() && $0.blank() && $0.tag() && $0.blank() && $0.parenthesis()
    },
    // NSLog and os_log in the console of Xcode.
    row("a head of NSLog") {
      $0.stamp(" ") && $0.blank() && $0.bracketedProcess() && $0.blank() && $0.category()
    },
    // logcat: threadtime, time, brief and Android Studio.
    row("a head of logcat") {
      $0.monthDayDigits() && $0.blank() && $0.clock() && $0.blanks() && $0.number() && $0.blanks() && $0.number()
        && $0.blank() && $0.one(of: "VDIWEFA") && $0.blank() && $0.logcatTag()
    },
    row("a head of logcat") {
      ($0.monthDayDigits() && $0.blank() && $0.clock() && $0.blank() || true) && $0.one(of: "VDIWEFA") && $0.skip("/")
        && $0.briefTag()
    },
    row("a head of logcat") {
      $0.stamp(" ") && $0.blanks() && $0.number() && $0.skip("-") && $0.number() && $0.blanks() && $0.word()
        && $0.blanks()
        && $0.word() && $0.blanks() && $0.one(of: "VDIWEFA") && $0.blanks(2)
    },
    // Console: the type, the time, the process and the message.
    row("the columns of Console") {
      $0.letters(4...10) && $0.tab() && $0.clock() && $0.zone() && $0.tab() && $0.lastColumn()
    },
    // Loggers of servers: the time, the level, the name.
    row("a time stamp and a level") {
      $0.stamp(" ") && $0.blank() && $0.levelWord() && $0.optionalColon() && $0.blank()
    },
    row("a time stamp", owner: false) { $0.stamp(" ") && $0.blank() },
    row("the time", owner: false) { $0.clock() && $0.jenkinsBlanks() },
    // Docker Compose, and other programs that name the service.
    row("the name of a service") { $0.service() && $0.blanks() && $0.skip("|") && $0.blank() },
  ]
}
