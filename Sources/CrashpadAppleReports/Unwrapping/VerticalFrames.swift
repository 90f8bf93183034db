// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Stacks as they are copied from the pages of crash services: the number, the image and the function of each frame on lines
/// of their own, and between them at times the file, "Cart.swift - Line 7".
enum VerticalFrames {
  /// The lines of one frame.
  private struct Frame {
    let number: UInt64
    let lines: [TextBytes]

    var image: TextBytes { lines[1] }
    var function: TextBytes { lines[lines.count - 1] }
  }

  /// As many frames in a row are a stack.
  private static let fewestFrames = 3

  static func remove(_ text: [UInt8]) -> Removal? {
    var lines = TextLines(text).map { $0.trimmed }[...]
    var frames: [Frame] = []
    var runs: [[Frame]] = []
    func end() {
      if frames.count >= fewestFrames { runs.append(frames) }
      frames = []
    }
    while !lines.isEmpty {
      guard let frame = frame(lines, after: frames.last?.number) else {
        end()
        lines.removeFirst()
        continue
      }
      if frame.number == 0 { end() }
      frames.append(frame)
      lines = lines.dropFirst(frame.lines.count)
    }
    end()
    guard let first = runs.first?.first?.lines.first else { return nil }
    return Removal(joined(text, runs.joined()), "the lines of each frame were apart", at: first.startIndex)
  }

  /// The frame whose number is the first line; nil for other lines.
  private static func frame(_ lines: ArraySlice<TextBytes>, after last: UInt64?) -> Frame? {
    guard let head = lines.first, head.count <= 3, let number = head.decimal,
      number == 0 || number == last.map({ $0 + 1 })
    else { return nil }
    let rest = Array(lines.prefix(4))
    guard rest.count > 2, isImage(rest[1]) else { return nil }
    let length = rest.count > 3 && place(rest[2]) != nil ? 4 : 3
    guard rest.count >= length, isFunction(rest[length - 1]) else { return nil }
    return Frame(number: number, lines: Array(rest.prefix(length)))
  }

  private static func isImage(_ line: TextBytes) -> Bool {
    !line.isEmpty && line.count <= 64 && line.decimal == nil && line.first(of: "  ") == nil
      && !line.contains { [0x28, 0x3a, 0x09].contains($0) }
  }

  private static func isFunction(_ line: TextBytes) -> Bool {
    line.first.map { $0.isLetter || "_-+$[(<".utf8.contains($0) } ?? false
  }

  /// Parses "Cart.swift - Line 7".
  private static func place(_ line: TextBytes) -> (file: TextBytes, number: TextBytes)? {
    guard let mark = line.last(of: " - Line "), case let number = line[(mark + " - Line ".utf8.count)...],
      number.decimal != nil
    else { return nil }
    return (line[..<mark], number)
  }

  // MARK: The text

  private static func joined(_ text: [UInt8], _ frames: some Sequence<Frame>) -> TextCopy {
    var copy = TextCopy(of: text)
    var offset = 0
    for frame in frames {
      let start = frame.lines[0].startIndex
      copy.copy(offset..<start)
      put(frame, &copy)
      offset = frame.lines[frame.lines.count - 1].endIndex
    }
    copy.copy(offset..<text.count)
    return copy
  }

  private static func put(_ frame: Frame, _ copy: inout TextCopy) {
    func gap(_ line: TextBytes) { copy.put(Array("  ".utf8), for: line.startIndex) }
    for line in [frame.lines[0], frame.image] {
      copy.copy(line.startIndex..<line.endIndex)
      gap(line)
    }
    guard frame.lines.count == 4, let place = place(frame.lines[2]) else {
      copy.copy(frame.function.startIndex..<frame.function.endIndex)
      return
    }
    // The number behind "+" is the line once more.
    let end = frame.function.last(of: " + ") ?? frame.function.endIndex
    copy.copy(frame.function.startIndex..<end)
    copy.put(Array(" at ".utf8) + place.file + [0x3a] + place.number, for: frame.lines[2].startIndex)
  }
}
