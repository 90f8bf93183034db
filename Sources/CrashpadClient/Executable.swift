internal import Glibc
internal import SystemPackage

/// The base name of this process's executable as a program id: without leading dots, because files with such names are
/// no dumps, and cut to the length of an id. Without /proc, the name by which the process was started.
func executableName() -> String {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
  var path = FilePath(String(decoding: bytes.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self))
  if count <= 0, let name = unsafe CommandLine.unsafeArgv[0] { path = unsafe FilePath(platformString: name) }
  guard let name = path.lastComponent?.string else { return "" }
  let longest = 207
  var id = name[...]
  while id.utf8.first == UInt8(ascii: ".") { id = Substring(id.utf8.dropFirst()) }
  while id.utf8.count > longest { id.removeLast() }
  return id.isEmpty ? "program" : String(id)
}
