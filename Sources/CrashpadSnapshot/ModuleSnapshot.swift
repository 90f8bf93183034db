// SPDX-License-Identifier: Apache-2.0
/// A module: the program, a library, or another mapped image.
public struct ModuleSnapshot: Sendable {
  package enum FileType: Sendable {
    case executable
    case sharedLibrary
    case loadableModule
    case dynamicLoader
    case other
  }

  /// The path from which the module was loaded.
  public var name: SnapshotBytes?
  /// The address of its first byte; nil if unknown.
  public var address: UInt64?
  /// The size in bytes; for a Mach-O module the size of `__TEXT`.
  public var size: UInt64?
  package var fileType: FileType?
  /// The modification time in seconds since 1970.
  package var timestamp: UInt64?
  /// The Mach-O `current_version` of a dylib: major 16 bits, minor 8, patch 8.
  package var dylibVersion: UInt32?
  /// The Mach-O source version as four 16-bit parts.
  package var sourceVersion: UInt64?
  /// The version of the file: on Windows that of its resources, on Linux that in its name.
  package var fileVersion: FileVersion?
  /// The id of the build; nil if it has none.
  public var identity: Identity?
  /// The id of a PDB in the format 2.00, which has no GUID.
  package var oldPDB: OldPDB?
  /// The name by which debug information is searched.
  public var debugName: SnapshotBytes?

  /// The annotations without types.
  public var simpleAnnotations: [Annotation] = []
  /// The annotations with types.
  public var annotationObjects: [AnnotationObject] = []
  /// Messages in the module, such as `__crash_info` or the dynamic loader's error.
  public var messages: [SnapshotBytes] = []
  /// CFBundleIdentifier, if a report has it.
  public var bundleID: String?
  /// CFBundleShortVersionString, if a report has it.
  public var bundleVersion: String?
  /// Such as "arm64e", if a report states it for the module and not only for the process.
  public var architecture: String?

  /// Four numbers.
  package struct FileVersion: Sendable, Hashable {
    private let parts: SIMD4<UInt32>

    package init(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) {
      parts = SIMD4(first, second, third, fourth)
    }

    /// The packed form of Mach-O, in which handlers for Linux record the version in a library's name.
    package init(packed version: UInt32) { self.init(version >> 16, version >> 8 & 0xff, version & 0xff, 0) }

    /// Such as "10.0.19041.4522".
    package var text: String { "\(parts.x).\(parts.y).\(parts.z).\(parts.w)" }
    package subscript(index: Int) -> UInt32 { parts[index] }
  }

  /// The identity of the module's build.
  public enum Identity: Sendable, Hashable {
    /// A Mach-O UUID, or the GUID of a PDB; the age counts the rewrites of a PDB.
    case uuid(UUIDBytes, age: UInt32)
    /// The ELF note NT_GNU_BUILD_ID.
    case buildID(SnapshotBytes)
  }

  package struct OldPDB: Sendable, Hashable {
    /// The time of the first link, in seconds since 1970.
    package let time: UInt32
    package let age: UInt32

    package init(time: UInt32, age: UInt32) { (self.time, self.age) = (time, age) }
  }

  package init() {}
}

package struct UnloadedModuleSnapshot: Sendable {
  package var name: SnapshotBytes
  package var address: UInt64
  package var size: UInt32
  package var timestamp: UInt32

  package init(name: SnapshotBytes, address: UInt64, size: UInt32, timestamp: UInt32) {
    self.name = name
    self.address = address
    self.size = size
    self.timestamp = timestamp
  }
}

extension ModuleSnapshot {
  /// Whether this is the pseudo image at 0, without size and UUID, under which Apple's reports
  /// list addresses outside all images.
  package var isAbsolute: Bool { address == 0 && size == 0 && identity == nil }
}
