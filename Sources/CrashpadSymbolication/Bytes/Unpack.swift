internal import CrashpadBytes
internal import CCrashpadUnpack
internal import Glibc

/// Decompresses sections that linkers and packagers compressed. The libraries are linked in, or else loaded when the
/// first such section is read, so that all other files can be read without them.
enum Unpack {
  /// Whether zlib is available.
  static var hasZlib: Bool { unsafe zlib != nil }

  /// Nil if the bytes are not a zlib stream of that size, or the library is missing.
  static func zlib(_ packed: RawSpanHolder, count: Int) -> RawSpanHolder? {
    guard let uncompress = unsafe zlib else { return nil }
    return unsafe RawSpanHolder(count: count) { target in
      unsafe packed.withUnsafeBytes { source in
        var size = UInt(count)
        return unsafe uncompress(target.baseAddress!, &size, source.baseAddress!, UInt(source.count)) == 0
          && size == UInt(count)
      }
    }
  }

  /// Whether libzstd is available.
  static var hasZstd: Bool { unsafe zstd != nil }

  /// Nil if the bytes are not zstd frames of that size, or the library is missing.
  static func zstd(_ packed: RawSpanHolder, count: Int) -> RawSpanHolder? {
    guard let decompress = unsafe zstd else { return nil }
    return unsafe RawSpanHolder(count: count) { target in
      unsafe packed.withUnsafeBytes { source in
        unsafe decompress(target.baseAddress!, count, source.baseAddress!, source.count) == count
      }
    }
  }

  /// Nil if the bytes are not an xz stream of that size, or the library is missing.
  static func xz(_ packed: RawSpanHolder, count: Int) -> RawSpanHolder? {
    guard let decode = unsafe lzma else { return nil }
    return unsafe RawSpanHolder(count: count) { target in
      unsafe packed.withUnsafeBytes { source in
        // The largest dictionary of the xz presets is 64 MiB.
        var memory: UInt64 = 128 << 20
        var (read, written) = (0, 0)
        let result = unsafe decode(
          &memory, 0, nil, source.baseAddress!, &read, source.count, target.baseAddress!, &written, count)
        return result == 0 && written == count
      }
    }
  }

  private static let zlib: zlib_uncompress_function? =
    unsafe zlib_linked()
    ?? symbol("libz.so.1", "uncompress").map { unsafe unsafeBitCast($0, to: zlib_uncompress_function.self) }

  private static let zstd: zstd_decompress_function? =
    unsafe zstd_linked()
    ?? symbol("libzstd.so.1", "ZSTD_decompress").map { unsafe unsafeBitCast($0, to: zstd_decompress_function.self) }

  private static let lzma: lzma_decode_function? =
    unsafe lzma_linked()
    ?? symbol("liblzma.so.5", "lzma_stream_buffer_decode").map {
      unsafe unsafeBitCast($0, to: lzma_decode_function.self)
    }

  private static func symbol(_ library: String, _ name: String) -> UnsafeMutableRawPointer? {
    unsafe dlopen(library, RTLD_NOW | RTLD_LOCAL).flatMap { unsafe dlsym($0, name) }
  }
}
