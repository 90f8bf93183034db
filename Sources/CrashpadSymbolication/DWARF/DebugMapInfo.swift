// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

/// The debug information of a program in the object files of which it was linked. An object is used if its time is that which the
/// linker wrote. Not thread-safe.
final class DebugMapInfo {
  /// An object file that is used.
  private struct Object {
    let info: DwarfInfo
    let addresses: [String: UInt64?]
  }

  private let map: MachODebugMap
  private let places: DebugPlaces
  /// By number; nil if an object can't be used.
  private var objects: [Int: Object?] = [:]
  private var ownFindings = FindingList()

  /// Nil if the program names no object files.
  init?(_ file: MachOFile, _ places: DebugPlaces) {
    guard let map = MachODebugMap(file) else { return nil }
    (self.map, self.places) = (map, places)
  }

  /// Findings so far.
  var findings: FindingList {
    var all = ownFindings
    for object in objects.values { if let object { all.append(contentsOf: object.info.findings) } }
    return all
  }

  /// The place of an address of the program in an object file.
  private struct Place {
    let info: DwarfInfo
    let address: UInt64
    /// The address in the program of the object's address 0.
    let base: UInt64
    /// The start of the function in the object.
    let start: UInt64
  }

  private func place(_ address: UInt64) -> Place? {
    guard let function = map.function(containing: address), let object = object(function.object),
      let name = map.name(function), let own = object.addresses[name] ?? nil
    else { return nil }
    return Place(
      info: object.info, address: own &+ (address - function.address), base: function.address &- own, start: own)
  }

  /// The symbol at an address of the program.
  func lookup(_ address: UInt64) -> SymbolizedAddress? {
    guard let place = place(address), let found = place.info.lookup(place.address, { _ in nil }) else { return nil }
    // Behind the end of a function are bytes that align the next one: the last line of the object does not end before them.
    if found.frames.last?.function == nil, place.info.functionAddress(place.start) != nil { return nil }
    return found.relative(to: 0 &- place.base)
  }

  /// The functions through which the call led that returns to an address.
  func callPath(returningTo address: UInt64, to callee: String?, at end: UInt64?) -> [CalledFunction] {
    guard let place = place(address &- 1) else { return [] }
    // Another object has entries of its own.
    let inside = end.flatMap { self.place($0) }.flatMap { $0.info === place.info ? $0.address : nil }
    return place.info.callPath(returningTo: place.address &+ 1, to: callee, at: inside) { _ in nil }
  }

  /// The start of the function that contains an address.
  func functionAddress(_ address: UInt64) -> UInt64? { map.function(containing: address)?.address }

  // MARK: Objects

  private func object(_ number: Int) -> Object? {
    if let known = objects[number] { return known }
    let object = open(map.objects[number])
    objects[number] = .some(object)
    return object
  }

  private func open(_ entry: MachODebugMap.Object) -> Object? {
    let (path, member) = Self.parts(entry.path)
    var rule = MachORules.missingObject
    for place in candidates(path) {
      switch find(place, member, entry) {
      case .found(let file):
        guard let info = file.dwarf.flatMap({ DwarfInfo($0) }) else { return nil }
        if entry.time == 0 { say(MachORules.unverifiedObject, entry) }
        return Object(info: info, addresses: file.addressesByName())
      case .other: rule = MachORules.otherObject
      case .unreadable: rule = MachORules.unreadableObject
      case .absent: break
      }
    }
    say(rule, entry)
    return nil
  }

  private func say(_ rule: Rule, _ entry: MachODebugMap.Object) {
    ownFindings.append(Finding(rule, path: entry.path))
  }

  /// The path of an archive and the name of a member of it; of another path, the path.
  private static func parts(_ path: String) -> (path: FilePath, member: String?) {
    guard path.hasSuffix(")"), let start = path.lastIndex(of: "("), start != path.startIndex else {
      return (FilePath(argument: path), nil)
    }
    return (FilePath(argument: String(path[..<start])), String(path[path.index(after: start)...].dropLast()))
  }

  /// The path when the program was linked, and that in given folders.
  private func candidates(_ path: FilePath) -> [FilePath] {
    var paths = [path]
    for place in places.named {
      paths.append(place.pushing(FilePath(root: nil, path.components)))
      if let name = path.lastComponent { paths.append(place.appending(name)) }
    }
    return paths
  }

  private enum Outcome {
    case found(MachOFile)
    /// Its time is another.
    case other
    case absent
    case unreadable
  }

  private func find(_ path: FilePath, _ member: String?, _ entry: MachODebugMap.Object) -> Outcome {
    do {
      let status = try FileStatus(at: path, followingLink: true)
      let input = try places.inputs.open(path)
      guard let member else {
        guard entry.time == 0 || entry.time == UInt64(bitPattern: status.modified) else { return .other }
        return checked(try MachOFile(input), entry)
      }
      return archived(member, input, entry)
    } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
      return .absent
    } catch {
      return .unreadable
    }
  }

  private func archived(_ name: String, _ input: InputFile, _ entry: MachODebugMap.Object) -> Outcome {
    guard let archive = input.withBytes({ StaticArchive($0) }) else { return .unreadable }
    let named = archive.members.filter { $0.name == name }
    if named.isEmpty { return .absent }
    for member in named where entry.time == 0 || entry.time == member.time {
      if let file = try? MachOFile(input, in: member.range), case .found = checked(file, entry) { return .found(file) }
    }
    return .other
  }

  /// An object without one of the functions that came from it is another.
  private func checked(_ file: MachOFile, _ entry: MachODebugMap.Object) -> Outcome {
    let addresses = file.addressesByName()
    let isWhole = entry.functions.allSatisfy { number in
      map.name(map.functions[number]).map { addresses[$0] != nil } ?? false
    }
    return isWhole && file.kind == .object ? .found(file) : .other
  }
}
