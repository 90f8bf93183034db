// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import CrashpadSnapshot
package import SystemPackage

/// The settings of the preloaded handler library, which a program gets through its environment.
package struct HandlerEnvironment: Sendable {
  /// An absolute path.
  package var library: FilePath
  /// An absolute path.
  package var database: FilePath
  /// Nil for the base name of each executable.
  package var programID: String?
  /// The first twelve bytes of the UUID of each dump.
  package var run: UUIDBytes
  /// Neither names nor values contain a line feed, and names contain no `=`.
  package var annotations: [(name: String, value: String)] = []
  /// The most bytes of each stack, and of the stack that crashed; nil for the handler's defaults.
  package var stack: UInt32?
  package var crashedStack: UInt32?
  /// The time in which threads have to stop, in milliseconds; nil for the handler's default.
  package var timeout: UInt32?
  /// Names of variables that dumps contain besides the usual ones.
  package var variables: [String] = []
  /// Whether the handler is also preloaded into the children of the program.
  package var reachesChildren = true
  package var isQuiet = false

  package init(library: FilePath, database: FilePath, run: UUIDBytes) {
    self.library = library
    self.database = database
    self.run = run
  }

  /// Whether a dump with this UUID belongs to this run.
  package func owns(_ dump: UUIDBytes) -> Bool { dump.high == run.high && dump.low >> 32 == run.low >> 32 }

  /// The id of the process that left a dump of this run, in its own process id namespace.
  package static func processID(of dump: UUIDBytes) -> UInt32 { UInt32(truncatingIfNeeded: dump.low) }

  /// Adds the library's settings to an environment, `NAME=VALUE` each, of a program that this process starts itself.
  /// Removes settings of another run.
  package func applied(to environment: [[UInt8]]) -> [[UInt8]] {
    let preload = Array("LD_PRELOAD=".utf8)
    let own = Array("CRASHPAD_HANDLER_".utf8)
    var preloaded: [UInt8] = []
    var result: [[UInt8]] = []
    for variable in environment {
      if variable.starts(with: preload) {
        preloaded = Array(variable.dropFirst(preload.count))
      } else if !variable.starts(with: own) {
        result.append(variable)
      }
    }
    let path = Self.bytes(library)
    let others = preloaded.split { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") }.filter {
      !$0.elementsEqual(path)
    }
    result.append(preload + Array(([path[...]] + others).joined(separator: [UInt8(ascii: ":")])))
    func add(_ name: String, _ value: [UInt8]) { result.append(own + Array("\(name)=".utf8) + value) }
    add("DATABASE", Self.bytes(database))
    add("RUN", Array(run.text.utf8))
    // Distinguishes the program that this process starts from that program's own children.
    add("PARENT", Array("\(getpid())".utf8))
    if let zone = Self.timeZone() { add("TIME_ZONE", zone) }
    if let programID { add("PROGRAM_ID", Array(programID.utf8)) }
    if !annotations.isEmpty {
      add("ANNOTATIONS", Array(annotations.map { "\($0.name)=\($0.value)" }.joined(separator: "\n").utf8))
    }
    if !options.isEmpty { add("OPTIONS", Array(options.joined(separator: ",").utf8)) }
    return result
  }

  /// The time zone in the form for the handler's library, so that each program need not ask libc; nil if it can't be
  /// expressed.
  ///
  /// Offsets east of Greenwich in seconds, standard and summer time; whether there is summer time, and whether it is
  /// now; their names; the value of TZ to which this applies.
  private static func timeZone() -> [UInt8]? {
    var now = time(nil)
    var today = unsafe tm()
    guard unsafe localtime_r(&now, &today) != nil else { return nil }
    var standard = unsafe (offset: today.tm_gmtoff, name: "")
    var summer: (offset: Int, name: String)?
    // Comparing January and July shows which is summer time, on either hemisphere.
    for month in [Int32(0), 6] {
      var day = unsafe tm()
      unsafe (day.tm_year, day.tm_mon, day.tm_mday, day.tm_hour, day.tm_isdst) = (today.tm_year, month, 15, 12, -1)
      guard unsafe mktime(&day) != -1 else { continue }
      let zone = unsafe (offset: day.tm_gmtoff, name: day.tm_zone.map { unsafe String(cString: $0) } ?? "")
      if unsafe day.tm_isdst > 0 { summer = zone } else { standard = zone }
    }
    let other = summer ?? standard
    let variable = unsafe getenv("TZ").map { unsafe String(cString: $0) } ?? ""
    guard !standard.name.contains(","), !other.name.contains(","), !variable.contains("\n") else { return nil }
    let isSummer = unsafe today.tm_isdst > 0 ? 1 : 0
    let hasSummer = summer == nil ? 0 : 1
    let text = "\(standard.offset),\(other.offset),\(hasSummer),\(isSummer),\(standard.name),\(other.name),"
    return Array((text + variable).utf8)
  }

  private var options: [String] {
    var options: [String] = []
    if let stack { options.append("stack=\(stack)") }
    if let crashedStack { options.append("crashed-stack=\(crashedStack)") }
    if let timeout { options.append("timeout=\(timeout)") }
    if !variables.isEmpty { options.append("environment=" + variables.joined(separator: ":")) }
    if !reachesChildren { options.append("children=no") }
    if isQuiet { options.append("quiet") }
    return options
  }

  package static func bytes(_ path: FilePath) -> [UInt8] {
    unsafe path.withPlatformString { text in
      unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
  }
}
