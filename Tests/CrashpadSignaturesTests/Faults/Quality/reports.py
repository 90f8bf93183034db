# SPDX-License-Identifier: Apache-2.0
"""Reports as Apple's systems write them, from a seed: a fault's own functions, and above and below them the frames that
systems, builds and engines put there."""
import json
import uuid

from words import LIKE_CXX, LIKE_OBJC, LIKE_SWIFT, Names

SYSTEM = "/System/Library/"
PLACES = {
    "UIKitCore": SYSTEM + "PrivateFrameworks/UIKitCore.framework/UIKitCore", "CoreFoundation": SYSTEM + "Frameworks/CoreFoundation.framework/CoreFoundation",
    "Foundation": SYSTEM + "Frameworks/Foundation.framework/Foundation", "GraphicsServices": SYSTEM + "PrivateFrameworks/GraphicsServices.framework/GraphicsServices",
    "dyld": "/usr/lib/dyld", "libobjc.A.dylib": "/usr/lib/libobjc.A.dylib", "libc++abi.dylib": "/usr/lib/libc++abi.dylib",
    "libswiftCore.dylib": "/usr/lib/swift/libswiftCore.dylib",
    **{n: "/usr/lib/system/" + n for n in ("libsystem_kernel.dylib", "libsystem_pthread.dylib", "libsystem_c.dylib", "libsystem_platform.dylib",
        "libdispatch.dylib", "libsystem_malloc.dylib")},
}
ENGINES = ("Flutter", "UnityFramework", "hermes", "React")

EVENT = [("UIKitCore", "-[UIApplication sendAction:to:from:forEvent:]"), ("UIKitCore", "-[UIControl sendAction:to:forEvent:]"),
         ("UIKitCore", "-[UIControl _sendActionsForEvents:withEvent:]"), ("UIKitCore", "-[UIWindow sendEvent:]")]
LOOP = [("CoreFoundation", "__CFRunLoopRun"), ("CoreFoundation", "CFRunLoopRunSpecific"), ("GraphicsServices", "GSEventRunModal"),
        ("UIKitCore", "-[UIApplication _run]"), ("UIKitCore", "UIApplicationMain"), ("App", "main"), ("dyld", "start")]
MAIN = [EVENT + LOOP, EVENT[:1] + EVENT[2:] + [("CoreFoundation", "__CFRunLoopDoSources0")] + LOOP,
        [("libdispatch.dylib", "_dispatch_call_block_and_release"), ("libdispatch.dylib", "_dispatch_client_callout"),
         ("libdispatch.dylib", "_dispatch_main_queue_drain"), ("CoreFoundation", "__CFRUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE__")] + LOOP]
SWIZZLER = [("App", "__44-[SentrySwizzleWrapper swizzleSendAction:forKey:]_block_invoke_2")]
ABORT = [[("libsystem_kernel.dylib", "__pthread_kill"), ("libsystem_pthread.dylib", "pthread_kill"), ("libsystem_c.dylib", "abort")],
         [("libsystem_kernel.dylib", "__pthread_kill"), ("libsystem_c.dylib", "__abort"), ("libsystem_c.dylib", "abort")]]
THROW = [[("CoreFoundation", "__exceptionPreprocess"), ("libobjc.A.dylib", "objc_exception_throw")],
         [("CoreFoundation", "__exceptionPreprocess"), ("libobjc.A.dylib", "objc_exception_throw"), ("CoreFoundation", "-[NSException raise]")]]
ARRAY = [("CoreFoundation", "-[__NSArrayM objectAtIndex:]"), ("CoreFoundation", "-[__NSArrayI objectAtIndexedSubscript:]")]
OBJECT = [[("libobjc.A.dylib", "objc_msgSend")], [("libobjc.A.dylib", "objc_release")], [("libobjc.A.dylib", "objc_retain")],
          [("libobjc.A.dylib", "lookUpImpOrForward"), ("libobjc.A.dylib", "_objc_msgSend_uncached")]]
