// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads the process, the time and the system.
extension ReportBuilder {
  /// Reads the first line. The body repeats most of it and takes precedence.
  mutating func readHeader(_ header: JSONValue) {
    report.processName = header["app_name"]?.string ?? header["name"]?.string
    report.bundleID = header["bundleID"]?.string
    report.version = nonEmpty(header["app_version"]?.string)
    report.build = nonEmpty(header["build_version"]?.display)
    report.incident = header["incident_id"]?.string
    report.reporterKey = header["crashreporter_key"]?.string
    report.captureTime = header["timestamp"]?.string
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime)
    setSystem(header["os_version"]?.string)
    platformNumber = header["platform"]?.uint64
  }

  private func nonEmpty(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }

  mutating func readIdentity(_ body: JSONValue) {
    report.processName = body["procName"]?.string ?? report.processName
    report.processPath = body["procPath"]?.string
    let bundle = body["bundleInfo"]
    report.bundleID = bundle?["CFBundleIdentifier"]?.string ?? report.bundleID
    report.version = bundle?["CFBundleShortVersionString"]?.string ?? report.version
    report.build = bundle?["CFBundleVersion"]?.display ?? report.build
    report.incident = body["incident"]?.string ?? report.incident
    report.reporterKey = body["crashReporterKey"]?.string ?? report.reporterKey
    report.role = body["procRole"]?.string
    report.parentName = body["parentProc"]?.string
    report.responsibleName = body["responsibleProc"]?.string
    report.coalition = body["coalitionName"]?.string
    report.codeType = body["cpuType"]?.string
    report.isTranslated = body["translated"]?.bool ?? false
    report.isNonFatal = body["isNonFatal"]?.bool ?? false
    report.isSimulated = body["isSimulated"]?.bool ?? false
    report.captureTime = body["captureTime"]?.string ?? report.captureTime
    report.launchTime = body["procLaunch"]?.string
    snapshot.processID = body["pid"]?.int32
    snapshot.parentProcessID = body["parentPid"]?.int32
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime) ?? snapshot.snapshotTime
    snapshot.startTime = ReportTime.timestamp(report.launchTime)
    if let codeType = report.codeType { snapshot.system.architecture = ReportNames.architecture(codeType) }
    readSystem(body)
    readFields(body)
  }

  private mutating func readSystem(_ body: JSONValue) {
    if let version = body["osVersion"], let train = version["train"]?.string {
      setSystem(version["build"]?.string.map { "\(train) (\($0))" } ?? train)
    }
    snapshot.system.machine = content(body["modelCode"]?.string)
  }

  /// Reads the rest of the header, under the names used in `.crash` texts.
  private mutating func readFields(_ body: JSONValue) {
    func add(_ name: String, _ value: String?) {
      addField(name, nonEmpty(value))
    }
    add("Release Type", body["osVersion"]?["releaseType"]?.string)
    add("Beta Identifier", body["storeInfo"]?["deviceIdentifierForVendor"]?.string)
    add("AppVariant", body["storeInfo"]?["applicationVariant"]?.string)
    let members = body.members
    for (name, key) in IPSField.all { add(name, members.first { $0.key == key }?.value.display) }
    for (name, value) in members.first(where: { $0.key == IPSField.others })?.value.members ?? [] {
      add(name, value.display)
    }
  }
}

/// The members of the body that are kept as fields of the header.
enum IPSField {
  /// The member for fields of texts that no `.ips` has. Apple's reports have no member with this name.
  static let others = "crashpadctl_fields"

  static func isKnown(_ name: String) -> Bool {
    all.contains { $0.name == name } || ["Release Type", "Beta Identifier", "AppVariant"].contains(name)
  }

  static let all: [(name: String, key: String)] = [
    ("Baseband Version", "basebandVersion"), ("User ID", "userID"), ("Responsible PID", "responsiblePid"),
    ("Coalition ID", "coalitionID"), ("Sleep/Wake UUID", "sleepWakeUUID"), ("Boot Session UUID", "bootSessionUUID"),
    ("Time Awake Since Boot", "uptime"), ("Time Since Wake", "wakeTime"), ("System Integrity Protection", "sip"),
    ("Locked", "isLocked"), ("Developer Mode", "developerMode"), ("Lockdown Mode", "ldm"),
    ("Dyld Error", "fatalDyldError"),
  ]
}
