// SPDX-License-Identifier: Apache-2.0
/// Names of devices that have the name of their owner in them.
enum DeviceNames {
  /// The names of products that people name after themselves, in lowercase.
  private static let products = [
    "iphone", "ipad", "ipod", "macbook", "imac", "mac", "mbp", "watch", "apple", "airpods", "homepod", "laptop", "pc",
    "phone", "computer", "galaxy", "pixel", "vision",
  ].map { Array($0.utf16) }
  /// Owners that are no persons.
  private static let nobody = Unit.set(
    "user", "users", "app", "apps", "apple", "device", "devices", "customer", "owner", "today", "it", "that", "this",
    "host", "system", "process", "let", "there", "what", "here", "parent", "who", "developer")
  /// Words between a product and its owner in languages that name it this way.
  private static let connectors = ["von", "de", "di", "van", "of", "d", "af", "av", "fra"].map { Array($0.utf16) }

  static func mark(_ scan: PersonalScan, _ marks: inout Marks) {
    if scan.place == .symbol { return }
    let text = scan.text
    for index in text.indices {
      switch lowercase(text[index]) {
      case 0x69, 0x6d, 0x77, 0x61, 0x68, 0x6c, 0x70, 0x63, 0x67, 0x76: break
      default: continue
      }
      guard index == 0 || !Unit.isAlphanumeric(text[index - 1]),
        let product = products.first(where: { Unit.has($0, text, index) })
      else { continue }
      let end = index + product.count
      if Unit.isLetter(Unit.at(text, end)), Unit.at(text, end) != 0x73 { continue }
      if let owner = owner(text, before: index) { marks.mark(owner) }
      if let owner = owner(text, behind: end) { marks.mark(owner) }
    }
  }

  /// "Jane Doe's iPhone", "Janes-iPhone", "Jane的iPhone": the range of the name.
  private static func owner(_ text: [UInt16], before product: Int) -> Range<Int>? {
    var end = product
    if Unit.at(text, end - 1) == 0x2d {
      end -= 1
      if let apostrophe = apostrophes.first(where: { ends(text, end, $0 + [0x73]) }) {
        end -= apostrophe.count + 1
        let start = wordStart(text, end)
        return start < end ? start..<end : nil
      }
      // Names of products alone are no names of persons: "Apple-iPhone".
      let start = wordStart(text, end)
      let name = text[start..<end]
      guard name.count >= 3, lowercase(text[end - 1]) == 0x73, !nobody.contains(name.map(lowercase)),
        !products.contains(where: { name.map(lowercase).starts(with: $0) })
      else { return nil }
      return start..<end
    }
    if let genitive = genitives.first(where: { ends(text, end, $0) }) {
      end -= genitive.count
      let start = wordStart(text, end)
      return start < end ? start..<end : nil
    }
    guard Unit.at(text, end - 1) == 0x20 else { return nil }
    end -= 1
    // "Jane's" and "James'", with a straight or a curved apostrophe.
    if lowercase(Unit.at(text, end - 1)) == 0x73 { end -= 1 }
    guard let apostrophe = apostrophes.first(where: { ends(text, end, $0) }) else { return nil }
    end -= apostrophe.count
    var start = wordStart(text, end)
    guard start < end, !nobody.contains(text[start..<end].map(lowercase)) else { return nil }
    // First names.
    while start >= 2, text[start - 1] == 0x20 {
      let first = wordStart(text, start - 1)
      guard first < start - 1, Unit.isCapital(text[first]) || text[first] >= 0x80 else { break }
      start = first
    }
    return start..<end
  }

  /// "iPhone von Jane", "MacBook Pro de Jane Doe": the range of the name.
  private static func owner(_ text: [UInt16], behind product: Int) -> Range<Int>? {
    var index = product
    for word in ["pro", "air", "mini", "max", "plus", "tv", "watch"].map({ Array($0.utf16) })
    where Unit.at(text, index) == 0x20 && Unit.has(word, text, index + 1) {
      index += 1 + word.count
    }
    guard Unit.at(text, index) == 0x20, let connector = connectors.first(where: { Unit.has($0, text, index + 1) })
    else { return nil }
    let start = index + 1 + connector.count + 1
    guard Unit.at(text, start - 1) == 0x20 || Unit.at(text, start - 1) == Unit.apostrophe else { return nil }
    var end = start
    while end < text.count, Unit.isCapital(Unit.at(text, end)) || Unit.at(text, end) >= 0x80 {
      while end < text.count, isName(text[end]) { end += 1 }
      guard Unit.at(text, end) == 0x20, Unit.isCapital(Unit.at(text, end + 1)) else { break }
      end += 1
    }
    return end > start ? start..<end : nil
  }

