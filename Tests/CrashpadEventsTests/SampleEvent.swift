// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadEvents

/// Crashes whose every value is known.
enum SampleEvent {
  static let reporter = CrashEvent.Reporter(name: "reporter", version: "9.9")
  static let id = UUIDBytes(text: "5c3e0c11-9a2b-4d77-8f10-2b6e0d1f4a90") ?? .zero

  struct Options {
    var annotations: [(String, String)] = [("ver", "2.7"), ("build", "182"), ("distinct_id", "anna")]
    var system = OperatingSystem.ios
    var role: String?
    var start: Int64? = 1_700_000_000
    /// Seconds.
    var time: Int64 = 1_700_000_012
    var message: String?
    var exception: ExceptionSnapshot?
    var report: ReportSnapshot?
    var client = UUIDBytes.zero
    var assumesForeground = false
  }

  static func snapshot(_ options: Options) -> ProcessSnapshot {
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: options.system))
    snapshot.system.osMajor = 18
    snapshot.system.osMinor = 4
    snapshot.system.osBugfix = 1
    snapshot.system.machine = snapshot.store("iPhone17,1")
    snapshot.startTime = options.start.map { Timestamp(seconds: $0) }
    snapshot.snapshotTime = Timestamp(seconds: options.time, microseconds: 345_678)
    snapshot.processID = 4711
    snapshot.clientID = options.client
    snapshot.annotations = options.annotations.map { name, value in
      Annotation(name: snapshot.store(name), value: snapshot.store(value))
    }
    var module = ModuleSnapshot()
    module.name = snapshot.store("/app/Shop.app/Shop")
    module.fileType = .executable
    module.address = 0x1_0000_0000
    module.size = 0x10000
    module.identity = .uuid(UUIDBytes(high: 0x7a3c_5e10_0000_0000, low: 1), age: 0)
    if let message = options.message { module.messages = [snapshot.store(message)] }
    snapshot.modules = [module]
    var thread = ThreadSnapshot()
    thread.id = 77
    thread.name = snapshot.store("main")
    snapshot.threads = [thread]
    if let exception = options.exception {
      snapshot.exception = exception
    } else {
      var exception = ExceptionSnapshot(kind: .mach, threadID: 77, code: 1)
      (exception.info, exception.address, exception.codes) = (1, 0x10, [1, 1, 0x10])
      snapshot.exception = exception
    }
    snapshot.report = options.report
    if let role = options.role {
      var report = options.report ?? ReportSnapshot(kind: .crash)
      report.role = role
      report.version = "2.7"
      report.build = "182"
      snapshot.report = report
    }
    return snapshot
  }

  static let frames: [EventFrame] = {
    var system = EventFrame(address: 0x1_803f_25e4)
    (system.image, system.imageOffset, system.symbol, system.symbolOffset) =
      ("CoreFoundation", 0x25e4, "__exceptionPreprocess", 236)
    var inlined = EventFrame(address: 0x1_0000_4a10)
    (inlined.image, inlined.imageOffset, inlined.isInlined) = ("Shop", 0x4a10, true)
    (inlined.symbol, inlined.name, inlined.file, inlined.line) = (
      "$s4Cart5totalF", "Cart.total()", "/src/Cart.swift", 12
    )
    var own = EventFrame(address: 0x1_0000_4a10)
    (own.image, own.imageOffset, own.symbol, own.name) = ("Shop", 0x4a10, "$s4Shop8checkoutyyF", "Shop.checkout()")
    own.symbolOffset = 16
    var bare = EventFrame(address: 0x1_0000_1c08)
    (bare.image, bare.imageOffset) = ("Shop", 0x1c08)
    return [system, inlined, own, bare, EventFrame(address: 0x1234)]
  }()

  static func event(_ options: Options = Options()) throws -> CrashEvent {
    try #require(crash(options))
  }

  static func crash(_ options: Options) -> CrashEvent? {
    var input = CrashEventInput(id: id)
    input.frames = frames
    input.signature = CrashEvent.Signature(id: "1cd71d2dc4660632", text: "bad-access[null] · Cart.total")
    input.assumesForeground = options.assumesForeground
    return CrashEvent(snapshot(options), InputFile(bytes: []), input)
  }

  static func lines(_ mapping: EventMapping, _ options: Options = Options()) throws -> [String] {
    try EventForm.mapping(mapping).lines(event(options), reporter).map { String(decoding: $0, as: UTF8.self) }
  }

  static func documents(_ mapping: EventMapping, _ options: Options = Options()) throws -> [JSONDocument] {
    try lines(mapping, options).map { try JSONDocument(Data($0.utf8)) }
  }

  static let active = Options(annotations: Options().annotations + [("application_state", "active")])
}
