// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@Suite("Names of files in paths")
struct PathNameTests {
  @Test(arguments: [
    ("/usr/lib/libc.so.6", "libc.so.6"), ("app", "app"), ("/a/b/", "b"), ("/", "/"), ("", ""), ("/a\\b", "a\\b"),
    ("C:\\Windows\\ntdll.dll", "ntdll.dll"), ("\\SystemRoot\\System32\\ntdll.dll", "ntdll.dll"),
    ("bin\\shop.pdb", "shop.pdb"), ("d:\\b/c\\shop.pdb", "shop.pdb"), ("\\\\server\\share\\", "share"),
  ])
  func `The last component is that of either system`(path: String, name: String) {
    #expect(lastPathComponent(path) == name)
  }
}