COUNTS = [[("libswiftCore.dylib", "swift_release")], [("libswiftCore.dylib", "swift_retain")], [("libswiftCore.dylib", "_swift_release_dealloc")]]
FATAL = [[("libswiftCore.dylib", "_assertionFailure(_:_:file:line:flags:)")],
         [("libswiftCore.dylib", "_swift_runtime_on_report"), ("libswiftCore.dylib", "_swift_stdlib_reportFatalErrorInFile"),
          ("libswiftCore.dylib", "_assertionFailure(_:_:file:line:flags:)")]]
BOUNDS = [[("libswiftCore.dylib", "specialized Array._checkSubscript(_:wasNativeTypeChecked:)")],
          [("App", "specialized Array.subscript.getter")], []]
MALLOC = [[("App", "arena_dalloc_bin_locked_impl"), ("App", "je_arena_dalloc_small"), ("App", "free")],
          [("App", "_mi_page_free_collect"), ("App", "mi_free"), ("App", "free")], [("libsystem_platform.dylib", "_platform_memset"), ("libsystem_malloc.dylib", "free")]]
SELECTOR = [("CoreFoundation", "_CF_forwarding_prep_0"), ("CoreFoundation", "___forwarding___"), ("CoreFoundation", "-[NSObject(NSObject) doesNotRecognizeSelector:]")][::-1]
CHECKED = [("Foundation", "-[NSAssertionHandler handleFailureInMethod:object:file:lineNumber:description:]")]
# What a thread that is busy does at one moment or another.
BUSY = [[("libsystem_kernel.dylib", "pread")], [("libsystem_kernel.dylib", "fsync")], [("libobjc.A.dylib", "objc_retain")], [("libsystem_platform.dylib", "_platform_memmove")],
        [("libsystem_malloc.dylib", "tiny_malloc_from_free_list"), ("libsystem_malloc.dylib", "szone_malloc_should_clear"), ("libsystem_malloc.dylib", "_malloc_zone_malloc")]]
COPY = [[("libsystem_platform.dylib", "_platform_memmove")], [("libsystem_platform.dylib", "_platform_strlen")]]

ACCESS, TRAP, QUIT, HANG = "EXC_BAD_ACCESS", "EXC_BREAKPOINT", "EXC_CRASH", "hang"


class Case:
    """One fault: what stands above it, its own functions, and the kind of the exception."""

    def __init__(self, label, own, tops, kind, address=0x10, message=None, exception=False):
        self.label, self.own, self.tops, self.kind = label, own, tops, kind
        self.address, self.message, self.exception = address, message, exception


def app(*names):
    return [("App", name) for name in names]


def objective_c(r, n):
    for _ in range(6):
        owner = n.fresh(lambda: (r.choice(LIKE_OBJC) if r.random() < 0.4 else "") + n.type())
        other = n.type()
        one, two = n.camel(), n.camel()
        kind = r.choice("array array selector check hang object copy abort block blocks pair".split())
        caller = f"-[{other} {two}:]"
        if kind == "pair":
            # Two faults under one caller, called by a class that is named as an SDK's.
            for method in (n.camel(), n.camel()):
                yield Case(f"pair-{owner}-{method}", app(f"-[{n.type()} {method}]", f"-[{owner} {one}]", caller), [[]], r.choice((ACCESS, QUIT)))
        elif kind == "array":
            yield Case(f"array-{owner}", app(f"-[{owner} {one}:]", caller), [top + [r.choice(ARRAY)] for top in THROW], QUIT,
                       message="*** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3 beyond bounds'", exception=True)
        elif kind in ("selector", "check"):
            yield Case(f"{kind}-{owner}", app(f"-[{owner} {one}]", caller), [top + (SELECTOR if kind == "selector" else CHECKED) for top in THROW], QUIT,
                       message="*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: 'not allowed'", exception=True)
        elif kind == "hang":
            yield Case(f"hang-{owner}", app(f"-[{owner} {one}]", caller), BUSY, HANG)
        elif kind == "blocks":
            # Two blocks of one method.
            for block in ("_block_invoke", "_block_invoke_2"):
                yield Case(f"blocks-{owner}-{block}", app(f"__{len(owner) + 9}-[{owner} {one}]{block}", caller), OBJECT, ACCESS, address=None)
        elif kind == "object":
            yield Case(f"object-{owner}", app(f"-[{owner} {one}]", caller), OBJECT, ACCESS, address=None)
        elif kind == "copy":
            yield Case(f"copy-{owner}", app(f"-[{owner} {one}]", caller), COPY, ACCESS, address=0x7ffff0000)
        elif kind == "abort":
            yield Case(f"abort-{owner}", app(f"-[{owner} {one}]", caller), ABORT, QUIT)
        else:
            yield Case(f"block-{owner}", app(f"__{len(owner) + 9}-[{owner} {one}]_block_invoke", caller), OBJECT, ACCESS, address=None)


