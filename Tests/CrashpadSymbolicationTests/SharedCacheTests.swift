// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSnapshot
@testable import CrashpadSymbolication
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

@Suite("Dyld shared caches")
struct SharedCacheTests {
  typealias Shape = SynthSharedCache.Shape

  /// Writes the files of a cache, but those with the suffixes in `missing`.
  private func write(
    _ cache: SynthSharedCache, in folder: TemporaryFolder, name: String = "dyld_shared_cache_arm64e",
    except missing: [String] = []
  ) throws -> FilePath {
    for (suffix, bytes) in cache.files where !missing.contains(suffix) {
      try Data(bytes).write(to: folder.work.appending(path: name + suffix))
    }
    return folder.path.appending(name)
  }

  private func identity(_ image: SynthSharedCache.Image) -> ModuleIdentity {
    ModuleIdentity(path: image.path, debugID: DebugID(uuid: uuid(image.uuid)), mayBeLocal: false)
  }

  private func uuid(_ bytes: [UInt8]) -> UUIDBytes {
    UUIDBytes(text: bytes.map { hexadecimal(UInt64($0), width: 2) }.joined()) ?? .zero
  }

  /// The name of a function as the builder knows it; nil if it is in no file.
  private func name(_ function: SynthSharedCache.Function, hasLocals: Bool = true) -> String? {
    switch function.kind {
    case .exported, .inTrie, .kept: function.name
    case .local: hasLocals ? function.name : nil
    case .unnamed: nil
    }
  }

  private func addresses(_ function: SynthSharedCache.Function) -> [UInt64] {
    [function.address, function.address + function.size / 2, function.address + function.size - 1]
  }

  /// Compares the names of all addresses, and returns how many were compared.
  private func compare(
    _ image: SynthSharedCache.Image, _ symbols: any SymbolFile, base: UInt64, hasLocals: Bool = true
  ) -> Int {
    var count = 0
    for function in image.functions {
      for address in addresses(function) {
        let found = symbols.symbolize(address - base)
        #expect(found?.frames.last?.function == name(function, hasLocals: hasLocals), "\(function)")
        #expect(found?.isNearest != true)
        if found != nil { #expect(found?.functionAddress == function.address - base) }
        count += 1
      }
    }
    return count
  }

  @Test("Each address has the name that the builder knows, in every shape", arguments: SynthSharedCache.Shape.allCases)
  func names(_ shape: Shape) throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    let folder = try TemporaryFolder()
    let synth = SynthSharedCache(shape, images: 7, functions: 60, seed: seed)
    let path = try write(synth, in: folder)
    let whole = try SymbolFiles.open(path)
    let search = SymbolSearch(paths: [path], looksInSystem: false)
    var count = 0
    for image in synth.images {
      count += compare(image, whole, base: 0)
      let found = search.find(identity(image))
      #expect(found.files.map(\.path) == [path])
      #expect(found.files.allSatisfy { $0.isVerified })
      count += compare(image, try #require(found.symbols.first), base: image.address)
      #expect(found.symbols.first?.sliceID?.uuid == uuid(image.uuid))
    }
    #expect(count == 2 * 7 * 60 * 3)
    #expect(whole.findings.isEmpty)
    #expect(search.faults.findings.isEmpty)
  }

  @Test("A cache is found in a directory, beside other files", arguments: SynthSharedCache.Shape.allCases)
  func folder(_ shape: Shape) throws {
    let folder = try TemporaryFolder()
    let (other, synth) = (SynthSharedCache(shape, seed: 5), SynthSharedCache(shape, seed: 6))
    _ = try write(other, in: folder, name: "other")
    _ = try write(synth, in: folder)
    let search = SymbolSearch(paths: [folder.path], looksInSystem: false)
    for image in synth.images {
      let symbols = try #require(search.find(identity(image)).symbols.first)
      #expect(compare(image, symbols, base: image.address) > 0)
    }
    #expect(search.faults.findings.isEmpty)
  }

  @Test("A library of another build is not used, although its path is the same")
  func otherBuild() throws {
    let folder = try TemporaryFolder()
    let synth = SynthSharedCache(.named)
    let search = SymbolSearch(paths: [try write(synth, in: folder)], looksInSystem: false)
    let image = synth.images[0]
    for id in [DebugID(uuid: uuid(synth.uuid)), nil, DebugID(uuid: .zero)] {
      let other = ModuleIdentity(path: image.path, debugID: id, mayBeLocal: false)
      #expect(search.find(other).symbols.isEmpty)
    }
    // The list of images and the image itself name different builds.
    var files = synth.files
    let place = Int(synth.images[0].address - 0x1_8000_0000)
    let command = try #require(
      (place..<place + 1024).first { Array(files[0].bytes[$0..<$0 + 16]) == image.uuid })
    files[0].bytes[command] ^= 1
    let lie = try cache(files)
    guard case .damaged = lie.extract(0) else {
      Issue.record("used")
      return
    }
  }

