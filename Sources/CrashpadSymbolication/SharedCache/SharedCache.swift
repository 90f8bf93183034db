// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization
package import SystemPackage

/// A dyld shared cache: the libraries of one of Apple's systems in one file, or in several that name each other by their UUIDs.
/// Thread-safe.
package final class SharedCache: Sendable {
  /// The file is no shared cache, or one in a form that is not read.
  package struct NotACache: Error, Sendable {
    /// Whether it is a part of a cache, which is read with the file that lists the images.
    package let isPart: Bool
  }

  /// A library of the cache as a file of its own, or why there is none.
  package enum Extraction {
    case file(MachOFile)
    /// Its names are in a file of the cache that is not there.
    case incomplete(MachOFile)
    /// It is in a file of the cache that is not there.
    case absent
    case damaged
  }

  package let path: FilePath
  package let problems: [SharedCacheProblem]
  package let localSymbols: SharedCacheLocalState
  /// The files that were opened.
  let inputs: SymbolInputs
  private let header: SharedCacheHeader
  private let input: InputFile
  private let space: SharedCacheSpace
  private let locals: SharedCacheLocals?
  private let indexes: [UUIDBytes: Int]
  /// The bytes that may still be made of the images: all images of a hostile cache may have the same huge table.
  private let room: Mutex<Int>

  package var uuid: UUIDBytes { header.uuid }
  package var architecture: String { header.architecture }
  package var imageCount: Int { header.images.count }
  package var partCount: Int { header.parts.count }

  /// Throws `Errno`, `InputFile.NotReadable`, `SymbolInputs.Compressed` or `NotACache`.
  package convenience init(_ path: FilePath) throws {
    let opened = SymbolInputs()
    try self.init(path, opened) { try opened.open($0) }
  }

  /// - Parameter open: opens a file of the cache; it throws `Errno.noSuchFileOrDirectory` for one that is not there.
  package init(_ path: FilePath, _ inputs: SymbolInputs = SymbolInputs(), open: (FilePath) throws -> InputFile) throws {
    self.inputs = inputs
    input = try open(path)
    guard let header = input.withBytes({ SharedCacheHeader($0) }) else { throw NotACache(isPart: false) }
    if header.isPart { throw NotACache(isPart: true) }
    var opening = SharedCacheOpening(path, header)
    let parts = opening.parts(open)
    locals = opening.locals(input, open)
    localSymbols = opening.localSymbols(locals)
    problems = opening.problems
    (self.path, self.header) = (path, header)
    space = SharedCacheSpace([(input, header.mappings)] + parts)
    indexes = Dictionary(
      header.images.enumerated().map { ($0.element.uuid, $0.offset) }, uniquingKeysWith: { first, _ in first })
    let bytes = parts.reduce(input.byteCount) { $0 + $1.file.byteCount } + opening.symbolBytes
    room = Mutex(64 << 20 + 8 * bytes)
  }

  /// The number of the image with a UUID; nil if there is none.
  package func image(with uuid: UUIDBytes) -> Int? { uuid == .zero ? nil : indexes[uuid] }

  /// Their addresses.
  var imageAddresses: [UInt64] { header.images.map(\.address) }

  /// The path of an image in the system, such as "/usr/lib/libobjc.A.dylib"; empty if it can't be read.
  package func imagePath(_ image: Int) -> String {
    input.withBytes { $0.string(at: UInt64(header.images[image].path)) } ?? ""
  }

  /// Makes a file of an image.
  package func extract(_ image: Int) -> Extraction {
    let entry = header.images[image]
    guard !space.bytes(from: entry.address).isEmpty else { return .absent }
    let given = room.withLock { $0 }
    guard given > 0, let layout = SharedCacheImage(space, at: entry.address) else { return .damaged }
    var left = given
    let made = layout.file(locals(of: entry.address, is32Bit: layout.header.is32Bit), room: &left)
    room.withLock { $0 -= given - left }
    guard !made.isCut, let file = try? MachOFile(InputFile(bytes: made.bytes, like: input), code: space),
      file.findings.isEmpty, file.uuid == entry.uuid, file.textAddress == entry.address
    else { return .damaged }
    guard made.lacksSymbols else { return .file(file) }
    return problems.contains(where: \.isOfFile) ? .incomplete(file) : .damaged
  }

  private func locals(of address: UInt64, is32Bit: Bool) -> SharedCacheSymbolTable? {
    guard let locals, let base = header.mappings.first?.address else { return nil }
    let place = locals.isWide ? address &- base : space.fileOffset(of: address)
    return place.flatMap { locals.symbols(of: $0, entrySize: is32Bit ? 12 : 16) }
  }

  /// Throws `SymbolInputs.NotWhole`, or `InputFile.NotReadable` for the file itself, if some bytes so far could not be read.
  package func checkReading() throws { try inputs.checkReading(of: path) }
}
