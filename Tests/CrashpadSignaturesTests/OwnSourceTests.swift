// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

@Suite("Source files of the application")
struct OwnSourceTests {
  @Test(arguments: [
    "src/gear.cc", "/home/x/wheel/gear.c", "gear.cpp", "./src/main.rs", "C:\\wheel\\gear.cpp", "/app/main.go",
    "/workspace/lib/gear.c", "/home/x/my wheel/gear.m",
  ])
  func `Files of a project are the program's own`(_ path: String) {
    #expect(OwnSources.contains(path))
  }

  @Test(arguments: [
    "../sysdeps/unix/syscall-template.S", "./nptl/pthread_kill.c", "raise.c", "/rustc/0011/library/core/src/option.rs",
    "/usr/local/go/src/net/http/server.go", "/usr/include/c++/13/bits/stl_vector.h", "library/std/src/panicking.rs",
    "../../../../src/libsanitizer/asan/asan_malloc_linux.cpp", "/llvm/compiler-rt/lib/asan/asan_new_delete.cc",
    "/usr/lib/python3.11/threading.py", "/x/venv/lib/python3.11/site-packages/wheel/gear.py", "<frozen importlib>",
    "/home/x/.cargo/registry/src/gear/lib.rs", "/home/x/go/pkg/mod/example.org/gear@v1/gear.go", "",
  ])
  func `Files of libraries are not`(_ path: String) {
    #expect(!OwnSources.contains(path))
  }
}
