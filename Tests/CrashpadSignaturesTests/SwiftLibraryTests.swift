// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

/// Functions of Swift's library that the compiler copied into a program; the symbol itself names their module.
struct SwiftLibraryTests {
  @Test(arguments: [
    // MainActor.assumeIsolated, _NativeDictionary.merge with a closure without arguments, _stringCompare
    "$sScM14assumeIsolated_4file4linexxyKScMYcXE_s12StaticStringVSutKs8SendableRzlFZyt_Tg5",
    "$ss17_NativeDictionaryV5merge_8isUnique16uniquingKeysWithyqd__n_Sbq_q__q_tKXEtKSTRd__x_q_t7ElementRtd__lFSi_SiSaySi_SitGTg5012$sSD20uniquegh33ValuesSDyxq_Gqd__n_tcSTRd__x_q_t7i26Rtd__lufcq_q__q_tKXEfU_Si_u3SayU8_SitGTG5Tf1nncn_n",
    "$ss14_stringCompare__9expectingSbs11_StringGutsV_ADs01_D16ComparisonResultOtF",
  ])
  func `A symbol of the library says so, in a program too`(_ symbol: String) {
    #expect(SwiftLibrary.stated(by: symbol) == .library)
    #expect(SymbolOrigin(symbol, isInApp: true).statesSwiftLibrary)
  }

  @Test(arguments: [
    // App.Wheel.turn, and a member that App adds to Swift.Array.
    "$s3App5WheelV4turnyyF", "$sSa3AppE4spinyyF",
  ])
  func `A symbol of a program does not`(_ symbol: String) {
    #expect(SwiftLibrary.stated(by: symbol) == .program)
    #expect(!SymbolOrigin(symbol, isInApp: true).statesSwiftLibrary)
  }

  @Test func `A closure outside of functions is in the main function`() {
    #expect(SwiftName.normalized(NameText("closure #3 in "), image: nil) == "main.λ3")
    #expect(SwiftName.normalized(NameText("closure #3 in "), image: nil, .first) == "(closure) ")
  }
}