  private func cache(_ files: [(suffix: String, bytes: [UInt8])]) throws -> SharedCache {
    try SharedCache("/cache") { path in
      guard let file = files.first(where: { "/cache\($0.suffix)" == path.string }) else {
        throw Errno.noSuchFileOrDirectory
      }
      return InputFile(bytes: file.bytes)
    }
  }

  private func codes(_ search: SymbolSearch) -> [String] { search.faults.findings.map(\.finding.rule.code) }

  @Test("A sub-cache that is not there is said, and the libraries of the others have their names")
  func missingPart() throws {
    let folder = try TemporaryFolder()
    let synth = SynthSharedCache(.named)
    let path = try write(synth, in: folder, except: [".01"])
    let search = SymbolSearch(paths: [path], looksInSystem: false)
    for image in synth.images {
      let found = search.find(identity(image))
      #expect(found.symbols.isEmpty == image.isInPart)
      if let symbols = found.symbols.first { _ = compare(image, symbols, base: image.address) }
    }
    #expect(codes(search) == ["missing-cache-part"])
    #expect(search.faults.findings.first?.file.lastComponent?.string == "dyld_shared_cache_arm64e.01")
    #expect(!search.isWhole)
  }

  @Test("Without the file of local symbols, a function that had its name there has none, not that of its neighbor")
  func missingLocals() throws {
    for shape in [Shape.numbered, .named] {
      let folder = try TemporaryFolder()
      let synth = SynthSharedCache(shape, functions: 40)
      let path = try write(synth, in: folder, except: [".symbols"])
      let search = SymbolSearch(paths: [path], looksInSystem: false)
      for image in synth.images {
        let symbols = try #require(search.find(identity(image)).symbols.first)
        _ = compare(image, symbols, base: image.address, hasLocals: false)
      }
      #expect(codes(search) == ["missing-cache-part"])
      let state = try SharedCache(path).localSymbols
      #expect(state == .missing)
    }
    let single = try cache(SynthSharedCache(.single).files)
    #expect(single.localSymbols == .found)
  }

  @Test(
    "Files of another cache are not used, and their UUID is said", arguments: [".01", ".02.dyldlinkedit", ".symbols"])
  func otherParts(_ suffix: String) throws {
    let (synth, other) = (SynthSharedCache(.named, seed: 1), SynthSharedCache(.named, seed: 2))
    let files = synth.files.map { file in
      file.suffix == suffix ? other.files.first { $0.suffix == suffix } ?? file : file
    }
    let cache = try cache(files)
    #expect(cache.problems.map { $0.finding().rule.code } == ["other-cache-part"])
    #expect(cache.problems.first?.path.string == "/cache\(suffix)")
    for (index, image) in synth.images.enumerated() {
      let file: MachOFile
      switch cache.extract(index) {
      case .file(let whole):
        #expect(suffix != ".02.dyldlinkedit")
        file = whole
      case .incomplete(let part):
        #expect(suffix == ".02.dyldlinkedit")
        file = part
      case .absent, .damaged:
        #expect(suffix == ".01" && image.isInPart)
        continue
      }
      for function in image.functions {
        let symbol = file.symbol(containing: function.address)
        let expected: String? =
          switch suffix {
          case ".01": name(function)
          case ".02.dyldlinkedit": function.kind == .local ? function.name : nil
          default: name(function, hasLocals: false)
          }
        if suffix != ".02.dyldlinkedit" || expected != nil {
          #expect((symbol?.hasName == true ? symbol?.name : nil) == expected)
        }
      }
    }
  }

