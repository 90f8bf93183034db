// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite(
  "dSYMs give llvm-symbolizer's answers",
  .enabled(
    if: AppleBuild.isPossible, "clang for Apple's systems, ld64.lld, dsymutil or llvm-symbolizer is not installed"))
struct DsymTests {
  @Test("Every instruction has its functions, files, lines, columns and inlined calls", arguments: [4, 5])
  func lookup(dwarf: Int) throws {
    let build = try AppleBuild(dwarf: dwarf)
    try build.writeUniversal("universal")
    for image in [build.library, build.app] {
      let expected = try image.expected(in: build.folder)
      #expect(expected.values.contains { $0.frames.count > 1 } && expected.values.allSatisfy { !$0.knowsNoFile })
      var files = [image.bundle, image.companion]
      if image.name == build.library.name { files.append("universal") }
      for file in files {
        let ours = try Symbolizers.ours(file, image.addresses, in: build.folder)
        for (address, chain) in zip(image.addresses, ours) where chain != expected[address] {
          Issue.record(
            "\(file) 0x\(String(address, radix: 16)):\n\(chain)\nllvm:\n\(expected[address].map(\.description) ?? "")")
          break
        }
      }
    }
  }

  @Test("A symbol file of a dylib with its dSYM bundle beside it is that of the bundle")
  func besides() throws {
    let build = try AppleBuild(dwarf: 5)
    let result = try Tool.shell(
      """
      crashpadctl symbols dump -q dSYMs/libshop.dylib.dSYM -o bundle.sym && mv dSYMs/libshop.dylib.dSYM . && \
        crashpadctl symbols dump -q libshop.dylib -o file.sym
      """, in: build.folder)
    try #require(result.status == 0, "\(result.errorText)")
    let text = String(decoding: try build.folder.bytes(of: "bundle.sym"), as: UTF8.self)
    #expect(text.contains("\nSTACK CFI INIT ") && text.contains("\nINLINE "))
    // The dylib has its own unwind information besides.
    let own = String(decoding: try build.folder.bytes(of: "file.sym"), as: UTF8.self)
    func withoutFrames(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("STACK") } }
    #expect(withoutFrames(own) == withoutFrames(text))
    #expect(own.contains("\nSTACK CFI INIT "))
  }

  @Test("A slice of a universal file is chosen by its name, and info lists all")
  func slices() throws {
    let build = try AppleBuild(dwarf: 5)
    try build.writeUniversal("universal")
    let address = try #require(build.library.addresses.first)
    func lookup(_ options: String...) throws -> Tool.Outcome {
      try Tool.run(["symbols", "lookup", "universal", String(address, radix: 16)] + options, in: build.folder)
    }
    let (chosen, unchosen) = (try lookup("--arch", "arm64"), try lookup())
    #expect(chosen.errors.isEmpty && chosen.output == unchosen.output)
    #expect(
      unchosen.errorText == "universal: note: slices x86_64, arm64; arm64 is used, --arch chooses another\n")
    #expect(try lookup("--arch", "x86_64").output != chosen.output)
    let other = try lookup("--arch", "arm64e")
    #expect(other.status == 65 && other.errorText == "universal: error: no slice for arm64e: it has x86_64, arm64\n")

    let info = try Tool.run(["symbols", "info", "--format", "json", "universal"], in: build.folder)
    let slices = try JSONDocument(info.output)["slices"].array
    #expect(slices.map { $0["architecture"].string } == ["x86_64", "arm64"])
    #expect(slices.allSatisfy { ($0["dwarf"]["functions"].int ?? 0) > 0 && $0["debug_id"].string?.utf8.count == 33 })
    let bundle = try Tool.run(["symbols", "info", build.library.bundle], in: build.folder)
    #expect(bundle.status == 0 && bundle.text.contains("Mach-O debugSymbols, arm64"))
  }

  @Test(
    "The stack of an iOS dump is the same by dSYM bundles, a directory of them, and symbol files made of them",
    arguments: [4, 5])
  func stack(dwarf: Int) throws {
    let build = try AppleBuild(dwarf: dwarf)
    let crash = try AppleCrash(build)
    try build.folder.write(crash.dump, to: "crash.idump")
    let bundles = [build.library.bundle, build.app.bundle]
    let dump = try Tool.run(["symbols", "dump", "--quiet", "--output", "store"] + bundles, in: build.folder)
    try #require(dump.status == 0 && dump.errors.isEmpty, "\(dump.errorText)")

    func frames(_ symbols: [String], _ options: String...) throws -> [[Chain]] {
      let symbols = symbols.flatMap { ["--symbols", $0] }
      let result = try Tool.run(
        ["symbolize", "--no-system", "--format", "json", "crash.idump"] + symbols + options, in: build.folder)
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errorText)")
      let document = try JSONDocument(result.output)
      try #require(document["status"].string == "OK", "\(document["findings"].array.map { $0["text"].string ?? "" })")
      let frames = document["crashing_thread"]["frames"].array
      #expect(frames.compactMap { $0["instruction"].hex } == crash.frames.map(\.pc))
      #expect(document["modules"].array.count { $0["loaded_symbols"].bool == true } == 2)
      return frames.map { frame in
        (frame["inlines"].array + [frame]).map { call in
          Chain(frames: [
            Chain.Frame(
              function: call["function"].string ?? "", file: call["file"].string ?? "", line: call["line"].int ?? 0,
              column: call["column"].int ?? 0)
          ])
        }
      }
    }
    let expected = crash.frames.map { frame in frame.chain.frames.map { Chain(frames: [$0]) } }
    #expect(expected.contains { $0.count > 1 })
    #expect(try frames(bundles, "--no-demangle") == expected)
    #expect(try frames(["dSYMs"], "--no-demangle") == expected)
    // Symbol files have names as people wrote them, and no columns.
    let demangled = try frames(bundles).map { $0.map { $0.withoutColumns() } }
    #expect(demangled.last?.last?.frames.first?.function == "main")
    #expect(demangled.joined().contains { $0.frames.first?.function == "shop::descend(int*, int)" })
    #expect(try frames(["store"]) == demangled)
  }
}

