// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

extension DumpTree {
  /// Whether the dump is from a Linux process, not from an iOS app: it has the map kLinux, or its machine has a name of
  /// uname(1). kLinux comes last, so a truncated dump does not have it; the machine of an iOS app is a model.
  package func isOfLinux(in bytes: RawSpan) -> Bool {
    let (linux, system) = fields(.linux, .systemInfo, of: root, in: bytes)
    return linux.map != nil || system.map.map { namesMachine($0, bytes) } ?? false
  }

  private func namesMachine(_ system: DumpNode, _ bytes: RawSpan) -> Bool {
    let machine = field(.machineDescription, of: system, in: bytes)
    guard let value = machine.value, value.count <= 16 else { return false }
    return ["x86_64", "aarch64"].contains(bytes.text(in: value))
  }
}
