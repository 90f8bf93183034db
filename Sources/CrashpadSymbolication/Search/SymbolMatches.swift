// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import SystemPackage

/// The files of one module that were found, and those that were not used.
package struct SymbolMatches: Sendable {
  /// A file that is used.
  package struct Found: Sendable {
    package enum Role: String, Sendable {
      /// The loaded file itself.
      case binary
      /// Debug information split from the loaded file
      case debug
      case breakpad
    }

    package let path: FilePath
    package let role: Role
    /// Whether its id is that of the module in the dump. If not, one of the two has no id.
    package let isVerified: Bool
    /// The address on a server from which it is; nil if it is from none, or if that is not known.
    package internal(set) var url: String?
  }

  package var files: [Found] = []
  /// The symbols of the files, in the order of lookup; a loaded file and its debug information are one element.
  package var symbols: [any SymbolFile] = []
  package var refused: [SymbolRefusal] = []
  /// The answers of the servers that were asked, in this order.
  package var answers: [ServerAnswer] = []
  /// The number of places without a file.
  package var missing = 0
  /// The files that were opened.
  package var inputs = SymbolInputs()

  package init() {}
}

/// An existing file that is not used.
package struct SymbolRefusal: Sendable {
  package enum Reason: Sendable, Hashable {
    /// It is from another build, with this id.
    case otherBuild(String)
    /// It is from another build, with this code id of Windows.
    case otherCode(WindowsCodeID)
    /// It has no id, and the module has one.
    case noIdentity
    /// Its CRC differs from that in `.gnu_debuglink`.
    case otherChecksum
    case unknownFormat
    /// It is a PDB, which a tool can turn into a file that is read.
    case pdb
    case unreadable(Errno)
    /// It became shorter while it was read, or its disk can't be read.
    case notWhole
    /// It is a FIFO, a device or a socket.
    case notAFile
    /// It is compressed and can't be decompressed, or an archive of which no file can be used.
    case compressed(String)
    /// It is a zip archive, and none of its files has the name of one with symbols.
    case otherMembers
    /// A folder without a file in a known format.
    case noSymbolFiles
    /// A folder with PDBs, which a tool can turn into files that are read, and without other files with symbols.
    case onlyPDBs
    /// A folder with more files than are looked at.
    case tooManyFiles(Int)
    /// It belongs to a shared cache, or is a cache of which a part can't be used.
    case sharedCache(Finding)
    /// It is a part of a shared cache, which is read with the file that lists the images.
    case cachePart
  }

  package let path: FilePath
  package let reason: Reason
}
