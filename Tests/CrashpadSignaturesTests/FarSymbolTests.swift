// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSymbolication
import Testing

@testable import CrashpadSignatures

/// Names that a reporter gives to code far behind the function of that name: those next to it have no symbols.
struct FarSymbolTests {
  private func signature(_ distance: Int, _ version: RuleVersion = .current) throws -> Signature {
    let text = """
      Thread 0 Crashed:: main
      0   Wheel Framework   \t       0x11c1587e8 wheel_get_name + \(distance)
      1   Orrery            \t       0x10015871c -[Sky move] + 12

      """
    let dump = Dump(try DumpInput(InputFile(bytes: Array(text.utf8))))
    let cache = SymbolCache(SymbolSearch(paths: [], looksInSystem: false), names: .mangled)
    return Signature(
      try #require(dump.snapshot), dump.file, nil, SignatureOptions(cache, inApp: [], version: version))
  }

  @Test func `A name far before a frame is no function, and two places are two groups`() throws {
    let far = try signature(4_525_456)
    #expect(far.text == "none · Wheel Framework!wheel_get_name+0x450d90" && !far.isNamed)
    #expect(try signature(4_525_460).id != far.id)
    #expect(try signature(0x3ffff).text == "none · wheel_get_name")
  }

  @Test func `The first version of the rules takes the name`() throws {
    #expect(try signature(4_525_456, .first).text == signature(16, .first).text)
  }
}
