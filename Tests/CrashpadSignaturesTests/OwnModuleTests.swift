// SPDX-License-Identifier: Apache-2.0
@testable import CrashpadSignatures
import CrashpadSnapshot
import Testing

@Suite("Modules of the program")
struct OwnModuleTests {
  private static let system = [
    "/Applications/Xcode-16.2.0.app/Contents/Developer/Platforms/iPhoneSimulator.platform/Library/libXCTest.dylib",
    "/Applications/xcode_7.2.app/Contents/Developer/SDKs/iPhoneSimulator.sdk/System/Library/Frameworks/UIKit.framework/UIKit",
    "/Users/jo/SDKs/iPhoneSimulator9.sdk/System/Library/Frameworks/Foundation.framework/Foundation",
    "/Users/jo/SDKs/iPhoneSimulator9.sdk/usr/lib/libfake.dylib",
    "/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 18.5.simruntime/Contents/x/UIKit",
    "/System/Library/Frameworks/UIKit.framework/UIKit",
  ]
  private static let own = [
    "/Users/jo/Library/Developer/CoreSimulator/Devices/1/data/bundles/org.example.GearTests.xctest/GearTests",
    "/Users/jo/Library/Developer/CoreSimulator/Devices/1/data/Containers/Bundle/Application/2/Orrery.app/Orrery",
    "/private/var/containers/Bundle/Application/2/Orrery.app/Frameworks/Gear.framework/Gear",
  ]

  @Test func `A library has one name by its link and by its file`() {
    for (file, name) in [
      ("libz.so.1.2.13", "libz.so.1"), ("libsqlite3.so.0.8.6", "libsqlite3.so.0"), ("libz.so.1", "libz.so.1"),
      ("libc-2.31.so", "libc-2.31.so"), ("libx.so", "libx.so"), ("libx.so.old.2", "libx.so.old.2"), ("a.so.", "a.so."),
    ] {
      #expect(SignatureModules.unversioned(file) == name)
    }
  }

  @Test func `Images of a simulated system are the system's, and a bundle of tests is the program's`() {
    for operatingSystem in [OperatingSystem.ios, .macos] {
      let modules = OwnModules(
        ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: operatingSystem)))
      for path in Self.system { #expect(!modules.contains(0, path: path), "\(path)") }
      for path in Self.own { #expect(modules.contains(0, path: path), "\(path)") }
    }
  }
}
