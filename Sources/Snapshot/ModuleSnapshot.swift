public struct ModuleSnapshot: Sendable {
  public enum FileType: Sendable {
    case executable
    case sharedLibrary
    case loadableModule
    case dynamicLoader
    case other
  }

  /// The path that the module was loaded from.
  public var name: Content?
  public var address: UInt64?
  /// Bytes; of a Mach-O module the size of `__TEXT`.
  public var size: UInt64?
  public var fileType: FileType?
  /// Modification time, seconds since 1970.
  public var timestamp: UInt64?
  /// The Mach-O `current_version` of a dylib: major 16 bits, minor 8, patch 8.
  public var dylibVersion: UInt32?
  /// The Mach-O source version as four 16-bit parts.
  public var sourceVersion: UInt64?
  public var identity: Identity?
  /// The name under which debug information is looked for.
  public var debugName: Content?

  public var simpleAnnotations: [Annotation] = []
  public var annotationObjects: [AnnotationObject] = []
  /// Messages: `__crash_info`, the dynamic loader's error.
  public var messages: [Content] = []
  /// CFBundleIdentifier and CFBundleShortVersionString, where a report has them.
  package var bundleID: String?
  package var bundleVersion: String?
  /// "arm64e", where a report says it of the module rather than of the process.
  package var architecture: String?

  /// What tells this build of the module from every other.
  public enum Identity: Sendable, Hashable {
    /// A Mach-O UUID, or a PDB's GUID; the age counts a PDB's rewrites.
    case uuid(UUIDBytes, age: UInt32)
    /// The ELF note NT_GNU_BUILD_ID.
    case buildID(Content)
  }

  package init() {}
}

public struct UnloadedModuleSnapshot: Sendable {
  package var name: Content
  package var address: UInt64
  package var size: UInt32
  package var timestamp: UInt32

  package init(name: Content, address: UInt64, size: UInt32, timestamp: UInt32) {
    self.name = name
    self.address = address
    self.size = size
    self.timestamp = timestamp
  }
}
