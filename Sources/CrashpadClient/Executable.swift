// SPDX-License-Identifier: Apache-2.0
internal import CCrashCapture
internal import CrashpadFiles
internal import Glibc
internal import SystemPackage

/// The base name of this process's executable as a program id: without leading dots, because files with such names are
/// no dumps, and cut to the length of an id. Without /proc, the name by which the process was started.
func executableName() -> String {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count - 1)
  var path = FilePath(platformString: bytes)
  if count <= 0, let name = unsafe CommandLine.unsafeArgv[0] { path = unsafe FilePath(platformString: name) }
  guard let name = path.lastComponent?.string else { return "" }
  var id = name[...]
  while id.utf8.first == UInt8(ascii: ".") { id = Substring(id.utf8.dropFirst()) }
  while id.utf8.count >= CRASH_CAPTURE_PROGRAM_ID_SIZE { id.removeLast() }
  return id.isEmpty ? "program" : String(id)
}

/// Tells this process from all others of the machine's run: its id, and the time of its start in the kernel's ticks since
/// that of the machine. A program that replaced itself has both from before. Nil without /proc.
func ownProcess() -> String? {
  guard let text = hint({ try InputFile("/proc/self/stat").text }),
    // The name of the program is in parentheses, and may contain some itself.
    let name = text.utf8.lastIndex(of: UInt8(ascii: ")"))
  else { return nil }
  let numbers = text[name...].split(separator: " ").dropFirst()
  // The fields are counted from 1, and that of the state behind the name is the third.
  guard let ticks = numbers.dropFirst(22 - 3).first else { return nil }
  return "\(getpid()):\(ticks)"
}
