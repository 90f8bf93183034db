// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package of its own, as a user of the libraries has it: each program depends on one product, and imports its module and
// that of paths. scripts/outside builds and runs them.
let package = Package(
  name: "outside",
  dependencies: [
    .package(name: "crashpadctl", path: "../.."),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
  ],
  targets: [
    "CrashpadCore", "CrashpadDatabase", "CrashpadUpload", "CrashpadRedaction", "CrashpadSymbols",
    "CrashpadExplanations",
    "CrashpadGroups", "CrashpadPages", "CrashpadClient",
  ].map { product in
    .executableTarget(
      name: "Uses\(product)",
      dependencies: [
        .product(name: product, package: "crashpadctl"), .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
      ])
  },
  swiftLanguageModes: [.v6]
)
