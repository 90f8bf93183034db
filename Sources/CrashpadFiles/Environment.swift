// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// Variables of this process's environment. One that is empty counts as one that is not set.
package enum Environment {
  package static func text(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }

  /// Byte for byte.
  package static func path(_ name: String) -> FilePath? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe FilePath(platformString: value)
  }
}
