public import BinaryFormat

/// Rules of Mach-O files. A part that breaks one costs itself only.
public enum MachORules {
  public static let badLoadCommand = Rule(
    "bad-load-command", .warning, "A load command of a Mach-O file can't be read; what it tells is missing")
  public static let rangeOutsideFile = Rule(
    "mach-o-range", .warning, "A Mach-O file names bytes that it does not have; what they tell is missing")
  public static let badSlice = Rule(
    "bad-slice", .warning, "A slice of a universal file can't be read; it is left out")
  public static let badSymbol = Rule(
    "bad-mach-o-symbol", .warning,
    "A symbol of a Mach-O file lies outside of its section or has no name; it is left out")
  public static let badFunctionStarts = Rule(
    "bad-function-starts", .warning, "The list of function starts of a Mach-O file breaks off")
  public static let badUnwindInfo = Rule(
    "bad-unwind-info", .warning, "The compact unwind information of a Mach-O file can't be read")
  public static let badDwarf = Rule(
    "bad-dwarf-section", .warning, "A section with debugging information overlaps others; it is left out")

  public static let all = [
    badLoadCommand, rangeOutsideFile, badSlice, badSymbol, badFunctionStarts, badUnwindInfo, badDwarf,
  ]
}
