// SPDX-License-Identifier: Apache-2.0
/// The result of one row: the text without the wrapping, and what was removed.
struct Removal {
  struct Note {
    let text: String
    let offset: Int
    var isUncertain = false
  }

  let copy: TextCopy
  var notes: [Note]
  /// Why the text can't be read, though the wrapping is known.
  var refusal: String?

  init(_ copy: TextCopy, _ notes: [Note]) {
    self.copy = copy
    self.notes = notes
  }

  init(_ copy: TextCopy, _ text: String, at offset: Int) { self.init(copy, [Note(text: text, offset: offset)]) }
}
