// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON

/// A form with changes, from a file: `crashpadctl-mapping/1`. Places in an event are JSON pointers (RFC 6901).
package struct MappingFile: Sendable {
  package static let schema = "crashpadctl-mapping/1"

  let base: EventMapping
  /// New names of events; nil for an event that is not written.
  private let events: [String: String?]
  private let renames: [(from: [String], to: String)]
  private let constants: [(place: [String], value: EventValue)]
  private let drops: [[String]]

  /// Why a text is no mapping.
  package struct NotAMapping: Error, Sendable, Hashable {
    package let reason: String
    /// In bytes; nil where the text ends too early.
    package let offset: Int?
  }

  package init(_ text: RawSpan) throws(NotAMapping) {
    let tree = JSONTree(text)
    if let failure = tree.failure { throw NotAMapping(reason: "is not JSON", offset: failure.offset) }
    guard let root = tree.root, root.kind == .object, root["schema"]?.string == Self.schema else {
      throw NotAMapping(reason: "is no mapping: \"schema\" has to be \"\(Self.schema)\"", offset: nil)
    }
    for member in root.members where !["schema", "base", "events", "rename", "constants", "drop"].contains(member.key) {
      throw NotAMapping(reason: "has an unknown member \"\(member.key)\"", offset: member.value.offset)
    }
    let base = root["base"]
    guard let mapping = EventMapping(rawValue: base?.string ?? "seed"), mapping != .otel else {
      let reason = "\"base\" has to be seed, sensors, ecs or sentry-session"
      throw NotAMapping(reason: reason, offset: base?.offset)
    }
    self.base = mapping
    events = try Self.events(root["events"], mapping)
    renames = try Self.members(root["rename"], "rename").map { key, value throws(NotAMapping) in
      guard let name = value.string, !name.isEmpty else {
        throw NotAMapping(reason: "\"rename\" needs a new name for \"\(key)\"", offset: value.offset)
      }
      return (try Self.pointer(key, value), name)
    }
    constants = try Self.members(root["constants"], "constants").map { key, value throws(NotAMapping) in
      (try Self.pointer(key, value), try Self.constant(value))
    }
    var drops: [[String]] = []
    if let list = root["drop"] {
      guard list.kind == .array else { throw NotAMapping(reason: "\"drop\" has to be an array", offset: list.offset) }
      for element in list.elements { drops.append(try Self.pointer(element.string ?? "", element)) }
    }
    self.drops = drops
  }

  // MARK: Reading

  private static func members(_ value: JSONValue?, _ name: String) throws(NotAMapping) -> [(
    key: String, value: JSONValue
  )] {
    guard let value else { return [] }
    guard value.kind == .object else {
      throw NotAMapping(reason: "\"\(name)\" has to be an object", offset: value.offset)
    }
    return value.members
  }

  private static func events(_ value: JSONValue?, _ base: EventMapping) throws(NotAMapping) -> [String: String?] {
    var events: [String: String?] = [:]
    for (key, value) in try members(value, "events") {
      guard base.namePointer != nil else {
        throw NotAMapping(reason: "events of \(base.rawValue) have no names", offset: value.offset)
      }
      guard value.kind == .null || value.string?.isEmpty == false else {
        throw NotAMapping(reason: "\"events\" needs a name or null for \"\(key)\"", offset: value.offset)
      }
      events.updateValue(value.string, forKey: key)
    }
    return events
  }

  private static func pointer(_ text: String, _ value: JSONValue) throws(NotAMapping) -> [String] {
    guard text.hasPrefix("/"), text.utf8.count > 1 else {
      let reason = "\"\(text)\" is no place in an event; one looks like /properties/$model"
      throw NotAMapping(reason: reason, offset: value.offset)
    }
    return text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
      String($0).replacing("~1", with: "/").replacing("~0", with: "~")
    }
  }

  private static func constant(_ value: JSONValue) throws(NotAMapping) -> EventValue {
    switch value.kind {
    case .string: return .text(value.string ?? "")
    case .bool: return .bool(value.bool ?? false)
    case .number: if let integer = value.int64 { return .integer(integer) }
    case .object, .array, .null: break
    }
    throw NotAMapping(reason: "\"constants\" are texts, whole numbers, true or false", offset: value.offset)
  }

  // MARK: Applying

  package func values(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> [EventValue] {
    let values = base.values(event, reporter)
    // The first two lines of an envelope are its frame.
    guard base != .sentrySession else { return values.prefix(2) + values.dropFirst(2).compactMap(changed) }
    return values.compactMap(changed)
  }

  private func changed(_ value: EventValue) -> EventValue? {
    var value = value
    if let place = base.namePointer, case .text(let name)? = value[place], let new = events[name] {
      guard let new else { return nil }
      value.set(.text(new), at: place[...])
    }
    for place in drops { value.remove(place[...]) }
    for (place, name) in renames { value.rename(place[...], to: name) }
    for (place, constant) in constants { value.set(constant, at: place[...]) }
    return value
  }
}

extension EventValue {
  fileprivate subscript(place: [String]) -> EventValue? {
    var value = self
    for name in place {
      guard case .object(let members) = value, let member = members.first(where: { $0.name == name }) else {
        return nil
      }
      value = member.value
    }
    return value
  }

  /// Objects on the way are made where they are missing.
  fileprivate mutating func set(_ value: EventValue, at place: ArraySlice<String>) {
    guard let name = place.first else {
      self = value
      return
    }
    var members: [EventMember] = []
    if case .object(let known) = self { members = known }
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index].value.set(value, at: place.dropFirst())
    } else {
      var new = EventMember(name, .object([]))
      new.value.set(value, at: place.dropFirst())
      members.append(new)
    }
    self = .object(members)
  }

  fileprivate mutating func remove(_ place: ArraySlice<String>) {
    change(place) { members, index in members.remove(at: index) }
  }

  fileprivate mutating func rename(_ place: ArraySlice<String>, to name: String) {
    change(place) { members, index in
      var changed = members.remove(at: index)
      changed.name = name
      // Not every reader takes two members of one name.
      members.removeAll { $0.name == name }
      members.insert(changed, at: min(index, members.count))
    }
  }

  private mutating func change(_ place: ArraySlice<String>, _ body: (inout [EventMember], Int) -> Void) {
    guard let name = place.first, case .object(var members) = self,
      let index = members.firstIndex(where: { $0.name == name })
    else { return }
    if place.count == 1 { body(&members, index) } else { members[index].value.change(place.dropFirst(), body) }
    self = .object(members)
  }
}
