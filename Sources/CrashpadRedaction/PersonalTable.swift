// SPDX-License-Identifier: Apache-2.0
/// One kind of personal data: how it looks, and what replaces it.
package struct PersonalRow: Sendable {
  package enum Replacement: Sendable {
    /// As many asterisks as the value has bytes.
    case asterisks
    /// In reports a UUID of zeros with a number, the same one for the same value; asterisks in dumps.
    case numberedUUID
    /// A UUID of zeros.
    case zeroUUID
    /// The member is left out.
    case nothing
  }

  /// The form of the data, for the manual.
  package let form: String
  /// The digits that are checked; nil for none.
  package var check: String?
  package var replacement = Replacement.asterisks
  /// Whether `--keep-secrets` keeps it.
  package var isSecret = false
  /// The text has to have all of these.
  var needs: TextTraits = []
  /// The text has to have one of these; empty for any.
  var needsOne: TextTraits = []
  /// The length of the shortest value.
  var minimum = 0
  /// Marks the values that are known by their form; nil if only words tell them.
  var mark: (@Sendable (PersonalScan, inout Marks) -> Void)?

  fileprivate func isPossible(_ traits: TextTraits, _ count: Int) -> Bool {
    count >= minimum && traits.isSuperset(of: needs) && (needsOne.isEmpty || !traits.isDisjoint(with: needsOne))
  }
}

