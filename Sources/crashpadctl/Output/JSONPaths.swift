import FileSystem
import JSONFormat
import Symbolication
import SystemPackage

/// JSON has text only: a path is there as people read it and, where that is not all of it, as its bytes too.
extension JSONWriter {
  /// The member `key` with the display form of `path`, and `KEY_bytes` with its bytes in hexadecimal where the two differ.
  mutating func member(_ key: String, path: FilePath?) {
    let bytes = path?.bytes ?? []
    let text = Wording.printable(bytes)
    member(key, path == nil ? nil : text)
    if !text.utf8.elementsEqual(bytes) { member(key + "_bytes", hexadecimalDigits(bytes)) }
  }

  /// The same of an argument that names a file; `-` is standard input.
  mutating func member(_ key: String, argument: String) {
    if argument == "-" { member(key, displayName(argument)) } else { member(key, path: FilePath(argument: argument)) }
  }
}
