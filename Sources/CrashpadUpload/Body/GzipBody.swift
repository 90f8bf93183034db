// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// A body that is compressed while it is read. Its length is not known in advance.
@safe
final class GzipBody: RequestBody {
  private let source: any RequestBody
  private let compressor: CompressionStream
  private let input: UnsafeMutableRawBufferPointer
  private var inputRange = 0..<0
  private var isInputEnd = false
  private var isEnd = false

  /// zlib refused to compress: its state is damaged, or it can't go on.
  static let failure = FileFailure("gzip", .ioError)

  /// - Parameters:
  ///   - source: the body to compress.
  ///   - compressor: compresses bodies one after the other; its tables are allocated once for all of them.
  init(_ source: any RequestBody, _ compressor: CompressionStream) {
    self.source = source
    self.compressor = compressor
    unsafe input = .allocate(byteCount: 64 * 1024, alignment: 16)
    compressor.reset()
  }

  deinit { unsafe input.deallocate() }

  var byteCount: Int? { nil }
  var isLarge: Bool { source.isLarge }

  func rewind() {
    source.rewind()
    compressor.reset()
    (inputRange, isInputEnd, isEnd) = (0..<0, false, false)
  }

  func read(into bytes: inout MutableRawSpan) throws(FileFailure) -> Int {
    var filled = 0
    while !isEnd, filled < bytes.byteCount {
      if inputRange.isEmpty, !isInputEnd {
        var span = unsafe MutableRawSpan(_unsafeBytes: input)
        let count = try source.read(into: &span)
        inputRange = 0..<count
        isInputEnd = count == 0
      }
      var rest = bytes._mutatingExtracting(droppingFirst: filled)
      let source = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: input[inputRange]))
      let result = compressor.step(source, isLast: isInputEnd, into: &rest)
      // A step that does nothing would be repeated without end.
      if result.isDamaged || (result.taken == 0 && result.filled == 0 && !result.isEnd) { throw Self.failure }
      inputRange = inputRange.lowerBound + result.taken..<inputRange.upperBound
      filled += result.filled
      isEnd = result.isEnd
    }
    return filled
  }
}
