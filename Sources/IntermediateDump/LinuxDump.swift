internal import CrashpadBytes

extension DumpTree {
  /// Whether the dump is from a Linux process, not from an iOS app: it has the map kLinux, or its machine has a name of
  /// uname(1). kLinux comes last, so a truncated dump does not have it; the machine of an iOS app is a model.
  package func isOfLinux(in bytes: RawSpan) -> Bool {
    var linux = DumpField()
    var system = DumpField()
    var records = records(of: root)
    while let record = records.next(of: self, in: bytes) {
      switch record.key {
      case .linux: linux.record = record
      case .systemInfo: system.record = record
      default: break
      }
    }
    return linux.map != nil || system.map.map { namesMachine($0, bytes) } ?? false
  }

  private func namesMachine(_ system: DumpNode, _ bytes: RawSpan) -> Bool {
    var machine = DumpField()
    var records = records(of: system)
    while let record = records.next(of: self, in: bytes) {
      if record.key == .machineDescription { machine.record = record }
    }
    guard let value = machine.value, value.count <= 16 else { return false }
    return ["x86_64", "aarch64"].contains(bytes.text(in: value))
  }
}
