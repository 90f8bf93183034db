// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Resource reports, which hold samples of stacks instead of threads.
extension CrashText {
  /// Reads a line of the stack with the most samples; the outermost frame comes first.
  mutating func heaviest(_ content: TextBytes) {
    guard let sample = TextSample(content) else {
      // A line that begins with a number was probably meant as a frame.
      if content.first?.isDigit == true {
        builder.note(ReportRules.badFrame, at: content.startIndex)
        isSampleCut = true
      }
      return
    }
    isSampleCut = false
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
    guard [.resource, .hang].contains(builder.report.kind), threadNumbers.isEmpty, trees.isEmpty else { return }
    if frames.threads.isEmpty, !samples.isEmpty {
      addSampleThread()
      frames.threads[0] = TextSample.heaviestPath(samples)
    }
    guard !frames.threads.isEmpty else { return }
    frames.threads[0].reverse()
    if isSampleCut { elided.append((0, 0, nil)) }
  }
}
