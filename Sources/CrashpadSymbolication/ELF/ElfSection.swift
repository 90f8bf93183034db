// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils

/// One section with its header.
@safe
struct ElfSection {
  let index: Int
  let handle: OpaquePointer
  let header: GElf_Shdr
  let name: String

  var address: UInt64 { header.sh_addr }
}
