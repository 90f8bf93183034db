// SPDX-License-Identifier: Apache-2.0
extension FirstRule {
  /// Code that is called from everywhere and crashes on what its caller hands it.
  static let runtimeRules: [FirstRule] = [
    FirstRule(
      .runtime, "objc-runtime",
      [
        "objc_msgSend*", "_objc_msgSend*", "objc_msgLookup*", "objc_retain*", "objc_release*", "_objc_release*",
        "_objc_retain*", "objc_autorelease*", "_objc_rootRelease*", "_objc_rootRetain*", "_objc_rootDealloc",
        "objc_store*", "objc_load*", "objc_destroy*", "objc_initWeak", "objc_copyWeak", "objc_moveWeak",
        "objc_setProperty*", "objc_getProperty*", "objc_opt_*", "objc_alloc*", "objc_destructInstance",
        "object_getClass", "object_dispose", "object_cxxDestruct*", "_object_*", "lookUpImpOrForward*", "cache_t::*",
        "objc_object::*", "AutoreleasePoolPage::*", "(anonymous)::AutoreleasePoolPage::*",
        "_objc_autoreleasePoolPop", "objc_autoreleasePool*", "-[NSObject dealloc]", "-[NSObject release]",
        "-[NSObject retain]", "_Block_*", "__Block_*",
        "-[NSObject performSelector*", "-[NSObject(*) performSelector*", "__NSArrayM_*", "CFRelease", "CFRetain",
        "_CFRelease", "_CFRetain", "_CFGetTypeID", "CFGetTypeID",
      ],
      "the runtime of Objective-C"),
    FirstRule(
      .runtime, "collections",
      [
        "-[__NS*", "+[__NS*", "-[NSArray objectAtIndex*", "-[NSMutable*", "-[NSDictionary *", "-[_NS*", "-[NSCF*",
        "-[NSPlaceholder*", "-[NSTagged*", "-[NSConstant*",
      ],
      "collections of Foundation, which check what their caller hands them"),
    FirstRule(
      .runtime, "swift-runtime",
      [
        "swift_retain*", "swift_release*", "_swift_release*", "_swift_retain*", "swift_bridgeObject*",
        "swift_unknownObject*", "swift_weak*", "swift_unowned*", "swift_dynamicCast*", "swift_alloc*",
        "swift_dealloc*", "swift_get*", "swift_init*", "swift_conformsTo*", "swift_once*", "swift_beginAccess*",
        "swift_endAccess*", "swift_slowAlloc*", "swift_slowDealloc*", "swift_arrayDestroy*", "swift_array*",
        "swift_as*", "swift_is*", "swift_check*", "swift_project*", "swift_deletedMethod*", "swift_setDeallocating*",
        "swift_nonatomic_*", "swift_stdlib_*", "_swift_stdlib_*", "swift::*", "doDecrementSlow*", "bool swift::*",
        "swift_cvw_*", "__swift_*", "_swift_*", "tryCast*", "_dynamicCast*", "AccessSet::*", "(anonymous)::*Access*",
      ],
      "the runtime of Swift"),
    FirstRule(
      .runtime, "swift-library",
      [
        "Array.*", "Array<T>.*", "ArraySlice.*", "ContiguousArray.*", "_ArrayBuffer.*", "_ContiguousArrayBuffer.*",
        "_SliceBuffer.*", "Dictionary.*", "_NativeDictionary.*", "Dictionary._Variant.*", "Set.*", "_NativeSet.*",
        "Optional.*", "String.*", "Substring.*", "_StringGuts.*", "Collection.*", "MutableCollection.*",
        "BidirectionalCollection.*", "RandomAccessCollection.*", "Sequence.*", "UnsafePointer.*",
        "UnsafeMutablePointer.*", "UnsafeRawPointer.*", "UnsafeMutableRawPointer.*",
        "UnsafeBufferPointer.*", "UnsafeMutableBufferPointer.*", "UnsafeRawBufferPointer.*", "Unmanaged.*", "Range.*",
        "ClosedRange.*", "FixedWidthInteger.*", "BinaryInteger.*", "Int.*", "UInt.*", "Int8.*", "Int16.*", "Int32.*",
        "Int64.*",
        "UInt8.*", "UInt16.*", "UInt32.*", "UInt64.*", "Double.*", "Float.*", "Character.*", "Unicode.*",
        "KeyedDecodingContainer.*", "ManagedBuffer.*", "AnyHashable.*", "AnyObject.*", "Data._Representation.*",
        "Swift.*", "withExtendedLifetime*", "withUnsafe*", "_allocateUninitializedArray*",
        "_finalizeUninitializedArray*", "_StringObject.*", "_bridge*", "_unconditionallyBridge*", "_arrayForceCast*",
        "_copyCollectionTo*",
        "*_unconditionallyBridgeFromObjectiveC*", "DispatchQueue.*", "OS_dispatch_queue.*",
      ],
      "the standard library of Swift"),
    FirstRule(
      .runtime, "swift-thunk",
      [
        "thunk", "reabstraction thunk", "outlined *", "partial apply", "value witness for *", "type metadata *",
        "destroy for *", "initializeWithCopy *", "assignWithCopy *", "assignWithTake *", "lazy protocol witness*",
        "associated type *",
      ],
      "code that Swift's compiler made between two functions"),
    FirstRule(
      .runtime, "memory-functions",
      [
        "memcpy", "memmove", "memset", "memcmp", "memchr", "memrchr", "memmem", "bcopy", "bzero", "bcmp", "__bzero",
        "__memcpy*", "__memmove*", "__memset*", "__memcmp*", "__memchr*", "__mempcpy*", "mempcpy*", "_platform_mem*",
        "_platform_bzero*",
        "rawmemchr", "__rawmemchr*", "wmem*", "__wmem*", "_memcpy*", "platform_mem*",
      ],
      "a function of memory, called with a bad pointer or length"),
    FirstRule(
      .runtime, "string-functions",
      [
        "strlen*", "strnlen*", "strcpy*", "strncpy*", "stpcpy*", "stpncpy*", "strcat*", "strncat*", "strcmp*",
        "strncmp*", "strcasecmp*", "strncasecmp*", "strchr*", "strchrnul*", "strrchr*", "strstr*", "strdup", "strndup",
        "__strdup*", "strtok*", "strspn*", "strcspn*", "strpbrk*",
        "__str*", "__stp*", "wcs*", "_platform_str*", "__wcs*", "strtol", "strtoll", "strtoul", "strtoull", "strtol_l",
        "____strto*",
        "__GI_____strto*", "atoi", "atol", "strlcpy*", "strlcat*",
      ],
      "a function of strings, called with a bad pointer"),
    FirstRule(
      .runtime, "allocator",
      [
        "malloc", "calloc", "realloc", "free", "cfree", "reallocarray", "memalign", "posix_memalign", "aligned_alloc",
        "valloc", "__libc_malloc*", "__libc_free*", "__libc_calloc*", "__libc_realloc*", "__GI___libc_*", "malloc_*",
        "szone_*", "nanov2_*", "_nano_*",
        "tcache_*", "sysmalloc*", "_mid_memalign*", "operator new*", "operator delete*", "je_*", "tc_malloc*",
        "tcmalloc::*", "mi_malloc*", "mi_free*", "mi_*alloc*", "__rust_alloc*", "__rust_dealloc*", "__rust_realloc*",
        "__rdl_*", "__rg_*", "__rustc::__r*", "_malloc_*", "find_zone_and_free", "arena_get*",
        "HeapAlloc", "HeapFree", "RtlAllocateHeap", "RtlFreeHeap", "RtlpHeap*",
      ],
      "the allocator"),
    FirstRule(
      .runtime, "c++-library",
      [
        "std::*", "__gnu_cxx::*", "__gnu_debug::*", "__cxa_*", "_Unwind_*", "__dynamic_cast*", "__gxx_*",
        "boost::shared_ptr*", "boost::intrusive_ptr*", "boost::detail::*", "absl::*_internal::*",
      ],
      "the standard library of C++ or Rust"),
    FirstRule(
      .runtime, "rust-library",
      [
        "core::*", "alloc::*", "<core::*", "<std::*", "<alloc::*", "<[*", "<str as *", "<&*", "<usize as *", "<u8 as *",
        "<u16 as *", "<u32 as *", "<u64 as *", "<i8 as *", "<i16 as *", "<i32 as *", "<i64 as *", "<isize as *",
        "<bool as *", "<char as *", "<() as *", "<T as *", "<I as *", "<F as *", "<U as *", "hashbrown::*",
        "<hashbrown::*", "compiler_builtins::*", "__rust_*", "__rustc::*", "backtrace::*", "gimli::*", "addr2line::*",
      ],
      "the standard library of Rust"),
    FirstRule(
      .runtime, "go-runtime",
      [
        "runtime.*", "runtime/*", "internal/*", "reflect.*", "sync.*", "sync/atomic.*", "syscall.*", "memeqbody",
        "cmpbody", "_cgo_*", "x_cgo_*", "crosscall*", "threadentry", "gogo", "aeshashbody",
      ],
      "the runtime of Go"),
    FirstRule(
      .runtime, "loader",
      [
        "_dl_*", "__dl_*", "__GI__dl_*", "dl_*", "__tls_get_addr*", "__vdso_*", "dyld_stub_binder",
        "_dl_runtime_resolve*", "_dl_catch_*", "dlopen*", "__dlopen*", "dlsym*",
      ],
      "the dynamic loader"),
    FirstRule(
      .runtime, "merged",
      [
        "<deduplicated_symbol>", "<redacted>", "<unknown>", "???", "??", "_OUTLINED_FUNCTION_*", "OUTLINED_FUNCTION_*",
        "_mh_execute_header", "__mh_execute_header", "<compiler-generated>", "swiftasync_*",
      ],
      "a name that stands for many functions"),
    FirstRule(
      .runtime, "system-call",
      [
        "syscall", "__syscall*", "__kernel_*", "__internal_syscall*", "INTERNAL_SYSCALL*", "__libc_siglongjmp",
        "siglongjmp", "longjmp", "_longjmp*", "__longjmp*", "KiFast*",
      ],
      "a system call"),
    FirstRule(
      .runtime, "dispatch-internals", ["_dispatch_*", "dispatch_*", "_os_object_*", "os_retain*", "os_release*"],
      "libdispatch, called with a bad object"),
    FirstRule(.runtime, "windows-system-call", ["Nt*", "Zw*", "Rtl*", "Ki*"], in: ["ntdll*"], "a system call"),
    FirstRule(
      .runtime, "apple-allocator",
      ["tiny_*", "small_*", "medium_*", "large_*", "free_*", "xzm_*", "rack_*"], in: ["libsystem_malloc*"],
      "the allocator"),
    FirstRule(
      .runtime, "objc-tables", ["class_*", "weak_*", "sidetable_*", "method_*"], in: ["libobjc*"],
      "the runtime of Objective-C"),
  ]

  /// Frames without a name in modules of which the name does not matter.
  static let moduleRules: [FirstRule] = [
    FirstRule(
      .runtime, "unnamed-runtime", [],
      in: [
        "libc.so*", "libc-2.*", "libc.musl*", "ld-linux*", "ld-2.*", "ld-musl*", "libm.so*", "libpthread*", "libdl.so*",
        "librt.so*", "libgcc_s*", "libstdc++*", "libc++*", "libswift*", "lib_FoundationICU.so*", "libdispatch*",
        "libBlocksRuntime*", "linux-vdso*", "linux-gate*", "vdso", "[vdso]", "libsystem_*", "libSystem*", "libobjc*",
        "libdyld*", "dyld", "dyld_sim", "CoreFoundation", "libunwind*", "libasan*", "libubsan*", "libtsan*", "ntdll*",
        "kernelbase*", "KERNELBASE*", "kernel32*", "KERNEL32*",
        "ucrtbase*", "vcruntime*", "VCRUNTIME*", "msvcrt*", "libcrashpad_handler.so*",
      ],
      "a frame without a name in a language's runtime or the C library")
  ]
}
