internal import Glibc
internal import SystemPackage

/// The base name of this process's executable; empty if /proc is not there.
func executableName() -> String {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
  guard count > 0 else { return "" }
  let path = FilePath(String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))
  return path.lastComponent?.string ?? ""
}
