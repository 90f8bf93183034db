// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import Testing

@testable import CrashpadFiles

@Suite("FileName")
struct FileNameTests {
  @Test(
    "A text that the kernel allows for no entry is not a name",
    arguments: [[], [0x2e], [0x2e, 0x2e], [0x61, 0], [0], [0x2f], [0x61, 0x2f, 0x62], [0x2f, 0x61]] as [[UInt8]])
  func refused(bytes: [UInt8]) { #expect(FileName(bytes: bytes) == nil) }

  @Test(
    "Any other bytes are a name",
    arguments: [
      [0x2e, 0x2e, 0x2e], [0x2e, 0x61], [0x20], [0x0a], [0xff], [0xc3, 0x28], [0x5c], [0x2a],
      [UInt8](repeating: 0x61, count: 255),
    ] as [[UInt8]])
  func taken(bytes: [UInt8]) throws { #expect(try #require(FileName(bytes: bytes)).bytes == bytes) }

  @Test("Each of the 256 bytes alone is a name, but for three")
  func everyByte() {
    for byte in UInt8.min ... .max {
      #expect((FileName(bytes: [byte]) == nil) == [0, 0x2e, 0x2f].contains(byte), "\(byte)")
    }
  }

  @Test("Text is UTF-8, and what is not shows as U+FFFD")
  func text() throws {
    #expect(try #require(FileName("ä")).bytes == [0xc3, 0xa4])
    #expect(FileName("a/b") == nil)
    #expect(FileName("") == nil)
    #expect(try #require(FileName(bytes: [0x61, 0xff, 0x62])).text == "a\u{fffd}b")
    #expect(FileName(literal: "x.dmp").bytes == [0x78, 0x2e, 0x64, 0x6d, 0x70])
  }

  @Test("Two names are equal if their bytes are, not if Unicode calls their texts equal")
  func equality() throws {
    let composed = try #require(FileName("\u{e4}"))
    let decomposed = try #require(FileName("a\u{308}"))
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test("A suffix has something before it; a prefix may be all")
  func affixes() throws {
    let name = try #require(FileName("a.dmp"))
    #expect(name.hasSuffix(".dmp"))
    #expect(!name.hasSuffix("a.dmp"))
    #expect(!name.hasSuffix("xa.dmp"))
    #expect(!name.hasSuffix(".DMP"))
    #expect(name.hasPrefix("a.dmp"))
    #expect(name.hasPrefix(""))
    #expect(!name.hasPrefix("a.dmp2"))
    #expect(!name.hasPrefix(".dmp"))
    // Bytes, not characters: here the suffix begins inside of what Unicode calls one character.
    #expect(try #require(FileName("xa\u{308}")).hasSuffix("\u{308}"))
  }

  @Test("A suffix goes and comes")
  func removing() throws {
    #expect(try #require(FileName("a.dmp")).removing(suffix: ".dmp")?.text == "a")
    #expect(try #require(FileName("a.dmp.dmp")).removing(suffix: ".dmp")?.text == "a.dmp")
    #expect(try #require(FileName("a.dmp")).removing(suffix: ".meta") == nil)
    #expect(try #require(FileName(".dmp")).removing(suffix: ".dmp") == nil)
    #expect(try #require(FileName("..dmp")).removing(suffix: ".dmp") == nil, "a dot alone is no name")
    #expect(try #require(FileName("...dmp")).removing(suffix: ".dmp") == nil)
    #expect(try #require(FileName("....dmp")).removing(suffix: ".dmp")?.text == "...")
    #expect(try #require(FileName("a")).appending(".meta").text == "a.meta")
    #expect(try #require(FileName(bytes: [0xff])).appending("x").bytes == [0xff, 0x78])
  }

  @Test("Names are sorted by bytes, unsigned, a shorter one first")
  func order() {
    let sorted: [[UInt8]] = [
      [0x01], [0x2d], [0x2d, 0x01], [0x41], [0x61], [0x61, 0x61], [0x62], [0x7f], [0x80], [0xff],
    ]
    let names = sorted.compactMap { FileName(bytes: $0) }
    #expect(names.count == sorted.count)
    #expect(Array(names.reversed()).sorted() == names)
    for name in names { #expect(!(name < name)) }
  }

  @Test("A path gets just the bytes of the name")
  func path() throws {
    for bytes: [UInt8] in [[0x61], [0xff, 0xfe], [0x2e, 0x2e, 0x2e], [0x20, 0x0a]] {
      let path = FilePath("/tmp/x").appending(try #require(FileName(bytes: bytes)))
      #expect(path.components.count == 3)
      let raw = unsafe path.withPlatformString { pointer in
        (0..<path.length).map { unsafe UInt8(bitPattern: pointer[$0]) }
      }
      #expect(raw == Array("/tmp/x/".utf8) + bytes)
    }
    #expect(FilePath("").appending(FileName(literal: "a")) == FilePath("a"))
  }
}
