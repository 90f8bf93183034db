import BinaryFormat
import CLinux
import FileSystem
import Glibc
import Symbolication
import SystemPackage

/// An ELF file: a symbol file is made of it, which has to be one that is read without a complaint.
///
/// libelf and libdw are not compiled for fuzzing: what happens in them is not followed, but a crash ends the run too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  guard size > 64 else { return -1 }
  let descriptor = unsafe memfd_create("elf", 1 /* MFD_CLOEXEC */)
  guard descriptor >= 0 else { return 0 }
  defer { _ = close(descriptor) }
  guard unsafe write(descriptor, data, size) == size else { return 0 }
  guard let source = try? SymSource(FilePath("/proc/self/fd/\(descriptor)"), name: "a") else { return 0 }
  let output = MemoryOutput()
  _ = try! SymWriter.write(source, SymWriter.Options(), to: output)
  let file = try! SymFile(InputFile(bytes: output.bytes))
  precondition(file.findings.findings.isEmpty)
  return 0
}
