// SPDX-License-Identifier: Apache-2.0
import CrashpadSymbolication

/// A place in the source, in JSON documents.
enum SourceRecord {
  static let line = Record<SourceLocation?>(
    .text("file", "The source file.") { $0?.file },
    .number("line", "The line, from 1.") { location in location.flatMap { $0.line > 0 ? $0.line : nil } })

  static let column = Record<SourceLocation?>(
    .members(of: line) { $0 },
    .number("column", "The column, from 1.") { location in location.flatMap { $0.column > 0 ? $0.column : nil } })
}
