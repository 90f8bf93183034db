// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// Arguments and file names are bytes; command-line parsers and other callers take strings. This text is UTF-8 where
/// the bytes are, and has a scalar of the last private plane for each byte that is not.
///
/// The conversion is reversible: if the bytes spell such a scalar themselves, each of its bytes is replaced as well.
package enum ArgumentText {
  /// U+10FE80 to U+10FEFF stand for the bytes 0x80 to 0xff.
  private static let base: UInt32 = 0x10_fe00

  /// The byte that `scalar` stands for; nil if it stands for itself.
  package static func byte(of scalar: Unicode.Scalar) -> UInt8? {
    (base + 0x80...base + 0xff).contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }

  package static func text(_ bytes: [UInt8]) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    var text = String.UnicodeScalarView()
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var start = 0
    while true {
      let length: Int
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        length = encoded.count
        let scalar = Unicode.UTF8.decode(encoded)
        if byte(of: scalar) == nil { text.append(scalar) } else { append(bytes[start..<start + length], to: &text) }
      case .error(let count):
        length = count
        append(bytes[start..<start + length], to: &text)
      case .emptyInput: return String(text)
      }
      start += length
    }
  }

  private static func append(_ bytes: ArraySlice<UInt8>, to text: inout String.UnicodeScalarView) {
    for byte in bytes {
      guard let scalar = Unicode.Scalar(base + UInt32(byte)) else { preconditionFailure("no surrogate lies there") }
      text.append(scalar)
    }
  }

  /// The bytes from which `text` was made.
  package static func bytes(_ text: String) -> [UInt8] {
    let encoded = Array(text.utf8)
    if encoded.allSatisfy({ $0 < 0xf4 }) { return encoded }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if let byte = byte(of: scalar) { bytes.append(byte) } else { bytes += UTF8.encode(scalar) ?? .init() }
    }
    return bytes
  }

  /// `text` as UTF-8: other bytes become U+FFFD.
  package static func repaired(_ text: String) -> String { String(decoding: bytes(text), as: UTF8.self) }

  /// Whether all bytes are UTF-8.
  package static func isUnicode(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 < 0xf4 } || String(validating: bytes(text), as: UTF8.self) != nil
  }
}

extension FilePath {
  /// The path that an argument names, byte for byte.
  package init(argument text: String) { self.init(bytes: ArgumentText.bytes(text)) }

  /// The path with these bytes; it ends at the first NUL.
  package init(bytes: [UInt8]) {
    self = unsafe (bytes + [0]).withUnsafeBufferPointer { buffer in
      unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
        guard let start = characters.baseAddress else { preconditionFailure("a path has at least its end") }
        return unsafe FilePath(platformString: start)
      }
    }
  }

  /// All bytes, without a NUL.
  package var bytes: [UInt8] {
    unsafe withPlatformString { start in
      unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }
  }
}