def swift(r, n):
    for _ in range(5):
        owner = n.type(LIKE_SWIFT, 0.4)
        caller = f"{n.type()}.{n.camel()}()"
        kind = r.choice("bounds fatal nil count closures wrapper methods extension hang async".split())
        method = n.camel()
        if kind == "closures":
            for number in (1, 2):
                yield Case(f"closure-{owner}-{method}-{number}", app(f"closure #{number} in {owner}.{method}(_:)", f"{owner}.{method}(_:)", caller), BOUNDS + FATAL, TRAP)
        elif kind == "wrapper":
            wrapper = r.choice(("unreachable(_:file:line:)", "check(_:_:file:line:)", "mustNotHappen(file:line:)"))
            for _ in range(2):
                yield Case(f"wrapper-{owner}-{n.camel()}", app(wrapper, f"{owner}.{n.camel()}()", caller), FATAL, TRAP)
        elif kind == "methods":
            for _ in range(2):
                yield Case(f"method-{owner}-{len(n.used)}", app(f"{owner}.{n.camel()}(_:)", caller), [[], *FATAL], TRAP)
        elif kind == "extension":
            for _ in range(2):
                yield Case(f"extension-{len(n.used)}", app(f"{r.choice(('Array', 'Dictionary', 'String', 'Collection'))}.{n.camel()}(into:)", caller), [[]], TRAP)
        elif kind == "hang":
            yield Case(f"hang-{owner}", app(f"{owner}.{method}()", caller), BUSY, HANG)
        elif kind == "async":
            parts = [app(f"({number}) {word} resume partial function for {owner}.{method}()") for number, word in ((1, "suspend"), (2, "await"), (3, "suspend"))]
            yield Case(f"async-{owner}", app(caller), [top + part for top in FATAL for part in parts], TRAP)
        elif kind == "count":
            yield Case(f"count-{owner}", app(f"{owner}.{method}()", caller), COUNTS, ACCESS, address=None)
        else:
            yield Case(f"{kind}-{owner}", app(f"{owner}.{method}(_:)", caller), BOUNDS if kind == "bounds" else FATAL, TRAP)


def cxx(r, n):
    space = r.choice(LIKE_CXX)
    for _ in range(4):
        owner, caller = n.type(), f"{n.type()}::{n.camel()}()"
        kind = r.choice("space overload lambda allocator macro pointer wrapper throw".split())
        if kind == "space":
            for _ in range(2):
                yield Case(f"space-{len(n.used)}", app(f"{space}{owner}::{n.camel()}(int)", caller), [[]] + COPY, ACCESS)
        elif kind == "overload":
            name = f"{owner}::{n.camel()}"
            for types in ("(int)", "(std::string const&)"):
                yield Case(f"overload-{name}-{types}", app(name + types, caller), [[]], ACCESS)
        elif kind == "lambda":
            name = f"{owner}::{n.camel()}()"
            for number in (0, 1):
                yield Case(f"lambda-{name}-{number}", app(f"{name}::$_{number}::operator()() const", caller), [[]] + COPY, ACCESS)
        elif kind == "allocator":
            yield Case(f"allocator-{owner}", app(f"{owner}::~{owner}()", caller), MALLOC, ACCESS, address=0x7ffff0000)
        elif kind == "macro":
            for _ in range(2):
                yield Case(f"macro-{len(n.used)}", app(f"{owner}::{n.camel()}()", caller),
                           [top + app("google::LogMessage::Fail()", "google::LogMessage::SendToLog()", "google::LogMessage::Flush()", "google::LogMessageFatal::~LogMessageFatal()") for top in ABORT], QUIT)
        elif kind == "pointer":
            for _ in range(2):
                yield Case(f"pointer-{len(n.used)}", app(f"{owner}::{n.camel()}()", caller), [app("RefPtr<Doc>::operator->() const"), app("nsCOMPtr_base::~nsCOMPtr_base()")], ACCESS)
        elif kind == "wrapper":
            wrapper = r.choice(("GameAssertFailed(char const*, int)", "stop(char const*)", "base::Panic(int)"))
            for _ in range(2):
                yield Case(f"wrapper-{len(n.used)}", app(wrapper, f"{owner}::{n.camel()}()", caller), ABORT, QUIT)
        else:
            yield Case(f"throw-{owner}", app(f"{owner}::{n.camel()}()", caller),
                       [top + [("libc++abi.dylib", "demangling_terminate_handler()"), ("App", "CrashReporter::onTerminate()"), ("libc++abi.dylib", "std::__terminate(void (*)())"), ("libc++abi.dylib", "__cxa_throw")] for top in ABORT], QUIT)