/// A process that crashed in the library of `AppleBuild`: five frames, from a leaf without its own down to `main`.
struct AppleCrash {
  struct Frame {
    let pc: UInt64
    /// The address of the instruction or, in a caller, of the call.
    let chain: Chain
  }
  private(set) var frames: [Frame] = []
  let dump: [UInt8]

  private static let libraryAddress: UInt64 = 0x1_0456_4000
  private static let appAddress: UInt64 = 0x1_0047_8000
  private static let stack: UInt64 = 0x1_6f9e_0000

  init(_ build: AppleBuild) throws {
    let (library, app) = (build.library, build.app)
    let known = try library.expected(in: build.folder).merging(app.expected(in: build.folder)) { first, _ in first }
    func function(_ address: UInt64) -> String { known[address]?.frames.last?.function ?? "" }
    func frame(_ image: AppleBuild.Image, at address: UInt64, isCaller: Bool) throws -> Frame {
      let base = image.name == library.name ? Self.libraryAddress : Self.appAddress
      return Frame(pc: address - image.base + base + (isCaller ? 4 : 0), chain: try #require(known[address]))
    }
    func call(_ image: AppleBuild.Image, from caller: String, to callee: String?) throws -> Frame {
      let call = image.calls.last { call in
        guard function(call.address).contains(caller) else { return false }
        // The stub that leads to the library is no code of the program.
        return callee.map { function(call.target).contains($0) } ?? !image.code.contains(call.target)
      }
      return try frame(image, at: try #require(call).address, isCaller: true)
    }
    let leaf = try #require(library.addresses.first { function($0).contains("4read") && known[$0]!.frames.count > 1 })
    frames = [
      try frame(library, at: leaf, isCaller: false),
      try call(library, from: "descend", to: "4read"),
      try call(library, from: "descend", to: "descend"),
      try call(library, from: "shop_entry", to: "descend"),
      try call(app, from: "main", to: nil),
    ]

    // A function that calls keeps its caller's frame pointer and return address where its own frame pointer shows to.
    var memory = [UInt8](repeating: 0, count: 0x800)
    let records = (1..<frames.count).map { Self.stack + UInt64(0x100 * $0) }
    for (index, record) in records.enumerated() where index + 1 < records.count {
      memory.overwrite(records[index + 1], width: 8, at: Int(record - Self.stack))
      memory.overwrite(frames[index + 2].pc, width: 8, at: Int(record - Self.stack) + 8)
    }
    var registers = SynthRegisters(architecture: .arm64)
    registers.pc = frames[0].pc
    registers.lr = frames[1].pc
    registers.fp = records[0]
    registers.sp = Self.stack + 0x80
    dump = Self.dump(registers, memory, [(app, Self.appAddress, 2), (library, Self.libraryAddress, 6)])
  }

  private static func dump(
    _ registers: SynthRegisters, _ memory: [UInt8], _ modules: [(AppleBuild.Image, UInt64, UInt32)]
  ) -> [UInt8] {
    var dump = DumpBuilder()
    dump.root {
      $0.property(.version, [1])
      $0.map(.processInfo) { $0.property(.pid, uint32: 4242) }
      $0.map(.systemInfo) {
        $0.property(.machineDescription, "iPhone15,2")
        $0.property(.osVersionMajor, int32: 17)
        $0.property(.osVersionMinor, int32: 0)
        $0.property(.osVersionBugfix, int32: 1)
        $0.property(.osVersionBuild, "21A340")
        $0.property(.cpuCount, int32: 6)
        $0.property(.cpuVendor, "0x20000003")
        $0.property(.addressMask, uint64: 0xffff_fff0_0000_0000)
        $0.property(.pageSize, uint64: 16384)
      }
      $0.map(.machException) {
        $0.property(.exception, int32: 1)
        $0.property(.codes, Bytes.of([1, 0x10]))
        $0.property(.flavor, uint32: registers.unifiedFlavor)
        $0.property(.state, registers.unifiedState)
        $0.property(.threadID, uint64: 777)
      }
      $0.array(.threads) {
        $0.mapInArray {
          $0.property(.threadID, uint64: 777)
          $0.property(.threadState, registers.threadState)
          $0.property(.floatState, [UInt8](repeating: 0, count: 528))
          $0.property(.debugState, [UInt8](repeating: 0, count: 520))
          $0.property(.stackRegionAddress, uint64: stack)
          $0.property(.stackRegionData, memory)
        }
      }
      $0.array(.modules) {
        for (image, address, fileType) in modules {
          $0.mapInArray {
            $0.property(.name, "/private/var/containers/Shop.app/\(image.name)")
            $0.property(.address, uint64: address)
            $0.property(.size, uint64: 0xc000)
            $0.property(.uuid, image.uuid)
            $0.property(.fileType, uint32: fileType)
          }
        }
      }
    }
    return dump.bytes
  }
}
