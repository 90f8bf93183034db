// SPDX-License-Identifier: Apache-2.0
/// The kinds of personal data that are looked for in texts. The raw values are those of `--keep`.
public enum PersonalKind: String, Sendable, CaseIterable {
  case urls
  case emails
  case passwords
  case tokens
  case uuids
  case udids
  case macs
  case ips
  case cards
  case imeis
  case iccids
  case ibans
  case phones
  case serials
  case locations
  case devices
  case volumes
  case hosts
  case users
  case incidents
  case reporterKeys = "reporter-keys"
}