  private static let apostrophes: [[UInt16]] = [[0x27], [0xe2, 0x80, 0x99], [0x2019]]
  /// The particles of Chinese and Japanese, in UTF-8 and UTF-16.
  private static let genitives: [[UInt16]] = [[0xe7, 0x9a, 0x84], [0x7684], [0xe3, 0x81, 0xae], [0x306e]]

  private static func ends(_ text: [UInt16], _ end: Int, _ suffix: [UInt16]) -> Bool {
    end >= suffix.count && text[end - suffix.count..<end].elementsEqual(suffix)
  }

  private static func wordStart(_ text: [UInt16], _ end: Int) -> Int {
    var start = end
    while start > 0, isName(text[start - 1]) { start -= 1 }
    return start
  }

  private static func isName(_ unit: UInt16) -> Bool {
    Unit.isLetterOrDigit(unit) || unit == Unit.period || unit == 0x2d || unit == 0x5f
  }
}

/// Names of disks in paths.
enum VolumeNames {
  private static let volumes = Array("/volumes/".utf16)
  private static let encodedVolumes = Array("%2fvolumes%2f".utf16)
  private static let media = Array("/media/".utf16)
  /// The disks of the system itself, and the word that Apple's reports have in place of a name.
  private static let known = Unit.set(
    "macintosh hd", "macintosh hd - data", "preboot", "vm", "recovery", "update", "data", "xarts", "iscpreboot",
    "hardware", "volume")

  static func mark(_ text: [UInt16], _ marks: inout Marks) {
    for index in text.indices where text[index] == Unit.slash || text[index] == 0x25 {
      if Unit.has(volumes, text, index) {
        mark(text, index + volumes.count, &marks)
      } else if Unit.has(encodedVolumes, text, index) {
        mark(text, index + encodedVolumes.count, &marks)
      } else if Unit.has(media, text, index), index == 0 || !Unit.isAlphanumeric(text[index - 1]) || isRun(text, index),
        let user = text[(index + media.count)...].firstIndex(where: endsName), text[user] == Unit.slash
      {
        mark(text, user + 1, &marks)
      }
    }
  }

  private static let run = Array("/run".utf16)

  private static func isRun(_ text: [UInt16], _ index: Int) -> Bool { Unit.has(run, text, index - run.count) }

  private static func mark(_ text: [UInt16], _ start: Int, _ marks: inout Marks) {
    let end = text[start...].firstIndex(where: endsName) ?? text.count
    if !known.contains(text[start..<end].map(lowercase)) { marks.mark(start..<end) }
  }

  /// A name may have blanks in it, so only what ends a path ends it: this marks too much rather than too little.
  private static func endsName(_ unit: UInt16) -> Bool {
    switch unit {
    case 0..<0x20, Unit.slash, Unit.quote, 0x25, 0x3a, 0x3b, 0x3c, 0x3e, 0x7c: true
    default: false
    }
  }
}

/// Names of machines in networks.
enum HostNames {
  private static let schemes = Unit.set(
    "http", "https", "ftp", "ftps", "sftp", "ws", "wss", "smb", "afp", "ssh", "nfs", "postgres", "postgresql", "mysql",
    "redis", "rediss", "mongodb", "amqp", "amqps", "mqtt", "mqtts", "ldap", "ldaps", "imap", "smtp", "tcp", "udp",
    "rtsp",
    "git", "vnc", "telnet", "rtmp", "sip", "webdav", "kafka", "jdbc")
  /// Hosts with documentation, which messages refer to, and the machine itself.
  private static let known = Unit.set(
    "localhost", "apple.com", "developer.apple.com", "support.apple.com", "help.apple.com", "swift.org", "llvm.org",
    "www.apple.com", "www.swift.org", "docs.swift.org", "bugs.swift.org")
  /// Endings of names that no identifier of a bundle and no member of a type has.
  private static let endings = Unit.set(
    "com", "org", "net", "edu", "gov", "local", "lan", "internal", "corp", "intranet")
  /// The first parts of identifiers of bundles, and of code.
  private static let reversed = Unit.set(
    "com", "org", "net", "edu", "gov", "io", "de", "co", "me", "app", "dev", "uk", "jp", "fr", "group", "ch", "nl",
    "se", "us",
    "self", "this", "super", "thread", "std")

