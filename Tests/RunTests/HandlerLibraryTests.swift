// SPDX-License-Identifier: Apache-2.0
import CrashpadSupervision
import Testing

@Suite("The handler's library fits the C library")
struct HandlerLibraryTests {
  @Test(
    "Before glibc 2.34 the library for older ones comes first",
    arguments: [("glibc 2.31", true), ("glibc 2.33", true), ("glibc 2.34", false), ("glibc 2.36", false)])
  func names(_ libc: String, _ isOlder: Bool) {
    let names = HandlerLibrary.fileNames(libc: libc)
    #expect(names.first == (isOlder ? HandlerLibrary.olderFileName : HandlerLibrary.fileName))
    #expect(names.last == HandlerLibrary.fileName)
  }

  @Test(
    "A C library that is not known gets the usual one", arguments: [nil, "", "musl 1.2.5", "glibc 3.1", "glibc 2."])
  func unknown(_ libc: String?) {
    #expect(HandlerLibrary.fileNames(libc: libc) == [HandlerLibrary.fileName])
  }
}
