// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import Glibc
import SystemPackage

/// An index with changed bytes under a right checksum. An input that begins as an ELF file does is one, and the index is that of the
/// file: its last bytes are the changes. One that begins as a zip archive does is a file of a tree with an index. Of any other
/// input all bytes are changes, and the index is that of a tree.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  if bytes.starts(with: [0x50, 0x4b, 3, 4]) {
    archive.ask(bytes)
    return 0
  }
  guard bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else {
    tree.ask(changing(tree.index, from: 16, bytes[...]))
    return 0
  }
  guard size > 1024 else { return -1 }
  files.ask(bytes.dropLast(changesSize), changes: bytes.suffix(changesSize))
  return 0
}

private let changesSize = 96
/// Each change is a place in three bytes, and a value.
private let changeSize = 4

private func changing(_ index: [UInt8], from first: Int, _ changes: ArraySlice<UInt8>) -> [UInt8] {
  var index = index
  var rest = changes
  while rest.count >= changeSize, index.count > first {
    let change = Array(rest.prefix(changeSize))
    rest = rest.dropFirst(changeSize)
    let place = Int(change[0]) | Int(change[1]) << 8 | Int(change[2]) << 16
    index[first + place % (index.count - first)] = change[3]
  }
  return index
}

// MARK: Trees

private let tree = Tree()

/// A tree with a few files, and its index.
private struct Tree {
  let path: FilePath
  let index: [UInt8]
  private let ids: [DebugID]

  init() {
    path = temporary.appending("tree")
    ids = (1...6).compactMap { DebugID(text: "\($0)1223344556677889900AABBCCDDEEFF0") }
    for (number, id) in ids.enumerated() {
      let folder = path.appending(number == 0 ? "M" : "folder\(number)").appending(number == 0 ? id.text : "x")
      try! createDirectories(folder)
      let file = try! OutputFile(folder.appending("f\(number)"))
      try! unsafe file.write(Array("MODULE mac arm64 \(id.text) M\n".utf8).span.bytes)
      try! file.commit(durable: false)
    }
    usleep(20_000)
    precondition(IndexPreparation(store).prepare(directory: path))
    index = try! InputFile(regular: store.files[0]).withBytes { $0.array() }
  }

  func ask(_ bytes: [UInt8]) {
    guard let index = TreeIndex(InputFile(bytes: TreeIndex.sealed(Array(bytes[16...]))), path, path) else { return }
    for id in ids {
      for path in index.files(with: id.uuid) + index.folders(with: id.uuid) {
        precondition(path.starts(with: self.path))
      }
    }
    _ = (index.unread, index.isCurrent(.whole), index.hasSymbols)
  }
}

// MARK: Archives

private let archive = Archive()

/// An archive with symbol files, alone and in a tree.
private struct Archive {
  private let folder = temporary.appending("archives")

  func ask(_ bytes: [UInt8]) {
    try! createDirectories(folder)
    let path = folder.appending("symbols.zip")
    let file = try! OutputFile(path)
    try! unsafe file.write(bytes.span.bytes)
    try! file.commit(durable: false)
    // Whatever the ids are, those of the seeds are asked for.
    for id in [DebugID(text: "0123456789ABCDEF0123456789ABCDEF0"), DebugID(text: "00112233445566778899AABBCCDDEEFF0")] {
      let module = ModuleIdentity(path: "/app/M", debugID: id, buildID: [])
      let plain = found(module, [path], nil)
      let first = found(module, [folder], store)
      precondition(found(module, [folder], store) == first)
      // In a tree, a module without a name is looked for by its id alone.
      precondition(plain.isEmpty || first == [path], "\(plain) \(first)")
    }
    for file in store.files { unsafe file.withPlatformString { unsafe _ = unlink($0) } }
  }

  private func found(_ module: ModuleIdentity, _ paths: [FilePath], _ store: IndexStore?) -> [FilePath] {
    let search = SymbolSearch(paths: paths, looksInSystem: false, indexes: store)
    let matches = search.find(module)
    for symbols in matches.symbols { _ = symbols.symbolize(0x1000) }
    return matches.files.map(\.path)
  }
}

// MARK: Files

private let files = Files()

private struct Files {
  private let path = temporary.appending("file")

  func ask(_ elf: ArraySlice<UInt8>, changes: ArraySlice<UInt8>) {
    for file in store.files { unsafe file.withPlatformString { unsafe _ = unlink($0) } }
    write(Array(elf), to: path)
    ask()
    guard let place = store.files.first, let index = try? InputFile(regular: place).withBytes({ $0.array() }) else {
      return
    }
    // Behind the facts about the file, which would only have to be the same.
    let modified = unsafe index.span.bytes.uint64(at: 56)
    write(FileIndex.sealed(changing(index, from: 152, changes)), to: place, modified: modified)
    ask()
  }

  private func write(_ bytes: [UInt8], to path: FilePath, modified: UInt64? = nil) {
    let file = try! OutputFile(path)
    try! unsafe file.write(bytes.span.bytes)
    if let modified { try! file.setModified(Int64(bitPattern: modified)) }
    try! file.commit(durable: false)
  }

  private func ask() {
    guard let symbols = try? FileSymbols(path, indexes: store) else { return }
    for offset in (0..<64).map({ UInt64($0 * 0x31) }) + [0x1000, 0x1040, 0x1139, .max] {
      _ = symbols.symbols.symbolize(offset)
      _ = symbols.symbols.callPath(returningTo: offset, to: "other", at: offset)
      _ = symbols.symbols.functionAddress(offset)
    }
    _ = symbols.symbols.findings.count
  }
}

// MARK: Places

/// A directory in memory.
private let temporary: FilePath = {
  let path = FilePath("/dev/shm/crashpadctl-fuzz-\(getpid())")
  try! createDirectories(path)
  atexit { unsafe system("rm -rf /dev/shm/crashpadctl-fuzz-\(getpid())") }
  return path
}()

private let store: IndexStore = {
  var store = IndexStore(temporary.appending("store"))
  store.thresholds.entries = 1
  (store.thresholds.fileSize, store.thresholds.information, store.thresholds.age) = (0, 1, 0)
  return store
}()

extension IndexStore {
  /// The indexes in it.
  fileprivate var files: [FilePath] { (try? regularFiles(in: path, recursive: true).files) ?? [] }
}
