// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot
internal import CrashpadText

/// The processor and the version of the system, as tools for minidumps print them.
extension CrashView {
  /// Such as "family 6 model 69 stepping 1", after the vendor on x86; of ARM its version, maker, part and features.
  package var processorText: String? {
    guard let processor = snapshot.system.processor else { return nil }
    switch snapshot.system.architecture {
    case .x86:
      return [line(snapshot.system.cpuVendor), Self.family(processor)].compactMap { $0 }.joined(separator: " ")
    case .x86_64: return Self.family(processor)
    case .arm: return Self.arm(processor)
    case .arm64, .riscv64, .ppc64, .loongarch64, .mips, .mips64, .unknown: return nil
    }
  }

  private static func family(_ processor: ProcessorSnapshot) -> String {
    "family \(processor.level) model \(processor.revision >> 8) stepping \(processor.revision & 0xff)"
  }

  /// The version of the microcode from /proc/cpuinfo, such as "0x17".
  package var microcode: String? {
    value(of: ["microcode"], in: snapshot.linux?.cpuInfo, separator: ":").flatMap { text in
      text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16).map(TextFormat.hex) : nil
    }
  }

  // MARK: ARM

  private static func arm(_ processor: ProcessorSnapshot) -> String {
    var text = "ARMv\(processor.level)"
    if processor.id != 0 {
      let maker = processor.id >> 24
      let part = processor.id & 0xff00_fff0
      text += " " + (armMakers.first { $0.id == maker }?.name ?? "vendor(\(TextFormat.hex(UInt64(maker))))")
      text += " " + (armParts.first { $0.id == part }?.name ?? "part(\(TextFormat.hex(UInt64(part))))")
    }
    let features = armFeatures.enumerated().filter { processor.features & 1 << UInt32($0.offset) != 0 }.map(\.element)
    return features.isEmpty ? text : text + " features: " + features.joined(separator: ",")
  }

  // Source: Arm, the main id register (MIDR) in the architecture reference manual; the technical reference manuals.
  private static let armMakers: [(id: UInt32, name: String)] = [
    (0x41, "ARM"), (0x51, "Qualcomm"), (0x56, "Marvell"), (0x69, "Intel/Marvell"),
  ]
  private static let armParts: [(id: UInt32, name: String)] = [
    (0x4100_c050, "Cortex-A5"), (0x4100_c080, "Cortex-A8"), (0x4100_c090, "Cortex-A9"), (0x4100_c0f0, "Cortex-A15"),
    (0x4100_c140, "Cortex-R4"), (0x4100_c150, "Cortex-R5"), (0x4100_b360, "ARM1136"), (0x4100_b560, "ARM1156"),
    (0x4100_b760, "ARM1176"), (0x4100_b020, "ARM11-MPCore"), (0x4100_9260, "ARM926"), (0x4100_9460, "ARM946"),
    (0x4100_9660, "ARM966"), (0x5100_06f0, "Krait"), (0x5100_00f0, "Scorpion"),
  ]
  /// By bit. Source: Linux, arch/arm/include/uapi/asm/hwcap.h
  private static let armFeatures = [
    "swp", "half", "thumb", "26bit", "fastmult", "fpa", "vfpv2", "edsp", "java", "iwmmxt", "crunch", "thumbee", "neon",
    "vfpv3", "vfpv3d16", "tls", "vfpv4", "idiva", "idivt",
  ]

  // MARK: The system

  /// The version and the build, as rust-minidump has them.
  ///
  /// Breakpad has zeros for the version of Linux, and uname(1) as the build: its second word is the version, and its last one
  /// the machine.
  package var osVersionText: String? {
    guard osVersion == nil, let build = line(snapshot.system.osBuild), build.hasPrefix("Linux ") else {
      let version = [osVersion, line(snapshot.system.osBuild)].compactMap { $0 }
      return version.isEmpty ? nil : version.joined(separator: " ")
    }
    var words = build.split(separator: " ", omittingEmptySubsequences: false).dropFirst()
    if ["Linux/GNU", "GNU/Linux"].contains(words.last) { words.removeLast() }
    return (words.count < 2 ? words : words.dropLast()).joined(separator: " ")
  }
}