def flutter(r, n):
    for _ in range(3):
        one = n.camel()
        number = r.randrange(1000, 9999)
        yield Case(f"dart-{one}", [("App.framework", f"Precompiled_{n.type()}_{one}_§")] + [("App.framework", f"Precompiled_{n.type()}_{n.camel()}_§")],
                   [[("Flutter", None)], [("Flutter", None), ("Flutter", None)], []], ACCESS)


def unity(r, n):
    for _ in range(3):
        owner, one = n.type(), n.camel()
        suffix = "".join(r.choice("0123456789ABCDEF") for _ in range(40))
        # Its own code has no names, and calls of its interface have those of what binds them.
        engine = [[("UnityFramework", None)] * 2, [("UnityFramework", None)] * 3]
        raises = [[("UnityFramework", "il2cpp_codegen_raise_exception"), ("UnityFramework", "il2cpp::vm::Exception::Raise(Il2CppException*, MethodInfo*)")][::-1]]
        yield Case(f"unity-{owner}", [("UnityFramework", f"{owner}_{one}_m{suffix}"), ("UnityFramework", f"{n.type()}_Update_m{suffix[::-1]}")],
                   *r.choice((([[]], ACCESS), (engine, ACCESS), (engine, ACCESS), ([top + raises[0] for top in ABORT], QUIT))))


def react(r, n):
    for _ in range(3):
        name, function = r.choice(("TypeError", "RangeError", "ReferenceError")), n.camel()
        yield Case(f"js-{function}", app("RCTFatal", "-[RCTExceptionsManager reportFatal:stack:exceptionId:extraDataAsJSON:]", "-[RCTModuleMethod invokeWithBridge:module:arguments:]"),
                   THROW, QUIT, exception=True,
                   message=f"*** Terminating app due to uncaught exception 'RCTFatalException: Unhandled JS Exception: {name}: undefined is not an object (evaluating 'a.§')', reason: 'Unhandled JS Exception: {name}: undefined is not an object, stack:\n{function}@§:2345\nvalue@12:34\n'")


def form(r, language, name):
    """The name as one build or another has it: compilers specialize functions, merge them, and move parts of them."""
    if r.random() < 0.6:
        return name
    if "_block_invoke" in name:
        return name + r.choice((f".{r.randrange(2, 300)}", ".cold.1", f".{r.randrange(2, 300)}.cold.1"))
    if language == "Objective-C":
        return name + ".cold.1"
    if language == "Swift report":
        if name.startswith("closure #"):
            return r.choice(("partial apply for ", "specialized ")) + name
        return r.choice(("specialized ", "merged ", "@objc ")) + name if name[0] != "(" else name
    if language == "C++ report":
        return name + r.choice((" (.cold.1)", " [clone .isra.0]", " (.llvm.1234567890123)", " [clone .constprop.0]"))
    return name


LANGUAGES = {"Objective-C": objective_c, "Swift report": swift, "C++ report": cxx, "Flutter": flutter, "Unity": unity, "React Native": react}


def write(r, folder, languages, programs):
    """Yields (file, program, fault, language) of reports: three programs of each kind, three builds of each fault."""
    for language, make in LANGUAGES.items():
        if languages and language not in languages:
            continue
        for number in range(programs):
            names = Names(r)
            program = f"{language.replace(' ', '').replace('+', 'x')}{number}"
            for index, case in enumerate(make(r, names)):
                for build in range(3):
                    path = f"{folder}/{program}-{index}-{build}.ips"
                    with open(path, "w") as file:
                        file.write(report(r, program, case, build, language))
                    yield path, program, case.label, language


