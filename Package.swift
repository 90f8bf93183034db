// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Imports only ever point to a lower floor. What each target is, in one sentence: see Sources/README.md.
let package = Package(
  name: "crashpadctl",
  products: [
    .executable(name: "crashpadctl", targets: ["crashpadctl"]),
    // Inspect, validate, convert and process; with the snapshot that they read.
    .library(name: "CrashpadCore", targets: ["CrashpadCore", "CrashpadSnapshot"]),
    .library(name: "CrashpadDatabase", targets: ["CrashpadDatabase"]),
    .library(name: "CrashpadUpload", targets: ["CrashpadUpload"]),
    .library(name: "CrashpadRedaction", targets: ["CrashpadRedaction"]),
    // Names and stacks; the only library that links libelf and the demanglers.
    .library(name: "CrashpadSymbols", targets: ["CrashpadSymbols"]),
    // Explanations of crashes and codes; groups of crashes; pages of both.
    .library(name: "CrashpadExplanations", targets: ["CrashpadExplanations"]),
    .library(name: "CrashpadGroups", targets: ["CrashpadGroups"]),
    .library(name: "CrashpadPages", targets: ["CrashpadPages"]),
    .library(name: "CrashpadClient", targets: ["CrashpadClient"]),
    // For programs in C and C++, with Sources/CrashpadClient/include/crashpad_client.h.
    .library(name: "crashpad_client", type: .dynamic, targets: ["CrashpadClient"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
  ],
  targets: [
    // Floor -1
    .systemLibrary(name: "CCrashpadLinux"),
    // One inline function, and no library: prefetching takes 12 % from the conversion of 40 MB of memory regions.
    .systemLibrary(name: "CCrashpadProcessor"),
    // Reads the container of ELF files: relocations, symbols and notes of every machine.
    .systemLibrary(name: "CCrashpadElfutils", providers: [.apt(["libelf-dev"])]),
    // zlib, xz and zstd, each only where a file or an upload needs it: none has to be installed.
    .target(name: "CCrashpadCompression"),
    // Instructions as text, for pages: the library is loaded where it is installed.
    .target(name: "CCrashpadCapstone"),
    .target(name: "CCrashpadDemangle", linkerSettings: [.linkedLibrary("stdc++")]),
    .systemLibrary(name: "CCrashpadCurl"),
    .target(name: "CCrashpadArguments"),
    // SQLite itself, for the index of `group`: linked in where its archive is, else loaded by that option alone.
    .target(name: "CCrashpadSQLite"),
    // Floor 0
    .target(name: "CCrashCapture"),
    .target(name: "CrashpadBytes", dependencies: ["CCrashpadProcessor"]),
    .target(name: "CrashpadSnapshot"),
    .target(name: "CrashpadJSON"),
    // Floor 1
    .target(
      name: "CrashpadFiles",
      dependencies: [
        "CrashpadBytes", "CCrashpadCompression", "CCrashpadLinux",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(name: "IntermediateDump", dependencies: ["CrashpadBytes", "CrashpadJSON"]),
    // With no more than bytes and the snapshot below it: every command explains codes.
    .target(name: "CrashpadMeaning", dependencies: ["CrashpadBytes", "CrashpadSnapshot"]),
    // Floor 2
    .target(
      name: "CrashpadText",
      dependencies: [
        "CrashpadBytes", "CrashpadFiles", "CrashpadSnapshot", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadDatabase",
      dependencies: [
        "CrashpadBytes", "CrashpadFiles", "CrashpadSnapshot", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadSupervision",
      dependencies: [
        "CrashpadBytes", "CCrashpadLinux", "CrashpadFiles", "CrashpadSnapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(name: "DumpInterpretation", dependencies: ["CrashpadBytes", "IntermediateDump", "CrashpadSnapshot"]),
    .target(name: "CrashpadMinidump", dependencies: ["CrashpadBytes", "CrashpadSnapshot"]),
    .target(name: "CrashpadElfCore", dependencies: ["CrashpadBytes", "CrashpadSnapshot"]),
    .target(
      name: "CrashpadAppleReports",
      dependencies: ["CCrashpadLinux", "CrashpadBytes", "CrashpadJSON", "CrashpadMeaning", "CrashpadSnapshot"]),
    .target(
      name: "CrashpadSymbolication",
      dependencies: [
        "CrashpadBytes", "CCrashpadCapstone", "CCrashpadDemangle", "CCrashpadElfutils", "CrashpadFiles",
        "CrashpadSnapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Floor 3
    .target(
      name: "CrashpadCore",
      dependencies: [
        "CrashpadAppleReports", "CrashpadBytes", "CrashpadElfCore", "CrashpadDatabase", "DumpInterpretation",
        "CrashpadFiles",
        "IntermediateDump",
        "CrashpadJSON", "CrashpadMinidump", "CrashpadSnapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadSignatures",
      dependencies: [
        "CrashpadBytes", "CCrashpadSQLite", "CrashpadFiles", "CrashpadJSON", "CrashpadMeaning", "CrashpadSnapshot",
        "CrashpadSymbolication",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadEvents",
      dependencies: [
        "CrashpadBytes", "CrashpadFiles", "CrashpadJSON", "CrashpadMeaning", "CrashpadSnapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadRedaction",
      dependencies: [
        "CrashpadAppleReports", "CrashpadJSON", "CrashpadBytes", "CrashpadFiles",
        "IntermediateDump",
        "CrashpadMinidump", "CrashpadSnapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Floor 4
    .target(
      name: "CrashpadView",
      dependencies: [
        "CrashpadBytes", "CrashpadCore", "CrashpadEvents", "CrashpadFiles", "CrashpadJSON", "CrashpadMeaning",
        "CrashpadMinidump",
        "CrashpadSignatures", "CrashpadSnapshot", "CrashpadSymbolication", "CrashpadText", "IntermediateDump",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadUpload",
      dependencies: [
        "CrashpadBytes", "CCrashpadCurl", "CrashpadDatabase", "CrashpadFiles",
        "CrashpadMinidump", "CrashpadRedaction", "CrashpadSnapshot",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadSymbols",
      dependencies: [
        "CrashpadCore", "CrashpadSnapshot", "CrashpadSymbolication",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadGroups",
      dependencies: [
        "CrashpadCore", "CrashpadSignatures", "CrashpadSnapshot", "CrashpadSymbolication",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Floor 5
    .target(
      name: "CrashpadSymbolServers",
      dependencies: [
        "CrashpadBytes", "CrashpadFiles", "CrashpadJSON", "CrashpadSnapshot", "CrashpadSymbolication", "CrashpadUpload",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadExplanations",
      dependencies: [
        "CrashpadCore", "CrashpadMeaning", "CrashpadSignatures", "CrashpadSymbolication", "CrashpadView",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Pages of HTML: values in, bytes out.
    .target(
      name: "CrashpadReportPage",
      dependencies: [
        "CrashpadBytes", "CrashpadJSON", "CrashpadMeaning", "CrashpadSignatures", "CrashpadSnapshot",
        "CrashpadSymbolication", "CrashpadText", "CrashpadView",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Floor 6
    .executableTarget(
      name: "crashpadctl",
      dependencies: [
        "CrashpadElfCore",
        "CrashpadBytes", "CCrashpadArguments", "CCrashpadLinux", "CrashpadDatabase",
        "CrashpadUpload", "CrashpadCore",
        "DumpInterpretation", "CrashpadEvents",
        "CrashpadFiles", "CrashpadGroups", "IntermediateDump", "CrashpadJSON", "CrashpadMeaning", "CrashpadMinidump",
        "CrashpadRedaction", "CrashpadReportPage", "CrashpadSignatures",
        "CrashpadSnapshot", "CrashpadSupervision", "CrashpadSymbolication", "CrashpadSymbolServers", "CrashpadText",
        "CrashpadView",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "CrashpadClient",
      dependencies: [
        "CCrashCapture", "CCrashpadLinux", "CrashpadBytes", "CrashpadDatabase", "CrashpadUpload", "CrashpadCore",
        "CrashpadEvents",
        "CrashpadFiles", "CrashpadRedaction",
        "CrashpadSnapshot", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["include"]),
    .target(
      name: "CrashpadPages",
      dependencies: [
        "CrashpadCore", "CrashpadGroups", "CrashpadReportPage", "CrashpadSignatures",
        "CrashpadSymbolication", "CrashpadView", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Tests
    .systemLibrary(name: "CZlib", path: "Tests/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "DumpSynth", path: "Tests/DumpSynth"),
    .executableTarget(name: "dump-synth", dependencies: ["DumpSynth"], path: "Tests/DumpSynthTool"),
    .executableTarget(name: "bench", dependencies: ["CCrashCapture", "DumpSynth"], path: "Tests/Bench"),
    // Tests that run the tool and other programs do not name them: all are built with the tests, and no test has to wait for
    // the tool to be compiled.
    .testTarget(
      name: "CrashpadFilesTests",
      dependencies: ["CrashpadFiles", "ToolRunner", .product(name: "SystemPackage", package: "swift-system")]),
    .testTarget(
      name: "CrashpadDatabaseTests",
      dependencies: [
        "CrashpadBytes", "CrashpadDatabase", "CrashpadFiles", "CrashpadSnapshot", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CrashpadSymbolicationTests",
      dependencies: [
        "CrashpadBytes", "DumpSynth", "CrashpadFiles", "CrashpadSnapshot", "CrashpadSymbolication", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(name: "CrashpadBytesTests", dependencies: ["CrashpadBytes", "DumpSynth"]),
    .testTarget(
      name: "MinidumpReaderTests",
      dependencies: [
        "CrashpadBytes", "CrashpadCore", "DumpInterpretation", "DumpSynth", "CrashpadFiles", "IntermediateDump",
        "CrashpadMeaning", "CrashpadMinidump", "CrashpadSnapshot", "CrashpadSymbolication", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CrashpadElfCoreTests",
      dependencies: [
        "CrashpadBytes", "CrashpadElfCore", "DumpSynth", "CrashpadMinidump", "CrashpadSnapshot", "ToolRunner",
      ]),
    .testTarget(
      name: "CrashpadAppleReportsTests",
      dependencies: [
        "CrashpadAppleReports", "CrashpadBytes", "CrashpadCore", "CrashpadFiles", "DumpSynth", "CrashpadJSON",
        "CrashpadRedaction", "CrashpadSnapshot", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CrashpadMeaningTests", dependencies: ["CrashpadMeaning", "CrashpadSnapshot", "DumpSynth", "ToolRunner"]),
    .testTarget(
      name: "CrashpadSignaturesTests",
      dependencies: [
        "CrashpadCore", "DumpSynth", "CrashpadFiles", "CrashpadJSON", "CrashpadSignatures", "CrashpadSnapshot",
        "CrashpadSymbolication", "ToolRunner", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Faults", "mutants"]),
    .testTarget(
      name: "CrashpadEventsTests",
      dependencies: [
        "CrashpadEvents", "CrashpadFiles", "CrashpadSnapshot", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CrashpadViewTests",
      dependencies: [
        "CrashpadCore", "CrashpadFiles", "CrashpadSnapshot", "CrashpadSymbolication", "CrashpadView", "DumpSynth",
        "ToolRunner", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CrashpadReportPageTests",
      dependencies: ["DumpSynth", "CrashpadReportPage", "CrashpadSignatures", "CrashpadSnapshot", "ToolRunner"]),
    .testTarget(name: "CrashpadJSONTests", dependencies: ["DumpSynth", "CrashpadJSON"]),
    .testTarget(
      name: "IntermediateDumpTests", dependencies: ["CrashpadBytes", "DumpSynth", "IntermediateDump", "CrashpadJSON"]),
    .testTarget(
      name: "DumpInterpretationTests",
      dependencies: ["CrashpadBytes", "DumpInterpretation", "DumpSynth", "IntermediateDump", "CrashpadSnapshot"]),
    .testTarget(
      name: "CrashpadMinidumpTests",
      dependencies: [
        "CrashpadBytes", "DumpInterpretation", "DumpSynth", "IntermediateDump", "CrashpadMinidump", "CrashpadSnapshot",
      ]),
    .testTarget(
      name: "SweepTests",
      dependencies: [
        "CrashpadBytes", "DumpInterpretation", "DumpSynth", "IntermediateDump", "CrashpadJSON", "CrashpadMinidump",
        "CrashpadSnapshot", "ToolRunner",
      ]),
    .testTarget(
      name: "CorpusTests",
      dependencies: [
        "CrashpadBytes", "DumpInterpretation", "IntermediateDump", "CrashpadMinidump", "CrashpadSnapshot",
      ],
      exclude: ["Corpus"]),
    .target(name: "ToolRunner", dependencies: ["DumpSynth"], path: "Tests/ToolRunner"),
    .testTarget(name: "TranscriptTests", dependencies: ["DumpSynth", "ToolRunner"], exclude: ["Transcripts"]),
    .testTarget(name: "CrashCaptureTests", dependencies: ["DumpSynth", "ToolRunner"], exclude: ["Programs"]),
    .testTarget(name: "AgreementTests", dependencies: ["DumpSynth", "ToolRunner"]),
    // A server that collects reports, or does what servers do wrong.
    .executableTarget(name: "collector", dependencies: ["CZlib"], path: "Tests/Collector"),
    .testTarget(
      name: "UploadTests",
      dependencies: [
        "CZlib", "CrashpadDatabase", "CrashpadUpload", "DumpSynth", "CrashpadFiles", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CrashpadRedactionTests",
      dependencies: [
        "CrashpadBytes", "DumpInterpretation", "DumpSynth", "IntermediateDump", "CrashpadMinidump", "CrashpadRedaction",
        "CrashpadSnapshot", "ToolRunner",
      ]),
    .testTarget(name: "RunTests", dependencies: ["CrashpadSupervision", "ToolRunner"]),
    .testTarget(name: "SymbolServerTests", dependencies: ["DumpSynth", "ToolRunner"]),
    // The only tests that have the tool's code in them: both parsers are called thousands of times.
    .testTarget(
      name: "OptionTests",
      dependencies: ["crashpadctl", .product(name: "ArgumentParser", package: "swift-argument-parser")]),
    .testTarget(name: "FleetTests", dependencies: ["DumpSynth", "ToolRunner"], exclude: ["Cluster"]),
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
        "CrashpadDatabase", "CrashKinds", "CrashpadClient", "CrashpadCore", "DumpSynth", "CrashpadFiles",
        "IntermediateDump", "CrashpadSnapshot", "ToolRunner", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Examples"]),
    .testTarget(name: "DatabaseFaultTests", dependencies: ["DumpSynth", "ToolRunner"]),
    .testTarget(name: "InteroperabilityTests", dependencies: ["DumpSynth", "ToolRunner"]),
    // Starts a program under a filter of system calls, as systemd does.
    .executableTarget(name: "service-filter", path: "Tests/ServiceFilter"),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "CrashpadBytes", "CrashpadDatabase", "CrashpadCore", "CrashpadSymbols", "DumpSynth", "IntermediateDump",
        "CrashpadMeaning", "CrashpadRedaction", "CrashpadSignatures", "CrashpadSymbolication", "ToolRunner",
        .product(name: "SystemPackage", package: "swift-system"),
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
        "CrashpadAppleReports", "CrashpadBytes", "CCrashpadLinux", "CrashpadFiles", "CrashpadSnapshot",
        "CrashpadSymbolication",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/Fuzz/FuzzSupport"))
  for name in [
    "FuzzIntermediateDump", "FuzzDumpJSON", "FuzzMinidump", "FuzzCore", "FuzzMachO", "FuzzSym", "FuzzElf",
    "FuzzReport", "FuzzCrashText", "FuzzPacked", "FuzzPE", "FuzzWrapped", "FuzzIndex", "FuzzSharedCache",
    "FuzzServer",
  ] {
    package.targets.append(
      .executableTarget(
        name: name,
        dependencies: [
          "CrashpadAppleReports", "CrashpadBytes", "CrashpadElfCore", "DumpInterpretation", "CrashpadFiles",
          "IntermediateDump",
          "CrashpadJSON", "CrashpadMinidump", "CrashpadSnapshot", "CrashpadSymbolication",
          .product(name: "SystemPackage", package: "swift-system"),
        ] + (["FuzzCore", "FuzzElf", "FuzzMachO", "FuzzSharedCache"].contains(name) ? ["DumpSynth"] : [])
          + (name == "FuzzServer" ? ["CrashpadSymbolServers", "CrashpadUpload"] : [])
          + ([
            "FuzzCore", "FuzzElf", "FuzzMachO", "FuzzReport", "FuzzCrashText", "FuzzPE", "FuzzWrapped",
            "FuzzSharedCache",
          ].contains(name) ? ["FuzzSupport"] : []),
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
