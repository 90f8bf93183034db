// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The kernel's codes as spelled in reports.
enum TextCodes {
  /// kern_return_t and the codes of the processors, from XNU's osfmk/mach/kern_return.h and
  /// exception.h in mach/arm and mach/i386.
  private static let names: [String: UInt64] = [
    "KERN_INVALID_ADDRESS": 1, "KERN_PROTECTION_FAILURE": 2, "KERN_NO_SPACE": 3, "KERN_INVALID_ARGUMENT": 4,
    "KERN_FAILURE": 5, "KERN_RESOURCE_SHORTAGE": 6, "KERN_NO_ACCESS": 8, "KERN_MEMORY_FAILURE": 9,
    "KERN_MEMORY_ERROR": 10, "KERN_ABORTED": 14, "KERN_CODESIGN_ERROR": 50, "KERN_DENIED": 53,
    "EXC_ARM_DA_ALIGN": 0x101, "EXC_ARM_DA_DEBUG": 0x102, "EXC_ARM_SP_ALIGN": 0x103, "EXC_ARM_SWP": 0x104,
    "EXC_ARM_PAC_FAIL": 0x105, "EXC_ARM_BREAKPOINT": 1, "EXC_ARM_UNDEFINED": 1, "EXC_I386_GPFLT": 13,
    "EXC_I386_INVOP": 1, "EXC_I386_BPT": 2, "EXC_I386_SGL": 1, "EXC_I386_DIV": 1, "EXC_I386_ALIGNFLT": 17,
    "BUS_ADRALN": 1, "BUS_ADRERR": 2, "BUS_OBJERR": 3, "SEGV_MAPERR": 1, "SEGV_ACCERR": 2, "SEGV_NOOP": 0,
    "BUS_NOOP": 0,
  ]

  static func code(named name: String) -> UInt64? { names[name] }

  /// Parses "0x0000000000000001, 0x000000011ecc5adc", "KERN_INVALID_ADDRESS at 0x18",
  /// "UNKNOWN_0x32 at 0x10"; nil for other text.
  static func of(_ text: String?) -> [UInt64]? {
    guard let text else { return nil }
    var rest = Array(text.utf8)[...]
    if rest.first.map({ (0x30...0x39).contains($0) }) == true { return ReportBuilder.codes(text) }
    let name = rest.takeWord()
    guard let code = names[name.string] ?? unknown(name) else { return nil }
    // Up to Mac OS X 10.4 the number stands behind it: "KERN_INVALID_ADDRESS (0x0001) at 0x18".
    if rest.trimmed.has(prefix: "(0x") { _ = rest.takeWord() }
    guard rest.takeWord().equals("at"), let address = rest.takeWord().number else {
      // The codes of processors have no address.
      return name.has(prefix: "EXC_") ? [code, 0] : [code]
    }
    return [code, address]
  }

  /// The flavors of a guarded descriptor, from XNU's bsd/sys/guarded.h.
  private static let descriptorFlavors: [String: UInt64] = [
    "CLOSE": 1, "DUP": 2, "NOCLOEXEC": 4, "SOCKET_IPC": 8, "FILEPORT": 16, "MISMATCH": 32, "WRITE": 64,
  ]

  /// The code words of "GUARD_TYPE_FD" and "CLOSE on file descriptor 14 (guarded with 0x08fd4dbfade2dead)", as the kernel
  /// packs them; nil for other guards.
  static func ofGuard(_ subtype: String?, _ message: String?) -> [UInt64]? {
    guard let subtype, subtype.hasPrefix("GUARD_TYPE_FD"), let message else { return nil }
    var rest = Array(message.utf8)[...]
    guard let flavor = descriptorFlavors[rest.takeWord().string], rest.takeWord().equals("on"),
      rest.takeWord().equals("file"), rest.takeWord().equals("descriptor"), let number = rest.takeWord().decimal
    else { return nil }
    let guardWord = message.firstRange(of: "guarded with ").flatMap { range in
      Array(message[range.upperBound...].utf8)[...].filter { $0 != UInt8(ascii: ")") }[...].trimmed.number
    }
    return [2 << 61 | flavor << 32 | UInt64(UInt32(truncatingIfNeeded: number)), guardWord ?? 0]
  }

  /// The one exception whose codes have the names of a text; nil for another text.
  static func type(of text: String?) -> String? {
    guard let text else { return nil }
    let types = [("KERN_", "EXC_BAD_ACCESS"), ("SEGV_", "SIGSEGV"), ("BUS_", "SIGBUS")]
    return types.first { names[String(text.prefix { $0 != " " })] != nil && text.hasPrefix($0.0) }?.1
  }

  private static func unknown(_ name: TextBytes) -> UInt64? {
    name.has(prefix: "UNKNOWN_") ? name.dropFirst(8).number : nil
  }
}
