// SPDX-License-Identifier: Apache-2.0
package import CrashpadJSON

/// A JSON value whose members keep their order.
package indirect enum EventValue: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  /// A number of thousandths, written with as many decimals as it needs.
  case thousandths(Int64)
  case bool(Bool)
  case array([EventValue])
  case object([EventMember])
}

package struct EventMember: Sendable, Hashable {
  package var name: String
  package var value: EventValue

  package init(_ name: String, _ value: EventValue) {
    self.name = name
    self.value = value
  }

  /// Nil without a text, so that a list of members leaves out what is not known.
  package init?(_ name: String, _ text: String?) {
    guard let text else { return nil }
    self.init(name, .text(text))
  }

  package init?(_ name: String, _ integer: Int64?) {
    guard let integer else { return nil }
    self.init(name, .integer(integer))
  }

  package init?(_ name: String, thousandths: Int64?) {
    guard let thousandths else { return nil }
    self.init(name, .thousandths(thousandths))
  }

  /// Nil without members.
  package init?(_ name: String, _ members: [EventMember?]) {
    let members = members.compactMap(\.self)
    if members.isEmpty { return nil }
    self.init(name, .object(members))
  }
}

extension EventValue {
  /// An object of the members that are known.
  static func members(_ members: [EventMember?]) -> EventValue { .object(members.compactMap(\.self)) }

  package func write(to json: inout JSONWriter) {
    switch self {
    case .text(let text): json.string(text)
    case .integer(let value): json.number(value)
    case .thousandths(let value): json.number(thousandths: value)
    case .bool(let value): json.bool(value)
    case .array(let elements): json.array { json in for element in elements { element.write(to: &json) } }
    case .object(let members):
      json.object { json in
        for member in members {
          json.key(member.name)
          member.value.write(to: &json)
        }
      }
    }
  }

  /// One line of JSON with its line feed.
  package var line: [UInt8] { JSONWriter.bytes(.compact, write) }
}
