// SPDX-License-Identifier: Apache-2.0
import CrashpadClient
import Foundation
import Testing

@Suite("Annotations")
struct AnnotationTests {
  @Test("A text is what was set last")
  func text() {
    let annotation = StringAnnotation("text", maximumLength: 8)
    #expect(annotation.value == nil)
    annotation.set("one")
    #expect(annotation.value == "one")
    annotation.set("a longer one")
    #expect(annotation.value == "a longer")
    annotation.set("é")
    #expect(annotation.value == "é")
    annotation.clear()
    #expect(annotation.value == nil)
    annotation.set("")
    #expect(annotation.value == "")
  }

  @Test(
    "A text is cut between characters",
    arguments: [("aaaé", 4, "aaa"), ("aaé", 4, "aaé"), ("€€", 4, "€"), ("😀😀", 7, "😀"), ("😀", 3, "")])
  func cut(value: String, length: Int, expected: String) {
    let annotation = StringAnnotation("text", maximumLength: length)
    annotation.set(value)
    #expect(annotation.value == expected)
  }

  @Test("A text ends at its NUL")
  func nul() {
    let annotation = StringAnnotation("text")
    annotation.set("before\0behind")
    #expect(annotation.value == "before")
  }

  @Test("Lengths are those of Crashpad at most, and one at least")
  func lengths() {
    #expect(StringAnnotation("text", maximumLength: 1 << 20).maximumLength == 20479)
    #expect(StringAnnotation("text", maximumLength: -1).maximumLength == 1)
    #expect(RingBufferAnnotation("ring", capacity: 1 << 20).capacity == 20464)
  }

  @Test("Numbers are decimal", arguments: [0, 7, -1, 1_234_567_890, .max, .min])
  func number(value: Int) {
    let annotation = StringAnnotation("number")
    annotation.set(value)
    #expect(annotation.value == String(value))
  }

  @Test("A truth value is one of two texts")
  func bool() {
    let annotation = StringAnnotation("bool")
    annotation.set(true)
    #expect(annotation.value == "true")
    annotation.set(false)
    #expect(annotation.value == "false")
  }

  @Test("Threads that set a text at the same time never mix their texts; one of them wins")
  func race() async {
    let annotation = StringAnnotation("text", maximumLength: 200)
    let values = (0..<8).map { String(repeating: "\($0)", count: 200 - 20 * $0) }
    annotation.set(values[0])
    await withTaskGroup(of: Void.self) { group in
      for value in values { group.addTask { for _ in 0..<20_000 { annotation.set(value) } } }
    }
    #expect(annotation.value.map { values.contains($0) } == true)
    annotation.set("the last")
    #expect(annotation.value == "the last")
  }
}
