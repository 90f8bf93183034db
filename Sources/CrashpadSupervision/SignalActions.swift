// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// The actions of a process for crash signals, as the kernel reports them, and the files that contain its code.
package struct SignalActions: Sendable {
  package enum Action: Sendable, Equatable {
    case standard
    case ignored
    case handler(UInt64)
  }

  /// A part of the process's memory that comes from a file.
  package struct Mapping: Sendable {
    package let range: Range<UInt64>
    /// The offset in the file.
    package let offset: UInt64
    package let path: FilePath
  }

  package enum Failure: Error, Equatable {
    /// There is no such process, or it has ended.
    case ended
    /// The process can't be traced. It has handlers for these signals, of whom is not known.
    case refused(Errno, caught: [Int32])
    /// The process has a filter of system calls that this one has not; it might end the process.
    case filtered(caught: [Int32])
  }

  /// The signals that the handler captures.
  package static let signals = SystemFacts.handlerSignals.filter { $0 != SystemFacts.stopSignal }

  package let process: Int32
  /// The name of the process's first thread.
  package let name: String
  /// For each of `signals`.
  package let actions: [Action]
  package let mappings: [Mapping]

  /// Stops one thread of the process for a moment, to ask the kernel in its place.
  package init(of process: Int32) throws(Failure) {
    let status = ProcFile.members("/proc/\(process)/status")
    guard let name = status["Name"] else { throw .ended }
    self.process = process
    self.name = name
    let caught = UInt64(status["SigCgt"] ?? "", radix: 16) ?? 0
    let signals = Self.signals
    let caughtSignals = signals.filter { caught >> UInt64($0 - 1) & 1 == 1 }
    let ownFilters = ProcFile.members("/proc/self/status")["Seccomp_filters"]
    if status["Seccomp"] == "2", status["Seccomp_filters"] != ownFilters { throw .filtered(caught: caughtSignals) }
    let (mappings, systemPage) = Self.mappings(process)
    guard let call = systemPage.flatMap({ Self.callInstruction(process, $0) }), let thread = Self.thread(process) else {
      throw .refused(.noSuchFileOrDirectory, caught: caughtSignals)
    }
    var actions = [linux_signal_action](repeating: linux_signal_action(), count: signals.count)
    let failure = unsafe linux_signal_actions(thread, call, signals, signals.count, &actions)
    if Errno(rawValue: failure) == .noSuchProcess { throw .ended }
    guard failure == 0 else { throw .refused(Errno(rawValue: failure), caught: caughtSignals) }
    self.actions = actions.map { $0.handler == 0 ? .standard : $0.handler == 1 ? .ignored : .handler($0.handler) }
    self.mappings = mappings
  }

  /// The file that an address is from, and the address of the file's first byte in memory.
  package func module(at address: UInt64) -> (path: FilePath, base: UInt64)? {
    guard let mapping = mappings.first(where: { $0.range.contains(address) }) else { return nil }
    let first = mappings.first { $0.path == mapping.path && $0.offset == 0 && $0.range.lowerBound <= address }
    return (mapping.path, first?.range.lowerBound ?? mapping.range.lowerBound &- mapping.offset)
  }

  /// Words of 8 bytes in the process's memory; nil if they can't be read.
  package func words(at address: UInt64, count: Int) -> [UInt64]? {
    var words = [UInt64](repeating: 0, count: count)
    let isRead = unsafe words.withUnsafeMutableBytes { unsafe Self.read(process, address, into: $0) }
    return isRead ? words : nil
  }

  // MARK: /proc

  /// The files in memory, and the page of code that the kernel gives each process.
  private static func mappings(_ process: Int32) -> (files: [Mapping], systemPage: Range<UInt64>?) {
    var files: [Mapping] = []
    var systemPage: Range<UInt64>?
    for line in (ProcFile.text("/proc/\(process)/maps") ?? "").split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6 else { continue }
      let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard bounds.count == 2, bounds[0] < bounds[1], let offset = UInt64(words[2], radix: 16) else { continue }
      let path = words[5].drop { $0 == " " }
      if path == "[vdso]" { systemPage = bounds[0]..<bounds[1] }
      if path.hasPrefix("/") {
        files.append(Mapping(range: bounds[0]..<bounds[1], offset: offset, path: FilePath(String(path))))
      }
    }
    return (files, systemPage)
  }

  /// A thread that still runs: the first one may have ended before the others.
  private static func thread(_ process: Int32) -> Int32? {
    let names = hint { try Folder(FilePath("/proc/\(process)/task")).names() } ?? []
    return names.compactMap { Int32($0.text) }.sorted().first {
      let state = ProcFile.members("/proc/\(process)/task/\($0)/status")["State"]?.first
      return state != nil && state != "Z" && state != "X"
    }
  }

  // MARK: Memory

  /// The address of an instruction that makes a system call.
  private static func callInstruction(_ process: Int32, _ page: Range<UInt64>) -> UInt64? {
    var bytes = [UInt8](repeating: 0, count: Int(page.upperBound - page.lowerBound))
    guard unsafe bytes.withUnsafeMutableBytes({ unsafe read(process, page.lowerBound, into: $0) }) else { return nil }
    let instruction = unsafe withUnsafeBytes(of: linux_call_instruction) { unsafe Array($0) }
    let step = instruction.count == 4 ? 4 : 1
    for start in stride(from: 0, through: bytes.count - instruction.count, by: step)
    where bytes[start..<start + instruction.count].elementsEqual(instruction) {
      return page.lowerBound + UInt64(start)
    }
    return nil
  }

  private static func read(_ process: Int32, _ address: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
    var to = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
    var from = unsafe iovec(iov_base: UnsafeMutableRawPointer(bitPattern: UInt(address)), iov_len: bytes.count)
    return unsafe process_vm_readv(process, &to, 1, &from, 1, 0) == bytes.count
  }
}
