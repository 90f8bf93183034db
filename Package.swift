// swift-tools-version: 6.2
import PackageDescription

// Imports only ever point to a lower floor. What each target is, in one sentence: see "The house plan" in README.md.
let package = Package(
  name: "crashpadctl",
  products: [
    .executable(name: "crashpadctl", targets: ["crashpadctl"]),
    .library(
      name: "CrashpadCore",
      targets: ["CrashDatabase", "CrashUpload", "CrashpadCore", "Redaction", "Snapshot"]),
    // Names and stacks; the only library that links libelf and the demanglers.
    .library(name: "CrashpadSymbols", targets: ["CrashpadSymbols"]),
    .library(name: "CrashpadClient", targets: ["CrashpadClient"]),
    // For programs in C and C++, with Sources/CrashpadClient/include/crashpad_client.h.
    .library(name: "crashpad_client", type: .dynamic, targets: ["CrashpadClient"]),
    // Loaded into the tool by tests that let its calls fail; no target may depend on it.
    .library(name: "FaultInjection", type: .dynamic, targets: ["FaultInjection"]),
    // The same for inputs at which the tool ends.
    .library(name: "Poison", type: .dynamic, targets: ["Poison"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
  ],
  targets: [
    // Floor 0
    .systemLibrary(name: "CLinux"),
    // Reads the container of ELF files: relocations, symbols and notes of every machine.
    .systemLibrary(name: "CElfutils", providers: [.apt(["libelf-dev"])]),
    // zstd and xz, each only where a file needs it: neither has to be installed.
    .target(name: "CUnpack"),
    // Instructions as text, for pages: the library is loaded where it is installed.
    .target(name: "CCapstone"),
    .target(name: "CDemangle", linkerSettings: [.linkedLibrary("stdc++")]),
    .systemLibrary(name: "CCurl"),
    .target(name: "CArguments"),
    .systemLibrary(name: "CGzip"),
    // SQLite itself, for the index of `group`: linked in where its archive is, else loaded by that option alone.
    .target(name: "CSQLite"),
    .target(name: "CCrashCapture"),
    .target(name: "BinaryFormat"),
    .target(name: "Snapshot"),
    .target(name: "JSONFormat"),
    .target(
      name: "FileSystem", dependencies: ["CLinux", "CUnpack", .product(name: "SystemPackage", package: "swift-system")]),
    // Floor 1
    .target(name: "IntermediateDump", dependencies: ["BinaryFormat", "JSONFormat"]),
    .target(
      name: "CrashDatabase",
      dependencies: [
        "BinaryFormat", "FileSystem", "Snapshot", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "Supervision",
      dependencies: ["CLinux", "FileSystem", "Snapshot", .product(name: "SystemPackage", package: "swift-system")]),
    .target(
      name: "CrashCapture",
      dependencies: ["CCrashCapture", "Snapshot", .product(name: "SystemPackage", package: "swift-system")]),
    // Floor 1, with no more than bytes and the snapshot below it: every command explains codes.
    .target(name: "Meaning", dependencies: ["BinaryFormat", "Snapshot"]),
    // Floor 2
    .target(name: "DumpInterpretation", dependencies: ["BinaryFormat", "IntermediateDump", "Snapshot"]),
    .target(name: "Minidump", dependencies: ["BinaryFormat", "Snapshot"]),
    .target(name: "CoreFile", dependencies: ["BinaryFormat", "Snapshot"]),
    .target(name: "AppleReports", dependencies: ["BinaryFormat", "JSONFormat", "Snapshot"]),
    .target(
      name: "Symbolication",
      dependencies: [
        "BinaryFormat", "CCapstone", "CDemangle", "CElfutils", "CLinux", "CUnpack", "FileSystem", "Snapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Floor 3
    .target(
      name: "CrashpadCore",
      dependencies: [
        "AppleReports", "BinaryFormat", "CoreFile", "CrashDatabase", "DumpInterpretation", "FileSystem",
        "IntermediateDump",
        "JSONFormat", "Minidump", "Snapshot", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "Signatures",
      dependencies: [
        "BinaryFormat", "CSQLite", "FileSystem", "JSONFormat", "Meaning", "Snapshot", "Symbolication",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "Events",
      dependencies: [
        "BinaryFormat", "FileSystem", "JSONFormat", "Meaning", "Snapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashUpload",
      dependencies: [
        "BinaryFormat", "CCurl", "CGzip", "CLinux", "CrashDatabase", "FileSystem", "Minidump", "Snapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "Redaction",
      dependencies: [
        "AppleReports", "JSONFormat", "BinaryFormat", "DumpInterpretation", "FileSystem", "IntermediateDump",
        "Minidump", "Snapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Pages of HTML: values in, bytes out.
    .target(name: "ReportPage", dependencies: ["BinaryFormat", "JSONFormat", "Snapshot"]),
    // Floor 4
    .executableTarget(
      name: "crashpadctl",
      dependencies: [
        "BinaryFormat", "CArguments", "CLinux", "CoreFile", "CrashDatabase", "CrashUpload", "CrashpadCore",
        "DumpInterpretation", "Events",
        "FileSystem", "IntermediateDump", "JSONFormat", "Meaning", "Minidump", "Redaction", "ReportPage", "Signatures",
        "Snapshot", "Supervision", "Symbolication", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadSymbols",
      dependencies: [
        "CrashpadCore", "Snapshot", "Symbolication", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadClient",
      dependencies: [
        "CLinux", "CrashCapture", "CrashDatabase", "CrashUpload", "CrashpadCore", "Events", "FileSystem", "Redaction",
        "Snapshot", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["include"]),
    // Tests
    .systemLibrary(name: "CZlib", path: "Tests/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "DumpSynth", path: "Tests/DumpSynth"),
    .executableTarget(name: "dump-synth", dependencies: ["DumpSynth"], path: "Tests/DumpSynthTool"),
    .executableTarget(name: "bench", dependencies: ["CCrashCapture", "DumpSynth"], path: "Tests/Bench"),
    .testTarget(
      name: "FileSystemTests",
      dependencies: ["FileSystem", "ToolRunner", .product(name: "SystemPackage", package: "swift-system")]),
    .testTarget(
      name: "CrashDatabaseTests",
      dependencies: [
        "BinaryFormat", "CrashDatabase", "FileSystem", "Snapshot", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "SymbolicationTests",
      dependencies: [
        "BinaryFormat", "DumpSynth", "FileSystem", "Snapshot", "Symbolication", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(name: "BinaryFormatTests", dependencies: ["BinaryFormat", "DumpSynth"]),
    .testTarget(
      name: "MinidumpReaderTests",
      dependencies: [
        "BinaryFormat", "CrashpadCore", "DumpInterpretation", "DumpSynth", "FileSystem", "IntermediateDump", "Meaning",
        "Minidump", "Snapshot", "ToolRunner", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CoreFileTests",
      dependencies: ["BinaryFormat", "CoreFile", "DumpSynth", "Minidump", "Snapshot", "ToolRunner", "crashpadctl"]),
    .testTarget(
      name: "AppleReportsTests",
      dependencies: [
        "AppleReports", "BinaryFormat", "DumpSynth", "JSONFormat", "Snapshot", "ToolRunner", "crashing-program",
        "crashpadctl",
      ]),
    .testTarget(name: "MeaningTests", dependencies: ["Meaning", "Snapshot"]),
    .testTarget(
      name: "SignaturesTests",
      dependencies: [
        "CrashpadCore", "DumpSynth", "FileSystem", "JSONFormat", "Signatures", "Snapshot", "Symbolication",
        "ToolRunner",
        "crashing-program", "crashpadctl", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Faults"]),
    .testTarget(
      name: "EventsTests",
      dependencies: [
        "DumpSynth", "Events", "FileSystem", "JSONFormat", "Snapshot", "ToolRunner", "crashpadctl",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "ReportPageTests", dependencies: ["DumpSynth", "ReportPage", "Snapshot", "ToolRunner", "crashpadctl"]),
    .testTarget(name: "JSONFormatTests", dependencies: ["DumpSynth", "JSONFormat"]),
    .testTarget(
      name: "IntermediateDumpTests", dependencies: ["BinaryFormat", "DumpSynth", "IntermediateDump", "JSONFormat"]),
    .testTarget(
      name: "DumpInterpretationTests",
      dependencies: ["BinaryFormat", "DumpInterpretation", "DumpSynth", "IntermediateDump", "Snapshot"]),
    .testTarget(
      name: "MinidumpTests",
      dependencies: ["BinaryFormat", "DumpInterpretation", "DumpSynth", "IntermediateDump", "Minidump", "Snapshot"]),
    .testTarget(
      name: "SweepTests",
      dependencies: [
        "BinaryFormat", "DumpInterpretation", "DumpSynth", "IntermediateDump", "JSONFormat", "Minidump", "Snapshot",
        "ToolRunner",
      ]),
    .testTarget(
      name: "CorpusTests",
      dependencies: ["BinaryFormat", "DumpInterpretation", "IntermediateDump", "Minidump", "Snapshot"],
      exclude: ["Corpus"]),
    .target(name: "ToolRunner", path: "Tests/ToolRunner"),
    .testTarget(
      name: "TranscriptTests", dependencies: ["DumpSynth", "ToolRunner", "crashpadctl"],
      exclude: ["Transcripts"]),
    .testTarget(
      name: "CrashCaptureTests", dependencies: ["DumpSynth", "ToolRunner", "crashing-program", "crashpadctl"],
      exclude: ["Programs"]),
    .testTarget(name: "AgreementTests", dependencies: ["DumpSynth", "ToolRunner", "crashing-program", "crashpadctl"]),
    // A server that collects reports, or does what servers do wrong.
    .executableTarget(name: "collector", dependencies: ["CZlib"], path: "Tests/Collector"),
    .testTarget(
      name: "UploadTests",
      dependencies: [
        "BinaryFormat", "CZlib", "CrashDatabase", "CrashUpload", "DumpSynth", "FileSystem", "Minidump", "Snapshot",
        "ToolRunner", "client-program", "collector", "crashpadctl", "service-filter",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "RedactionTests",
      dependencies: [
        "BinaryFormat", "CrashpadCore", "DumpInterpretation", "DumpSynth", "FileSystem", "IntermediateDump",
        "Minidump", "Redaction", "Snapshot", "ToolRunner", "crashpadctl",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(name: "RunTests", dependencies: ["ToolRunner", "crashpadctl"]),
    .target(name: "FaultInjection", path: "Tests/FaultInjection"),
    .target(name: "Poison", path: "Tests/Poison"),
    .testTarget(
      name: "FleetTests", dependencies: ["DumpSynth", "ToolRunner", "crashpadctl", "dump-synth"], exclude: ["Cluster"]),
    .target(name: "CrashKinds", path: "Tests/CrashKinds"),
    .executableTarget(
      name: "crashing-program", dependencies: ["CCrashCapture", "CrashKinds"], path: "Tests/CrashingProgram"),
    .executableTarget(
      name: "client-program",
      dependencies: ["CrashKinds", "CrashpadClient", .product(name: "SystemPackage", package: "swift-system")],
      path: "Tests/ClientProgram"),
    .testTarget(
      name: "CrashpadClientTests",
      dependencies: [
        "CrashCapture", "CrashDatabase", "CrashKinds", "CrashpadClient", "CrashpadCore", "DumpSynth", "FileSystem",
        "IntermediateDump", "Snapshot", "ToolRunner", "client-program", "crashpadctl",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Examples"]),
    .testTarget(name: "DatabaseFaultTests", dependencies: ["DumpSynth", "ToolRunner", "crashpadctl"]),
    .testTarget(
      name: "InteroperabilityTests",
      dependencies: ["DumpSynth", "ToolRunner", "collector", "crashing-program", "crashpadctl"]),
    // Starts a program under a filter of system calls, as systemd does.
    .executableTarget(name: "service-filter", path: "Tests/ServiceFilter"),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "BinaryFormat", "CrashDatabase", "CrashpadCore", "CrashpadSymbols", "DumpSynth", "IntermediateDump", "Meaning",
        "Signatures", "ToolRunner", "crashpadctl", .product(name: "SystemPackage", package: "swift-system"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// The fuzz targets have libFuzzer's main, and everything is compiled for it: `make fuzz` asks for them.
if Context.environment["CRASHPADCTL_FUZZ"] != nil {
  package.targets.append(
    .target(
      name: "FuzzSupport",
      dependencies: [
        "AppleReports", "BinaryFormat", "CLinux", "FileSystem", "Snapshot", "Symbolication",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/Fuzz/FuzzSupport"))
  for name in [
    "FuzzIntermediateDump", "FuzzDumpJSON", "FuzzMinidump", "FuzzCore", "FuzzMachO", "FuzzSym", "FuzzElf",
    "FuzzReport", "FuzzCrashText", "FuzzPacked",
  ] {
    package.targets.append(
      .executableTarget(
        name: name,
        dependencies: [
          "AppleReports", "BinaryFormat", "CoreFile", "DumpInterpretation", "FileSystem", "IntermediateDump",
          "JSONFormat", "Minidump", "Snapshot", "Symbolication",
          .product(name: "SystemPackage", package: "swift-system"),
        ] + (["FuzzCore", "FuzzElf", "FuzzMachO"].contains(name) ? ["DumpSynth"] : [])
          + (["FuzzCore", "FuzzElf", "FuzzMachO", "FuzzReport", "FuzzCrashText"].contains(name) ? ["FuzzSupport"] : []),
        path: "Tests/Fuzz/\(name)",
        swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
  }
}

// One list of settings for every Swift target.
for target in package.targets where target.type != .system && target.type != .plugin {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .strictMemorySafety(),
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("InternalImportsByDefault"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .treatAllWarnings(as: .error),
    ]
}
