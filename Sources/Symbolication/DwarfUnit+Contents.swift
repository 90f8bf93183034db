internal import CElfutils

extension DwarfUnit {
  /// Of DWARF: 2 to 5.
  var version: Int { info.version }

  /// Whether its entries are in another file.
  var isSkeleton: Bool { info.type == DW_UT_skeleton }

  /// Whether that file was found.
  var hasSplitUnit: Bool { unsafe tree.addr != die.addr }

  private var info: (version: Int, type: Int) {
    var version: Dwarf_Half = 0
    var type: UInt8 = 0
    guard unsafe dwarf_cu_info(die.cu, &version, &type, nil, nil, nil, nil, nil) == 0 else { return (0, 0) }
    return (Int(version), Int(type))
  }

  /// How many functions have code.
  func functionCount(_ sections: DwarfInfo.Sections) -> Int { allFunctions(sections).count }
}
