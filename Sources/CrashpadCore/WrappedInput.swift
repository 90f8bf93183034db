// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization

/// Reports that are inside of other text: a quotation, a log, a document.
enum WrappedInput {
  /// The report in `file`, and what was around it; nil if the file is to be read as it is. Throws `DumpInputFailure`.
  ///
  /// - Parameter part: begins with the number of one of several reports, which is taken off.
  static func open(_ file: InputFile, _ part: inout String) throws -> (file: InputFile, unwrapping: Unwrapping)? {
    guard mayBeWrapped(file) else { return nil }
    switch result(of: file) {
    case .plain: return nil
    case .refused(let reason): throw DumpInputFailure.noDumpIn(archive: reason)
    case .unwrapped(let unwrapping): return (InputFile(bytes: unwrapping.bytes, like: file), unwrapping)
    case .several(let parts):
      let chosen = try choose(parts.count, &part)
      return (InputFile(bytes: parts[chosen].bytes, like: file), parts[chosen])
    }
  }

  /// The number of reports in a text that holds several; 0 for other files.
  static func count(of file: InputFile) -> Int {
    guard mayBeWrapped(file), case .several(let parts) = result(of: file) else { return 0 }
    return parts.count
  }

  private static func mayBeWrapped(_ file: InputFile) -> Bool {
    file.withBytes { bytes in
      guard FileMagic.notText(bytes) == nil else { return false }
      guard let format = InputFormat.of(bytes) else { return bytes.byteCount > 0 }
      return format.reportFormat != nil || format == .json
    }
  }

  private static func choose(_ count: Int, _ part: inout String) throws -> Int {
    guard !part.isEmpty else { throw DumpInputFailure.severalReports(count) }
    let name = part.prefix { $0 != "/" }
    guard let number = Int(name), (1...count).contains(number), String(number) == name else {
      throw DumpInputFailure.noSuchPart(part)
    }
    part = String(part.dropFirst(name.count + 1))
    return number - 1
  }

  // MARK: The last text with several reports

  /// Each of its parts is opened on its own, and to find them takes longer than to see that the bytes are the same.
  private static let last = Mutex<(file: InputFile, result: UnwrappingResult)?>(nil)

  private static func result(of file: InputFile) -> UnwrappingResult {
    if let known = last.withLock({ $0 }), isSame(known.file, file) { return known.result }
    let result = file.withBytes { Unwrapper.unwrap($0) }
    if case .several = result { last.withLock { $0 = (file, result) } }
    return result
  }

  private static func isSame(_ first: InputFile, _ second: InputFile) -> Bool {
    if let first = first.identity, let second = second.identity { return first == second }
    guard first.byteCount == second.byteCount else { return false }
    return unsafe first.withUnsafeBytes { first in
      unsafe second.withUnsafeBytes { unsafe first.elementsEqual($0) }
    }
  }
}