def report(r, program, case, build, language):
    bundle = f"/private/var/containers/Bundle/Application/{uuid.UUID(int=r.getrandbits(128))}/{program}.app/"
    places = dict(PLACES, App=bundle + program, **{"App.framework": bundle + "Frameworks/App.framework/App"},
                  **{name: f"{bundle}Frameworks/{name}.framework/{name}" for name in ENGINES})
    tops = r.choice(case.tops)
    bottom = (SWIZZLER if r.random() < 0.3 and case.own[0][0] == "App" else []) + r.choice(MAIN)
    frames = list(tops) + [(image, form(r, language, name) if name else name) for image, name in case.own] + bottom
    images, numbers = [], {}
    lines = []
    for index, (image, name) in enumerate(frames):
        if image not in numbers:
            numbers[image] = len(images)
            images.append({"base": 0x100000000 + 0x4000000 * len(images), "size": 0x1000000, "uuid": str(uuid.UUID(int=r.getrandbits(128))),
                           "path": places[image], "name": places[image].rsplit("/", 1)[1], "arch": "arm64", "source": "P"})
        line = {"imageIndex": numbers[image], "imageOffset": r.randrange(0x1000, 0xff0000)}
        if name:
            line["symbol"], line["symbolLocation"] = name.replace("§", str(r.randrange(1, 99999))), r.randrange(4, 200)
        lines.append(line)
    address = case.address if case.address is not None else r.choice((0x8, 0x10, 0x7fff12345678, 0x2000000018))
    exception = {
        ACCESS: {"type": ACCESS, "signal": "SIGSEGV", "codes": f"0x1, {address:#x}", "rawCodes": [1, address], "subtype": f"KERN_INVALID_ADDRESS at {address:#018x}"},
        TRAP: {"type": TRAP, "signal": "SIGTRAP", "codes": "0x1, 0x0", "rawCodes": [1, 0]},
        QUIT: {"type": QUIT, "signal": "SIGABRT", "codes": "0x0, 0x0", "rawCodes": [0, 0]},
        HANG: {"type": QUIT, "signal": "SIGKILL", "codes": "0x0, 0x0", "rawCodes": [0, 0]},
    }[case.kind]
    body = {"procName": program, "procPath": places["App"], "pid": r.randrange(200, 9000), "cpuType": "ARM-64", "modelCode": r.choice(("iPhone15,2", "iPhone14,5", "iPad13,1")),
            "captureTime": f"2026-03-{1 + r.randrange(28):02} 15:09:{r.randrange(60):02}.0000 +0100", "incident": str(uuid.UUID(int=r.getrandbits(128))).upper(),
            "bundleInfo": {"CFBundleShortVersionString": f"1.{build}", "CFBundleVersion": str(100 + build), "CFBundleIdentifier": "com.example." + program},
            "osVersion": {"train": r.choice(("iPhone OS 17.5.1", "iPhone OS 18.4.1")), "build": "22E240"},
            "exception": exception, "faultingThread": 0, "usedImages": images}
    if case.exception:
        body["lastExceptionBacktrace"] = lines
        body["threads"] = [{"triggered": True, "id": 1, "frames": [dict(lines[-1])]}]
    else:
        body["threads"] = [{"triggered": True, "id": 1, "frames": lines}]
    if case.kind == HANG:
        body["termination"] = {"namespace": "FRONTBOARD", "code": 0x8badf00d, "flags": 6, "indicator": "<RBSTerminateContext| domain:10 code:0x8BADF00D>",
                               "reasons": ["scene-update watchdog transgression: app exhausted real (wall clock) time allowance of 10.00 seconds"]}
    if case.message:
        body["asi"] = {"CoreFoundation": [case.message.replace("§", str(r.randrange(9, 99999)))]}
    head = {"app_name": program, "timestamp": body["captureTime"], "app_version": f"1.{build}", "bug_type": "309", "os_version": body["osVersion"]["train"],
            "incident_id": body["incident"], "bundleID": "com.example." + program}
    return json.dumps(head) + "\n" + json.dumps(body)