  static func mark(_ scan: PersonalScan, _ marks: inout Marks) {
    markURLs(scan.text, &marks)
    if scan.place != .symbol { markNames(scan.text, &marks) }
  }

  /// The hosts behind `://`; those of schemes of programs, which need not be hosts, if they have a full stop.
  private static func markURLs(_ text: [UInt16], _ marks: inout Marks) {
    for index in text.indices where text[index] == 0x3a {
      guard index > 0, Unit.at(text, index + 1) == Unit.slash, Unit.at(text, index + 2) == Unit.slash else { continue }
      var scheme = index
      while scheme > 0, Unit.isAlphanumeric(text[scheme - 1]) { scheme -= 1 }
      var start = index + 3
      var end = start
      while end < text.count, !endsAuthority(text[end]) { end += 1 }
      if let at = text[start..<end].lastIndex(of: 0x40) { start = at + 1 }
      if let colon = text[start..<end].firstIndex(of: 0x3a) { end = colon }
      while end > start, text[end - 1] == Unit.period || text[end - 1] == 0x2c || text[end - 1] == 0x29 { end -= 1 }
      let host = text[start..<end]
      let isHost = schemes.contains(text[scheme..<index].map(lowercase)) || host.contains(Unit.period)
      if isHost, isPersonal(host) { marks.mark(start..<end) }
    }
  }

  private static func endsAuthority(_ unit: UInt16) -> Bool {
    switch unit {
    case 0...0x20, Unit.slash, Unit.backslash, 0x3f, 0x23, Unit.quote, Unit.apostrophe, 0x3c, 0x3e, 0x60, 0x5d: true
    default: false
    }
  }

  private static func isPersonal(_ host: ArraySlice<UInt16>) -> Bool {
    let name = host.map(lowercase)
    let isLoopback = name.starts(with: [0x31, 0x32, 0x37, Unit.period]) || name.first == 0x5b
    return !isLoopback && !known.contains(name) && host.contains { Unit.isLetterOrDigit($0) }
  }

  /// Names of two or more parts that end like hosts and do not begin like identifiers of bundles.
  private static func markNames(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      guard isPart(text[index]) || text[index] == Unit.period else {
        index += 1
        continue
      }
      let start = index
      while index < text.count, isPart(text[index]) || text[index] == Unit.period { index += 1 }
      var end = index
      while end > start, text[end - 1] == Unit.period { end -= 1 }
      // The parts of paths and of e-mail addresses are no hosts, and `Cart.local(` is a call.
      let before = Unit.at(text, start - 1)
      let next = Unit.at(text, end)
      if before == Unit.slash || before == 0x40 || before == 0x5f || before == 0x7e
        || before == 0x3a && Unit.at(text, start - 2) == 0x3a
        || next == 0x28 || next == 0x5f || next == Unit.slash
      {
        continue
      }
      if isHost(text[start..<end]) { marks.mark(start..<end) }
    }
  }

  private static func isHost(_ name: ArraySlice<UInt16>) -> Bool {
    let parts = name.split(separator: Unit.period, omittingEmptySubsequences: false)
    guard parts.count >= 2, !parts.contains(where: \.isEmpty), let last = parts.last,
      endings.contains(last.map(lowercase)),
      !reversed.contains(parts[0].map(lowercase)), isPersonal(name)
    else { return false }
    return parts[0].contains { Unit.isLetterOrDigit($0) }
  }

  private static func isPart(_ unit: UInt16) -> Bool { Unit.isLetterOrDigit(unit) || unit == 0x2d }
}