extension PersonalKind {
  /// The row of the kind.
  package var row: PersonalRow {
    switch self {
    case .urls:
      PersonalRow(
        form: "the user, the password and the query values of URLs", isSecret: true,
        mark: { Secrets.markURLs($0.text, &$1) })
    case .passwords:
      PersonalRow(form: "values behind words such as password= or passcode:", isSecret: true)
    case .tokens:
      PersonalRow(
        form: "values behind words such as token=, api_key, secret, Bearer, session id or Cookie:; words of 20 or more "
          + "letters and digits that look random; words with a known beginning such as eyJ or ghp_; private keys; the bytes of "
          + "data that an object prints, such as <740f4707 bebcf74f 9b7c25d4 8e335894>",
        isSecret: true, minimum: 15, mark: { Secrets.markTokens($0, &$1) })
    case .emails:
      PersonalRow(
        form: "e-mail addresses", isSecret: true, needs: [.at, .period], minimum: 6,
        mark: { Secrets.markAddresses($0.text, &$1) })
    case .uuids:
      PersonalRow(
        form: "ids of the form 8-4-4-4-12, such as those of containers, simulators and sessions; not those of images",
        replacement: .numberedUUID, needs: .hyphen, minimum: 36, mark: { DeviceIDs.markUUIDs($0, &$1) })
    case .udids:
      PersonalRow(
        form: "ids of devices: 40 hexadecimal digits, 8-16 of them, or values behind words such as udid or device id",
        needs: .digit, minimum: 24, mark: { DeviceIDs.markUDIDs($0.text, &$1) })
    case .macs:
      PersonalRow(
        form:
          "six pairs of hexadecimal digits with colons or hyphens, three groups of four with full stops, or values behind "
          + "words such as MAC address",
        needsOne: [.colon, .hyphen, .period], minimum: 14, mark: { NetworkAddresses.markMACs($0.text, &$1) })
    case .ips:
      PersonalRow(
        form: "IPv4 and IPv6 addresses, other than those of the machine itself; a version of four numbers stays",
        needs: .digit, needsOne: [.period, .colon], minimum: 4, mark: { NetworkAddresses.markIPs($0, &$1) })
    case .cards:
      PersonalRow(
        form: "numbers of payment cards, alone or in groups", check: "the Luhn digit and the issuer's numbers",
        needs: .longNumber, minimum: 14, mark: { CheckedNumbers.mark($0.text, &$1, CheckedNumbers.isCard) })
    case .imeis:
      PersonalRow(
        form: "numbers of phones: 15 digits, or values behind the word IMEI",
        check: "the Luhn digit and the first two digits", needs: .longNumber, minimum: 15,
        mark: { CheckedNumbers.mark($0.text, &$1, CheckedNumbers.isIMEI) })
    case .iccids:
      PersonalRow(
        form: "numbers of SIM cards: 18 to 20 digits from 89 on, or values behind the word ICCID",
        check: "the Luhn digit", needs: .longNumber, minimum: 18,
        mark: { CheckedNumbers.mark($0.text, &$1, CheckedNumbers.isICCID) })
    case .ibans:
      PersonalRow(
        form: "numbers of bank accounts", check: "the remainder by 97", needs: .digit, minimum: 15,
        mark: { CheckedNumbers.markIBANs($0.text, &$1) })
    case .phones:
      PersonalRow(
        form: "phone numbers that begin with +, or have the American form, or stand behind words such as phone or tel:",
        needs: .digit, minimum: 11, mark: { PhoneNumbers.mark($0.text, &$1) })
    case .serials:
      PersonalRow(
        form: "values behind the words serial number, and words that look like Apple's serial numbers",
        needs: .digit, minimum: 11, mark: { DeviceIDs.markSerials($0.text, &$1) })
    case .locations:
      PersonalRow(
        form: "numbers behind words such as latitude, and pairs of them behind words such as location or coordinate",
        needs: [.digit, .period], minimum: 15, mark: { Coordinates.mark($0.text, &$1) })
    case .devices:
      PersonalRow(
        form: "names in those of devices, such as Jane's iPhone or Janes-MacBook-Pro, and values behind words such as "
          + "device name or SSID", needsOne: [.blank, .hyphen, .foreign], minimum: 7,
        mark: { DeviceNames.mark($0, &$1) })
    case .volumes:
      PersonalRow(
        form: "the names behind /Volumes/ and /media/USER/, other than the system's", needs: .slash, minimum: 8,
        mark: { VolumeNames.mark($0.text, &$1) })
    case .hosts:
      PersonalRow(
        form: "hosts in URLs, behind words such as host=, and names that end in .com, .org, .local and the like; not "
          + "localhost and hosts with documentation", needsOne: [.period, .colon], minimum: 4,
        mark: { HostNames.mark($0, &$1) })
    case .users:
      PersonalRow(form: "user names in paths, wherever they stand, and values behind words such as user=")
    case .incidents:
      PersonalRow(form: "the id of a report of Apple's form", replacement: .zeroUUID)
    case .reporterKeys:
      PersonalRow(form: "the CrashReporter Key, the id of a device in reports of Apple's form", replacement: .nothing)
    }
  }
}

/// The rows that texts are searched by, in their order.
enum PersonalSearch {
  /// URLs come first: the host behind a password is not part of an e-mail address.
  static let steps: [(kind: PersonalKind, row: PersonalRow)] = PersonalKind.allCases.map { ($0, $0.row) }

  /// Marks all findings and replaces them with asterisks, so that later searches and a second redaction see the same.
  ///
  /// Words tell more than forms do; only URLs have an own way to separate words from values.
  static func mark(_ scan: inout PersonalScan, _ kept: Set<PersonalKind>, _ all: inout Marks) {
    let traits = TextTraits(scan.text)
    for (kind, row) in steps {
      if !kept.contains(kind), let mark = row.mark, row.isPossible(traits, scan.text.count) {
        hide(&scan, &all, mark)
      }
      if kind == .urls, traits.contains(.pair), scan.place != .symbol || scan.text.contains(0x3d) {
        hide(&scan, &all) { KeyedValues.mark($0, kept, &$1) }
      }
    }
  }

  private static func hide(_ scan: inout PersonalScan, _ all: inout Marks, _ mark: (PersonalScan, inout Marks) -> Void)
  {
    var found = Marks(count: scan.text.count)
    mark(scan, &found)
    for range in found.ranges {
      all.mark(range)
      for index in range { scan.text[index] = Unit.star }
    }
  }
}
