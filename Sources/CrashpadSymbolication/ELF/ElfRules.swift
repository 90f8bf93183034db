// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Rules of ELF files with symbols. A finding affects only the names from that file.
package enum ElfRules {
  package static let badDwarf = Rule("bad-dwarf", .warning, "The debug information can't be read; names are missing")
  package static let badLines = Rule("bad-line-table", .warning, "A line table can't be read")
  package static let badFrames = Rule(
    "bad-frame-rules", .warning, "Frame descriptions can't be read; stacks are walked without them")
  package static let splitDwarfMissing = Rule(
    "split-dwarf-missing", .warning,
    "A file with split debug information is missing, of another build, or can't be read")
  package static let sharedDwarfMissing = Rule(
    "shared-dwarf-missing", .warning,
    "The file with the debug information that this one shares with others is not there, or is of another build")
  package static let unknownCompression = Rule(
    "unknown-compression", .warning, "The compression of a section is not supported")

  package static let all = [badDwarf, badLines, badFrames, splitDwarfMissing, sharedDwarfMissing, unknownCompression]
}