  @Test("A name of a sub-cache does not lead out of the directory", arguments: ["/../x", ".", "a", "./x", ".a/b"])
  func partNames(_ suffix: String) throws {
    var files = SynthSharedCache(.named).files
    let place = try #require(
      files[0].bytes.indices.first { Array(files[0].bytes[$0...].prefix(4)) == Array(".01\0".utf8) })
    let name = Array(suffix.utf8) + [UInt8](repeating: 0, count: 8 - suffix.utf8.count)
    files[0].bytes.replaceSubrange(place..<place + 8, with: name)
    let problems = try cache(files).problems
    #expect(problems.map { $0.finding().rule.code } == ["bad-shared-cache"])
  }

  @Test("The cache of development systems shares the files of the other one")
  func development() throws {
    let folder = try TemporaryFolder()
    let synth = SynthSharedCache(.named)
    for (suffix, bytes) in synth.files {
      var bytes = bytes
      // The kind of both systems
      bytes.overwrite(2, width: 8, at: 104)
      try Data(bytes).write(to: folder.work.appending(path: suffix.isEmpty ? "c.development" : "c" + suffix))
    }
    let cache = try SharedCache(folder.path.appending("c.development"))
    #expect(cache.problems.isEmpty)
    #expect(cache.partCount == 2)
  }

  @Test("A part of a cache is told from the file that lists the libraries")
  func parts() throws {
    let folder = try TemporaryFolder()
    let path = try write(SynthSharedCache(.named), in: folder)
    for suffix in [".01", ".02.dyldlinkedit", ".symbols"] {
      let part = FilePath(path.string + suffix)
      do {
        _ = try SharedCache(part)
        Issue.record("read")
      } catch let error as SharedCache.NotACache { #expect(error.isPart) }
      let identity = try SymbolFileIdentity(part)
      #expect(identity.debugIDs.isEmpty)
    }
    let identity = try SymbolFileIdentity(path)
    #expect(identity.debugIDs.count == 5)
  }

  @Test("Code is read where it is: the unwinder needs it")
  func code() throws {
    let synth = SynthSharedCache(.named)
    let cache = try cache(synth.files)
    for (index, image) in synth.images.enumerated() {
      guard case .file(let file) = cache.extract(index) else {
        Issue.record("no file")
        continue
      }
      #expect(file.architecture.description == "arm64e")
      #expect(file.installName == image.path)
      for (number, function) in image.functions.enumerated() {
        #expect(file.code(at: function.address, count: 4) == 0xd503_2000 | UInt32(number))
        #expect(file.function(containing: function.address + 3)?.lowerBound == function.address)
      }
      #expect(file.code(at: image.address, count: 4) == nil, "the header is no code")
    }
  }

  @Test("Symbol files of a cache have the same names", arguments: SynthSharedCache.Shape.allCases)
  func symbolFiles(_ shape: Shape) throws {
    let synth = SynthSharedCache(shape, functions: 40, seed: 9)
    let cache = try cache(synth.files.filter { shape == .single || $0.suffix != ".symbols" })
    for (index, image) in synth.images.enumerated() {
      guard case .file(let file) = cache.extract(index) else { continue }
      let output = MemoryOutput()
      let source = try BreakpadInput(file, name: "sample")
      var options = BreakpadWriter.Options()
      options.demangles = false
      _ = try BreakpadWriter.write(source, options, to: output)
      let sym = try BreakpadFile(InputFile(bytes: output.bytes))
      for function in image.functions {
        let found = sym.symbolize(function.address + function.size - 1 - image.address)
        #expect(found?.frames.last?.function == name(function, hasLocals: shape == .single))
      }
    }
  }

  @Test("Damaged caches end neither the program nor its patience", arguments: SynthSharedCache.Shape.allCases)
  func damage(_ shape: Shape) throws {
    var random = Soak.random()
    let synth = SynthSharedCache(shape, images: 3, functions: 10)
    let extremes: [UInt64] = [0, 1, 8, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000_0000_0000, .max, .max - 15, 0x1_8000_1000]
    for _ in 0..<Soak.times(6000, or: 150) {
      var files = synth.files
      for _ in 0...random.between(0, 3) {
        let number = random.between(0, files.count - 1)
        // Most of the bytes are zeros between the tables.
        let used = files[number].bytes.indices.filter { files[number].bytes[$0] != 0 }
        let place = used[random.between(0, used.count - 1)]
        let value = extremes[random.between(0, extremes.count - 1)]
        files[number].bytes.overwrite(value, width: [1, 2, 4, 8][random.between(0, 3)], at: place & ~3)
      }
      if random.between(0, 9) == 0 { files[0].bytes.removeLast(random.between(0, files[0].bytes.count - 1)) }
      exercise(files)
    }
  }

  private func exercise(_ files: [(suffix: String, bytes: [UInt8])]) {
    guard let cache = try? cache(files) else { return }
    let symbols = SharedCacheSymbols(cache)
    for address in [0, 0x1_8000_0000, 0x1_8000_1404, 0x1_9000_1404, .max] as [UInt64] {
      _ = symbols.symbolize(address)
      _ = symbols.functionAddress(address)
    }
    for image in 0..<min(cache.imageCount, 8) {
      _ = cache.imagePath(image)
      guard case .file(let file) = cache.extract(image) else { continue }
      _ = file.symbols()
      // The list of function starts is read when a symbol is.
      #expect(file.findings.allSatisfy { $0.rule == MachORules.badFunctionStarts && $0.offset == nil })
    }
  }

  @Test("All images may name the same tables: the work is bounded by the size of the files")
  func sharedTables() throws {
    var files = SynthSharedCache(.single, images: 1, functions: 8).files
    // 100,000 entries of one image, each with its UUID.
    let start = files[0].bytes.count
    var list: [UInt8] = []
    let (uuid, address) = (SynthSharedCache(.single, images: 1).images[0].uuid, UInt64(0x1_8000_1000))
    for _ in 0..<100_000 {
      list += uuid
      list.append(little: address)
      list.append(little: UInt64(0))
    }
    files[0].bytes.overwrite(UInt64(start), width: 8, at: 136)
    files[0].bytes.overwrite(100_000, width: 8, at: 144)
    let cache = try cache([("", files[0].bytes + list)])
    var made = 0
    for image in 0..<cache.imageCount {
      if case .file = cache.extract(image) { made += 1 }
    }
    #expect(made > 100)
    #expect(made < 100_000)
  }
}
