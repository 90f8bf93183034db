// SPDX-License-Identifier: Apache-2.0
/// The functions of systems that have no caller: those that start a program or a thread.
///
/// The name alone is no evidence where programs may have a function of that name; then the module's name has to fit too.
/// Sources: sysdeps/*/start.S, clone3.S and dl-machine.h of glibc, crt/ and src/thread of musl, dyld's startup, libpthread's start,
/// ntdll, and Go's src/runtime/asm_*.s and sys_linux_*.s.
enum OutermostFunction {
  private static let names: [String: [String]] = [
    // The prefixes of the names of modules without directories; none for names that are reserved for the system.
    "_start": [], "__start": [], "_dl_start_user": [], "_dyld_start": ["dyld"], "dyld_start": ["dyld"],
    "start": ["dyld", "libdyld.dylib"],
    "__clone": [], "__clone3": [], "__clone_internal": [], "__bionic_clone": [],
    "clone": ["libc.so", "libc-", "libpthread", "ld-musl"], "clone3": ["libc.so", "libc-", "libpthread"],
    "thread_start": ["libsystem_pthread", "libsystem_c"], "start_wqthread": ["libsystem_pthread", "libsystem_c"],
    "RtlUserThreadStart": ["ntdll"], "_RtlUserThreadStart": ["ntdll"], "__RtlUserThreadStart": ["ntdll"],
    "runtime.goexit": [], "runtime.goexit.abi0": [], "runtime.rt0_go": [], "runtime.rt0_go.abi0": [],
    "runtime.clone": [], "runtime.clone.abi0": [],
  ]

  /// - Parameters:
  ///   - name: the function's name as in the symbol table.
  ///   - module: the path or name of its module.
  static func isKnown(_ name: String, in module: String) -> Bool {
    guard let modules = names[name] else { return false }
    let file = module.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last?.lowercased() ?? ""
    return modules.isEmpty || modules.contains { file.hasPrefix($0) }
  }
}

/// The code with which the first function of a thread or program goes on once what it called returns: the system call `exit`.
/// C libraries without symbols are known by it. Behind the function of a context of makecontext(3), which nothing called, is
/// code that changes to the next context.
///
/// Sources: clone.S, clone3.S, start.S, makecontext.S and __start_context.S of glibc, the same of musl and bionic; the numbers of
/// system calls in the kernel's headers.
enum ExitCode {
  /// - Parameter code: returns the eight bytes at a distance from the return address; nil if unknown.
  static func isExit(
    _ architecture: FrameRegisters.Architecture, isThumb: Bool, _ code: (UInt64) -> UInt64?
  ) -> Bool {
    guard let first = code(0) else { return false }
    // Most code differs in its first byte.
    let found = patterns(architecture, isThumb: isThumb).filter { $0[0] == UInt8(truncatingIfNeeded: first) }
    return found.contains { pattern in
      pattern.indices.allSatisfy { index in
        guard let byte = pattern[index] else { return true }
        let word = index < 8 ? first : code(UInt64(index & ~7))
        return word.map { UInt8(truncatingIfNeeded: $0 >> UInt64(8 * (index & 7))) == byte } ?? false
      }
    }
  }

  /// A byte of nil is a part of a distance.
  private static func patterns(_ architecture: FrameRegisters.Architecture, isThumb: Bool) -> [[UInt8?]] {
    switch architecture {
    case .x86_64: intel64
    case .x86: intel32
    case .arm64: arm64
    case .arm: isThumb ? thumb : arm
    // li a7, 93; ecall
    case .riscv64: [[0x93, 0x08, 0xd0, 0x05, 0x73, 0x00, 0x00, 0x00]]
    // li.w a7, 93; syscall 0
    case .loongarch64: [[0x0b, 0x74, 0x81, 0x03, 0x00, 0x00, 0x2b, 0x00]]
    case .ppc64, .mips, .mips64: []
    }
  }

  private static let intel64: [[UInt8?]] = [
    // mov %rax or %eax, %rdi; mov $60, %eax; syscall
    [0x48, 0x89, 0xc7, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05], [0x89, 0xc7, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05],
    // mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall
    [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05],
    // mov %rbx, %rsp, the pointer to the next context; mov (%rsp), %rdi
    [0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24],
    // The same with a look at the shadow stack: testl $2, %fs:72
    [0x48, 0x89, 0xdc, 0x64, 0xf7, 0x04, 0x25, 0x48, 0, 0, 0, 2, 0, 0, 0],
  ]

  private static let intel32: [[UInt8?]] = [
    // mov %eax, %ebx; mov $1, %eax; int $0x80, or a call to the kernel's page
    [0x89, 0xc3, 0xb8, 1, 0, 0, 0, 0xcd, 0x80], [0x89, 0xc3, 0xb8, 1, 0, 0, 0, 0x65, 0xff, 0x15, 0x10, 0, 0, 0],
    // mov %eax, %ebx; xor %eax, %eax; inc %eax; int $0x80
    [0x89, 0xc3, 0x31, 0xc0, 0x40, 0xcd, 0x80],
    // lea (%esp, %ebx, 4), %esp; cmpl $0, (%esp)
    [0x8d, 0x24, 0x9c, 0x83, 0x3c, 0x24, 0],
  ]

  private static let arm64: [[UInt8?]] = [
    // mov x8, #93; svc #0
    [0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4],
    // mov x0, x19; cbnz x0
    [0xe0, 0x03, 0x13, 0xaa, nil, nil, nil, 0xb5],
  ]

  private static let arm: [[UInt8?]] = [
    // mov r7, #1; svc 0
    [0x01, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef],
    // movs r0, r4; bne
    [0x04, 0x00, 0xb0, 0xe1, nil, nil, nil, 0x1a],
  ]

  private static let thumb: [[UInt8?]] = [
    // mov.w r7, #1; svc 0. movs r7, #1; svc 0
    [0x4f, 0xf0, 0x01, 0x07, 0x00, 0xdf], [0x01, 0x27, 0x00, 0xdf],
  ]
}
