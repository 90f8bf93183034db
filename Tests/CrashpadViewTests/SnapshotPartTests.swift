// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Foundation
import Testing
import ToolRunner

/// Every part of a snapshot is in the JSON of `inspect`, which prints the whole view of a crash.
///
/// A property that is added to the snapshot fails these tests until this table says where it is shown.
struct SnapshotPartTests {
  /// The place at which a property is shown: the names of members, from the document on.
  private enum Place: Sendable {
    case member([String])
    /// Several members, or one that is computed.
    case members([[String]])
    /// It is no fact about the crash.
    case notShown(String)
  }

  private struct Part: Sendable {
    let value: any Sendable
    let places: [String: Place]
  }

  private static func members(_ names: String...) -> Place { .member(names) }

  private static func parts(under path: [String], _ names: [String: String]) -> [String: Place] {
    names.mapValues { .member(path + $0.split(separator: ".").map(String.init)) }
  }

  private static let process = Part(
    value: ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios)),
    places: [
      "arena": .notShown("the bytes of texts"),
      "hasLostException": members("exception_lost"),
      "isComplete": members("complete"),
      "processID": members("process", "pid"),
      "parentProcessID": members("process", "parent_pid"), "startTime": members("process", "start_time"),
      "snapshotTime": members("process", "snapshot_time"), "userTime": members("process", "user_time_us"),
      "systemTime": members("process", "system_time_us"), "system": members("system"), "threads": members("threads"),
      "modules": members("modules"), "unloadedModules": members("unloaded_modules"), "exception": members("exception"),
      "extraMemory": members("memory"), "intermediateDumpExtraMemory": members("intermediate_dump_memory"),
      "memoryMap": members("memory_map"), "madeFunctions": members("made_function_count"),
      "annotations": members("annotations"),
      "reportID": members("process", "report_id"), "clientID": members("process", "client_id"),
      "linux": members("linux_files"), "report": members("report"), "handles": members("handles"),
      "assertion": members("assertion"), "crashInfo": members("mac_crash_info"),
      "bootArguments": members("mac_boot_args"), "softErrors": members("soft_errors"),
    ])

  private static let system = Part(
    value: SystemSnapshot(architecture: .arm64, operatingSystem: .ios),
    places: parts(
      under: ["system"],
      [
        "architecture": "architecture", "operatingSystem": "os", "osMajor": "os_version", "osMinor": "os_version",
        "osBugfix": "os_version", "osBuild": "os_build", "machine": "machine", "cpuVendor": "cpu_vendor",
        "processor": "cpu_info",
        "cpuCount": "cpu_count", "pageSize": "page_size", "addressMask": "address_mask",
        "crashpadUptime": "crashpad_uptime_ns", "timeZone": "time_zone", "memory": "memory", "platform": "platform",
      ]))

  private static let memory = Part(
    value: SystemMemory(),
    places: parts(
      under: ["system", "memory"], ["active": "active", "inactive": "inactive", "wired": "wired", "free": "free"]))

  private static let zone = Part(
    value: TimeZoneSnapshot(),
    places: parts(
      under: ["system", "time_zone"],
      [
        "daylightSaving": "daylight_saving", "standardOffset": "standard_offset_s",
        "daylightOffset": "daylight_offset_s", "standardName": "standard_name", "daylightName": "daylight_name",
      ]))

  private static let linux = Part(
    value: LinuxSnapshot(),
    places: [
      "cpuInfo": .members([["system", "cpu_model"], ["linux_files"]]), "processStatus": members("linux_files"),
      "release": .members([["system", "distribution"], ["linux_files"]]),
      "commandLine": .members([["process", "command_line"], ["linux_files"]]), "environment": members("linux_files"),
      "auxiliaryVector": members("linux_files"), "maps": members("linux_files"),
      "limits": .members([["proc_limits"], ["linux_files"]]),
    ])

  private static let thread = Part(
    value: ThreadSnapshot(),
    places: parts(
      under: ["threads"],
      [
        "id": "id", "name": "name", "suspendCount": "suspend_count", "priority": "priority",
        "dataAddress": "data_address", "context": "registers", "stack": "stack", "capture": "capture",
        "frames": "frames", "queue": "queue", "number": "number", "elided": "elided",
      ]))

  private static let stack = Part(
    value: ThreadSnapshot.Stack(region: MemoryRegion(address: 0, content: .empty)),
    places: ["region": .members([["threads", "stack", "address"], ["threads", "stack", "bytes"]])].merging(
      parts(under: ["threads", "stack"], ["isSynthetic": "synthetic"])
    ) { $1 })

  private static let exception = Part(
    value: ExceptionSnapshot(kind: .mach, threadID: 1, code: 1),
    places: parts(
      under: ["exception"],
      [
        "kind": "kind", "threadID": "thread_id", "code": "code", "info": "info", "address": "address", "codes": "codes",
        "context": "registers", "signal": "signal", "isInfoKnown": "info",
        "isAddressKnown": "address", "sender": "sender", "isRaisedAgain": "raised_again",
      ]))

  private static let module = Part(
    value: ModuleSnapshot(),
    places: parts(
      under: ["modules"],
      [
        "name": "name", "address": "address", "size": "size", "fileType": "type", "timestamp": "timestamp",
        "dylibVersion": "version", "sourceVersion": "version",
        "fileVersion": "version", "identity": "identity", "oldPDB": "identity", "debugName": "debug_name",
        "simpleAnnotations": "annotations", "annotationObjects": "annotation_objects", "messages": "messages",
        "bundleID": "bundle_id", "bundleVersion": "bundle_version", "architecture": "architecture",
      ]))

  private static let unloaded = Part(
    value: UnloadedModuleSnapshot(name: .empty, address: 0, size: 0, timestamp: 0),
    places: parts(
      under: ["unloaded_modules"],
      ["name": "name", "address": "address", "size": "size", "timestamp": "timestamp"]))

  private static let annotation = Part(
    value: Annotation(name: .empty, value: .empty),
    places: parts(under: ["annotations"], ["name": "name", "value": "value"]))

  private static let annotationObject = Part(
    value: AnnotationObject(name: .empty, type: 1, value: .empty),
    places: [
      "name": members("modules", "annotation_objects", "name"),
      "type": members("modules", "annotation_objects", "type"),
      "value": .members([["modules", "annotation_objects", "value"], ["modules", "annotation_objects", "hex"]]),
    ])

  private static let region = Part(
    value: MemoryRegion(address: 0, content: .empty),
    places: parts(under: ["memory"], ["address": "address", "content": "bytes"]))

  private static let mapping = Part(
    value: MemoryMapRegion(address: 0, size: 0, state: 0, protection: 0),
    places: parts(
      under: ["memory_map"],
      ["address": "address", "size": "bytes", "state": "state", "protection": "protection"]))

  private static let recorded = Part(
    value: RecordedFrame(address: 0),
    places: parts(
      under: ["threads", "frames"],
      [
        "address": "address", "module": "module_index", "moduleOffset": "module_offset", "function": "function",
        "functionOffset": "function_offset", "file": "file", "line": "line", "isInlined": "inlined",
      ]))

  private static let report = Part(
    value: ReportSnapshot(kind: .crash),
    places: parts(
      under: ["report"],
      [
        "kind": "kind", "bugType": "bug_type", "processName": "process.name", "processPath": "process.path",
        "bundleID": "process.bundle_id", "version": "process.version", "build": "process.build", "incident": "incident",
        "reporterKey": "reporter_key", "role": "process.role", "codeType": "process.code_type",
        "isTranslated": "process.translated", "parentName": "process.parent",
        "responsibleName": "process.responsible", "coalition": "process.coalition", "osText": "os",
        "captureTime": "captured", "launchTime": "launched", "periodStart": "period_start",
        "exceptionType": "exception.type", "exceptionSignal": "exception.signal",
        "exceptionSubtype": "exception.subtype", "exceptionMessage": "exception.message",
        "exceptionCodes": "exception.codes", "exceptionNotes": "exception.notes", "isNonFatal": "exception.non_fatal",
        "isSimulated": "exception.simulated", "termination": "termination", "faultingThread": "faulting_thread",
        "faultingNumber": "faulting_number",
        "messages": "messages", "kernelTriage": "kernel_triage", "vmRegionInfo": "vm_region_info", "notes": "notes",
        "faultAddress": "exception.fault_address", "syndrome": "exception.syndrome",
        "syndromeText": "exception.syndrome_text", "codeBefore": "exception.code_before",
        "codeAt": "exception.code_at", "jetsam": "jetsam", "fields": "fields",
        "isVersionInferred": "process.version_inferred", "isArchitectureInferred": "process.architecture_inferred",
        "intendedAddress": "exception.intended_address", "statesCrash": "states_crash", "diagnosis": "diagnosis",
        "deallocatedObjects": "deallocated_objects", "memory": "memory", "endedForMemory": "ended_for_memory",
        "isDeadlock": "deadlock", "hasStackOverflow": "stack_overflow", "blockers": "blockers", "panic": "panic",
      ]
    ).merging(["lastException": members("last_exception")]) { $1 })

  private static let termination = Part(
    value: ReportSnapshot.Termination(),
    places: parts(
      under: ["report", "termination"],
      [
        "namespace": "namespace", "code": "code", "flags": "flags", "indicator": "indicator", "reasons": "reasons",
        "details": "details", "byProcess": "by_process", "byProcessID": "by_pid",
      ]))

  private static let message = Part(
    value: ReportSnapshot.Message(image: nil, text: ""),
    places: parts(under: ["report", "messages"], ["image": "image", "text": "text", "exception": "exception"]))

  private static let platform = Part(
    value: Platform(nil),
    places: parts(
      under: ["system", "platform"],
      [
        "name": "name", "isSimulator": "simulator", "simulatedVersion": "simulated_version", "isInferred": "inferred",
      ]))

  private static let reportMemory = Part(
    value: ReportMemory(),
    places: parts(
      under: ["report", "memory"],
      ["footprint": "footprint", "limit": "limit", "remaining": "remaining", "level": "level", "pressure": "pressure"]))

  private static let panic = Part(
    value: ReportPanic(text: ""),
    places: parts(
      under: ["report", "panic"],
      [
        "text": "text", "headline": "headline", "task": "task", "taskID": "task_id", "trap": "trap",
        "trapName": "trap_name", "extensions": "extensions", "isCut": "cut",
      ]))

  private static let blocker = Part(
    value: ReportBlocker(thread: 0, text: ""),
    places: parts(
      under: ["report", "blockers"], ["thread": "thread", "text": "text", "holder": "holder", "process": "process"]))

  private static let elided = Part(
    value: ElidedFrames(index: 0, frames: nil, levels: nil),
    places: parts(under: ["threads", "elided"], ["index": "before", "frames": "frames", "levels": "levels"]))

  private static let jetsam = Part(
    value: ReportSnapshot.Jetsam(),
    places: parts(
      under: ["report", "jetsam"],
      [
        "pageSize": "page_size", "freePages": "free_pages", "largestProcess": "largest_process",
        "processes": "processes",
      ]))

  private static let jetsamProcess = Part(
    value: ReportSnapshot.JetsamProcess(name: ""),
    places: parts(
      under: ["report", "jetsam", "processes"],
      [
        "name": "name", "processID": "pid", "uuid": "uuid", "states": "states", "priority": "priority",
        "residentPages": "resident_pages", "lifetimeMaximumPages": "lifetime_maximum_pages", "reason": "reason",
      ]))

  private static let all: [Part] = [
    process, system, memory, zone, linux, thread, stack, exception, module, unloaded, annotation, annotationObject,
    region,
    mapping, recorded, report, termination, message, jetsam, jetsamProcess, platform,
    reportMemory, panic, blocker, elided,
  ]

  @Test func `Each property of a snapshot has a place in the view`() {
    for part in Self.all {
      let properties = Set(Mirror(reflecting: part.value).children.compactMap(\.label))
      #expect(properties == Set(part.places.keys), "\(type(of: part.value))")
    }
  }

  @Test func `Each place is a member of the document of inspect`() throws {
    let result = try Tool.run(["json-schema", "crashpadctl-inspect/1"], in: TemporaryFolder())
    try #require(result.status == 0)
    let schema = try JSONSerialization.jsonObject(with: result.output)
    for part in Self.all {
      for (property, place) in part.places {
        for path in Self.paths(place) {
          #expect(Self.has(path[...], schema), "\(type(of: part.value)).\(property): \(path)")
        }
      }
    }
  }

  private static func paths(_ place: Place) -> [[String]] {
    switch place {
    case .member(let path): [path]
    case .members(let paths): paths
    case .notShown: []
    }
  }

  /// Whether a schema, or the one of its elements, describes the member at a path.
  private static func has(_ path: ArraySlice<String>, _ schema: Any?) -> Bool {
    guard let name = path.first else { return true }
    guard let schema = schema as? [String: Any] else { return false }
    if let properties = schema["properties"] as? [String: Any] { return has(path.dropFirst(), properties[name]) }
    if let items = schema["items"] { return has(path, items) }
    return (schema["anyOf"] as? [Any] ?? []).contains { has(path, $0) }
  }
}
