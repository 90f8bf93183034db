// SPDX-License-Identifier: Apache-2.0
/// The processor of a Mach-O file: `cputype` and `cpusubtype` of its header.
package struct MachOArchitecture: Sendable, Hashable, CustomStringConvertible {
  package let type: UInt32
  /// Without the capability bits at the top
  package let subtype: UInt32

  package init(type: UInt32, subtype: UInt32) {
    self.type = type
    self.subtype = subtype & 0x00ff_ffff
  }

  private static let is64Bit: UInt32 = 0x0100_0000
  private static let is64BitWith32BitPointers: UInt32 = 0x0200_0000
  private static let x86: UInt32 = 7
  private static let arm: UInt32 = 12

  package var isARM64: Bool { type == Self.arm | Self.is64Bit }
  /// 64-bit code with 32-bit pointers, used by watches.
  package var isARM64With32BitPointers: Bool { type == Self.arm | Self.is64BitWith32BitPointers }
  /// Whether the code is for 64-bit ARM processors, with pointers of any size.
  var hasARM64Code: Bool { isARM64 || isARM64With32BitPointers }
  package var isX86_64: Bool { type == Self.x86 | Self.is64Bit }

  /// The name in Apple's tools and Breakpad: `arm64e`, `x86_64h`; `cputype 18 subtype 0` for one without a name here.
  package var description: String {
    switch (type, subtype) {
    case (Self.arm | Self.is64Bit, 0): "arm64"
    case (Self.arm | Self.is64Bit, 1): "arm64v8"
    case (Self.arm | Self.is64Bit, 2): "arm64e"
    case (Self.arm | Self.is64BitWith32BitPointers, 0), (Self.arm | Self.is64BitWith32BitPointers, 1): "arm64_32"
    case (Self.x86 | Self.is64Bit, 3): "x86_64"
    case (Self.x86 | Self.is64Bit, 8): "x86_64h"
    case (Self.x86, 3): "i386"
    case (Self.arm, 6): "armv6"
    case (Self.arm, 9): "armv7"
    case (Self.arm, 11): "armv7s"
    case (Self.arm, 12): "armv7k"
    case (Self.arm, 0): "arm"
    default: "cputype \(type) subtype \(subtype)"
    }
  }
}

/// A version as packed in load commands.
package struct MachOVersion: Sendable, Hashable, CustomStringConvertible {
  package let major: UInt32
  package let minor: UInt32
  package let patch: UInt32

  /// - Parameter packed: the nibbles `xxxx.yy.zz`.
  package init(packed: UInt32) {
    major = packed >> 16
    minor = packed >> 8 & 0xff
    patch = packed & 0xff
  }

  /// `14.0`; the third part is printed only if it is not 0.
  package var description: String { patch == 0 ? "\(major).\(minor)" : "\(major).\(minor).\(patch)" }
}

/// The target of a build: LC_BUILD_VERSION, or an older LC_VERSION_MIN_ command.
package struct MachOBuild: Sendable, Hashable {
  /// `PLATFORM_…`, 1 for macOS, 2 for iOS.
  package let platform: UInt32
  package let minimumOS: MachOVersion
  package let sdk: MachOVersion

  /// The name in Apple's `vtool`; the number for a platform without a name here.
  package var platformName: String {
    let names = [
      "macos", "ios", "tvos", "watchos", "bridgeos", "maccatalyst", "iossimulator", "tvossimulator",
      "watchossimulator", "driverkit", "visionos", "visionossimulator",
    ]
    return platform >= 1 && platform <= names.count ? names[Int(platform) - 1] : "\(platform)"
  }
}
