// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// A line in a call tree: the number of samples, and their frame.
struct TextSample {
  /// The number of bytes before the count.
  let depth: Int
  let count: UInt64
  let frame: TextFrame

  /// Parses "    61  ??? (libsystem_pthread.dylib + 2240) [0x22f72b8c0]"; nil if the line has another form.
  init?(_ line: TextBytes) {
    let content = line.drop { TextBytes.isBlank($0) || $0 == UInt8(ascii: "*") }
    depth = content.startIndex - line.startIndex
    var rest = content
    guard let count = rest.takeNumber(), rest.first.map({ TextBytes.isBlank($0) }) == true else { return nil }
    self.count = count
    rest = rest.trimmed
    guard let open = rest.last(of: "[0x"), let close = rest[open...].firstIndex(of: UInt8(ascii: "]")),
      let address = rest[(open + 1)..<close].address
    else { return nil }
    var frame = TextFrame(address: address, offset: content.startIndex)
    frame.readSample(rest[..<open].trimmed)
    self.frame = frame
  }
}

extension TextFrame {
  /// Parses "start_wqthread + 8 (libsystem_pthread.dylib + 7308)", "??? (<4540B641-…> + 32448)",
  /// "CoreFoundation 0x1858ec000 + 37028".
  fileprivate mutating func readSample(_ text: TextBytes) {
    var name = text
    if text.last == UInt8(ascii: ")"), let open = text.last(of: "(") {
      let inner = text[(open + 1)...].dropLast()
      name = text[..<open].trimmed
      if let plus = inner.last(of: " + "), let distance = inner[(plus + 3)...].number {
        image = inner[..<plus].trimmed
        moduleOffset = distance
      }
    }
    if let plus = name.last(of: " + "), let distance = name[(plus + 3)...].number {
      name = name[..<plus].trimmed
      functionOffset = distance
    }
    guard !name.isEmpty, !name.equals("???") else { return }
    function = name.string
  }
}

/// Resource reports, which hold samples of stacks instead of threads.
extension CrashText {
  /// Reads a line of the stack with the most samples; the outermost frame comes first.
  mutating func heaviest(_ content: TextBytes) {
    guard let sample = TextSample(content) else { return }
    addSampleThread()
    frames.threads[0].append(sample.frame)
  }

  private mutating func addSampleThread() {
    guard frames.threads.isEmpty else { return }
    frames.threads.append([])
    var thread = ThreadSnapshot()
    thread.frames = []
    builder.snapshot.threads.append(thread)
    builder.report.faultingThread = 0
  }

  /// Reads a line of the call tree of the first process.
  mutating func sample(_ line: TextBytes) {
    if let sample = TextSample(line) {
      samples.append(sample)
    } else if let key = TextKey(line), key.name == "Num samples" || key.name == "Microstackshots" {
      builder.addField("Samples", key.value.string)
    }
  }

  /// Reverses the stack so that the innermost frame is first. If the text has no stack, takes it from the call tree.
  mutating func endSamples() {
    guard builder.report.kind == .resource, threadNumbers.isEmpty else { return }
    if frames.threads.isEmpty, !samples.isEmpty {
      addSampleThread()
      frames.threads[0] = heaviestPath()
    }
    if !frames.threads.isEmpty { frames.threads[0].reverse() }
  }

  private func heaviestPath() -> [TextFrame] {
    var path: [TextFrame] = []
    var range = samples.indices
    while let depth = samples[range].map(\.depth).min() {
      let level = range.filter { samples[$0].depth == depth }
      guard let heaviest = level.max(by: { (samples[$0].count, $1) < (samples[$1].count, $0) }) else { break }
      path.append(samples[heaviest].frame)
      let end = samples[(heaviest + 1)..<range.upperBound].firstIndex { $0.depth <= depth } ?? range.upperBound
      range = heaviest + 1..<end
    }
    return path
  }
}
