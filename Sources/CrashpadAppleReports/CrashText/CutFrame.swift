// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The frame at which a text ends, which may be cut within a word: its address or name would be of something else.
extension CrashText {
  /// Removes what the end of the text cuts of its last line, if that is a frame. All frames of a text have the same form.
  ///
  /// - Returns: whether something was cut.
  mutating func dropCutFrame() -> Bool {
    if let last = frames.last.last, last.offset >= lastLine { return Self.dropCut(&frames.last) }
    guard frames.threads.indices.contains(thread), let last = frames.threads[thread].last, last.offset >= lastLine
    else {
      return false
    }
    return Self.dropCut(&frames.threads[thread])
  }

  private static func dropCut(_ list: inout [TextFrame]) -> Bool {
    let others = list.dropLast()
    guard let last = list.last, let shortest = others.lazy.map(\.digits).min(), last.hasAddress else { return false }
    if last.hasNothing {
      // A list of addresses alone has nothing behind any.
      let isListed = others.contains(where: \.hasNothing)
      guard !isListed || last.digits < shortest else { return false }
      if last.digits < 16 || last.digits < shortest { list.removeLast() }
      return true
    }
    guard let name = last.function, last.functionOffset == nil, last.moduleOffset == nil, last.file == nil,
      !last.isInlined,
      others.allSatisfy({ $0.functionOffset != nil || $0.moduleOffset != nil })
    else { return false }
    // The offset is cut off alone.
    list[list.count - 1].function = name.hasSuffix(" +") ? String(name.dropLast(2)) : nil
    return true
  }
}
