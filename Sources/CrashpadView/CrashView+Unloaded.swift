// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText

/// The modules that had been unloaded before the crash, and the addresses that point into them.
extension CrashView {
  package struct UnloadedModule: Sendable {
    package let name: Text?
    package let address: UInt64
    /// Bytes.
    package let size: UInt32
    /// Seconds since 1970, as the linker wrote them.
    package let timestamp: UInt32
    /// The id by which servers have the module's file.
    package let codeID: String

    /// The byte after the last one.
    package var end: UInt64 { address &+ UInt64(size) }
  }

  package var unloadedModules: [UnloadedModule] {
    snapshot.unloadedModules.map {
      UnloadedModule(
        name: text($0.name), address: $0.address, size: $0.size, timestamp: $0.timestamp,
        codeID: windowsCodeID(timestamp: UInt64($0.timestamp), size: UInt64($0.size)))
    }
  }

  /// A module that was unloaded, with the offsets that an address has in each of its places.
  package struct UnloadedPlace: Sendable {
    package let name: String
    package let offsets: [UInt64]
  }

  /// The unloaded modules at a frame, by name; each offset once, in order.
  package func unloadedPlaces(_ frame: Symbolization.Frame) -> [UnloadedPlace] {
    var offsets: [String: Set<UInt64>] = [:]
    for place in frame.unloaded { offsets[unloadedName(place.module), default: []].insert(place.offset) }
    return offsets.sorted { $0.key < $1.key }.map { UnloadedPlace(name: $0.key, offsets: $0.value.sorted()) }
  }

  /// Such as "plugin.dll (unloaded) + 0x1234"; nil if no unloaded module was at the address.
  ///
  /// The list does not say which of several modules was the last one, so the first names are shown.
  func unloadedLine(_ address: UInt64) -> String? {
    var names: [String] = []
    for place in unloadedMap.places(at: address) {
      let line = "\(unloadedName(place.module)) (unloaded) + \(TextFormat.hex(place.offset))"
      if !names.contains(line) { names.append(line) }
    }
    if names.isEmpty { return nil }
    let more = names.count > 3 ? ", or \(names.count - 3) more" : ""
    return names.prefix(3).joined(separator: " or ") + more
  }

  /// The image of a row as reports and events name it: that of its module, or those that were unloaded from there.
  ///
  /// The list does not say which of several unloaded modules was the last one: then the offset is nil.
  package func image(_ row: Row) -> (name: String, offset: UInt64?)? {
    if let name = moduleName(row) { return (name, row.moduleOffset) }
    var modules: [Int] = []
    for place in row.frame.unloaded where !modules.contains(place.module) { modules.append(place.module) }
    guard let first = modules.first else { return nil }
    var names: [String] = []
    for name in modules.map(unloadedName) where !names.contains(name) { names.append(name) }
    let starts = Set(modules.map { snapshot.unloadedModules[$0].address })
    let shown = names.prefix(3).joined(separator: " or ") + (names.count > 3 ? " or others" : "")
    let start = snapshot.unloadedModules[first].address
    return (shown + " (unloaded)", names.count == 1 && starts.count == 1 ? row.address &- start : nil)
  }

  private func unloadedName(_ index: Int) -> String {
    text(snapshot.unloadedModules[index].name)?.lastComponent ?? "unnamed module"
  }
}
