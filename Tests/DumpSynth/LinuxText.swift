// SPDX-License-Identifier: Apache-2.0
/// The text that Breakpad copies from `/proc` and `/etc`, as it is there, and the auxiliary vector.
struct LinuxText {
  private let parameters: SynthMinidumpParameters
  private let process: MinidumpProcess

  init(_ parameters: SynthMinidumpParameters, _ process: MinidumpProcess) {
    self.parameters = parameters
    self.process = process
  }

  func bytes(_ stream: MinidumpStream) -> [UInt8] {
    switch stream {
    case .linuxCPUInfo:
      Array("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Synthetic CPU @ 3.60GHz\n\n".utf8)
    case .linuxProcStatus:
      Array(
        "Name:\texample\nState:\tR (running)\nPid:\t4200\nPPid:\t1\nThreads:\t\(process.threads.count)\n".utf8)
    case .linuxLSBRelease:
      Array("DISTRIB_ID=Debian\nDISTRIB_RELEASE=12\nDISTRIB_DESCRIPTION=\"Debian GNU/Linux 12\"\n".utf8)
    case .linuxCommandLine:
      Array("/usr/bin/example\0--verbose\0file name\0".utf8)
    case .linuxEnvironment:
      Array("HOME=/home/user\0LANG=C.UTF-8\0EMPTY=\0".utf8)
    case .linuxAuxiliaryVector:
      auxiliaryVector()
    case .linuxMaps:
      Array(maps().utf8)
    default:
      []
    }
  }

  /// Pairs of words: AT_PAGESZ 6, AT_PHDR 3, AT_ENTRY 9, AT_NULL 0.
  private func auxiliaryVector() -> [UInt8] {
    let base = process.modules.first?.base ?? 0x40_0000
    let values: [UInt64] = [6, 4096, 3, base + 64, 9, base + 0x1040, 0, 0]
    if parameters.processor.is64Bit { return Bytes.of(values) }
    return values.flatMap { Bytes.of(UInt32(truncatingIfNeeded: $0)) }
  }

  private func maps() -> String {
    var text = ""
    for module in process.modules {
      let end = module.base + UInt64(module.size)
      text += "\(hex(module.base))-\(hex(end)) r-xp 00000000 08:01 131072 \(module.path)\n"
    }
    for thread in process.threads {
      let end = thread.stackAddress + UInt64(thread.stackBytes)
      text += "\(hex(thread.stackAddress))-\(hex(end)) rw-p 00000000 00:00 0 [stack]\n"
    }
    return text
  }

  private func hex(_ value: UInt64) -> String {
    String(value, radix: 16)
  }
}
