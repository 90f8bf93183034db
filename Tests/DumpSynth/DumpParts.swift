// SPDX-License-Identifier: Apache-2.0
/// Writes the truth of a `SynthDump` in the handler's order.
struct DumpParts {
  let parameters: SynthParameters
  let process: SynthProcess
  let system: SynthSystem
  let threads: [SynthThread]
  let modules: [SynthModule]
  let memory: SynthMemory
  let exceptionThreadID: UInt64
  let exceptionRegisters: SynthRegisters?
  let signalAddress: UInt64
  let crashedFloatState: [UInt8]?

  func bytes() -> [UInt8] {
    let perThread =
      parameters.stackBytes + parameters.contextRegionsPerThread * (parameters.contextRegionBytes + 33)
    var dump = DumpBuilder(capacity: 8192 + max(0, parameters.threadCount) * max(0, perThread + 2048))
    dump.root {
      $0.property(.version, [1])
      writeProcess(&$0)
      writeSystem(&$0)
      writeException(&$0)
      $0.array(.threads) { for thread in threads { write(thread, &$0) } }
      $0.array(.modules) { for module in modules { write(module, &$0) } }
    }
    return dump.bytes
  }

  // MARK: Process and system

  private func writeProcess(_ dump: inout DumpBuilder) {
    dump.map(.processInfo) {
      $0.property(.snapshotTime, timeval(process.snapshotSeconds, process.snapshotMicroseconds))
      $0.property(.pid, uint32: process.pid)
      $0.property(.parentPID, uint32: process.parentPID)
      $0.property(.startTime, timeval(process.startSeconds, process.startMicroseconds))
      $0.map(.taskBasicInfo) {
        $0.property(.userTime, timeValue(process.basicUser))
        $0.property(.systemTime, timeValue(process.basicSystem))
      }
      $0.map(.taskThreadTimes) {
        $0.property(.userTime, timeValue(process.threadUser))
        $0.property(.systemTime, timeValue(process.threadSystem))
      }
      if !process.annotations.isEmpty { writeSimple(process.annotations, &$0) }
    }
  }

  private func timeval(_ seconds: Int64, _ microseconds: Int32) -> [UInt8] {
    Bytes.of(UInt64(bitPattern: seconds)) + Bytes.of(microseconds) + process.padding
  }

  private func timeValue(_ value: (Int32, Int32)) -> [UInt8] {
    Bytes.of(value.0) + Bytes.of(value.1)
  }

  private func writeSystem(_ dump: inout DumpBuilder) {
    dump.map(.systemInfo) {
      $0.property(.machineDescription, system.machine)
      $0.property(.osVersionMajor, int32: system.osVersion.major)
      $0.property(.osVersionMinor, int32: system.osVersion.minor)
      $0.property(.osVersionBugfix, int32: system.osVersion.bugfix)
      $0.property(.osVersionBuild, system.osBuild)
      $0.property(.cpuCount, int32: system.cpuCount)
      $0.property(.cpuVendor, system.cpuVendor)
      $0.property(.hasDaylightSavingTime, [1])
      $0.property(.isDaylightSavingTime, [system.isDaylightSavingTime ? 1 : 0])
      $0.property(.standardOffsetSeconds, int32: system.standardOffsetSeconds)
      $0.property(.daylightOffsetSeconds, int32: system.daylightOffsetSeconds)
      $0.property(.standardName, system.standardName)
      $0.property(.daylightName, system.daylightName)
      $0.property(.addressMask, uint64: system.addressMask)
      $0.property(.pageSize, uint64: system.pageSize)
      $0.map(.vmStat) {
        $0.property(.active, uint32: system.pages[0])
        $0.property(.inactive, uint32: system.pages[1])
        $0.property(.wired, uint32: system.pages[2])
        $0.property(.free, uint32: system.pages[3])
      }
      $0.property(.crashpadUptime, uint64: system.crashpadUptimeNanoseconds)
    }
  }

  // MARK: Exception

  private func writeException(_ dump: inout DumpBuilder) {
    switch parameters.exception {
    case .none:
      break
    case .mach(let type, let codes):
      dump.map(.machException) {
        $0.property(.exception, int32: type)
        $0.property(.codes, Bytes.of(codes.map { UInt64(bitPattern: $0) }))
        if let registers = exceptionRegisters {
          $0.property(.flavor, uint32: registers.unifiedFlavor)
          $0.property(.state, registers.unifiedState)
        }
        $0.property(.threadID, uint64: exceptionThreadID)
      }
    case .signal(let number, let code):
      dump.map(.signalException) {
        $0.property(.signalNumber, int32: number)
        $0.property(.signalCode, int32: code)
        $0.property(.signalAddress, uint64: signalAddress)
        if let registers = exceptionRegisters {
          $0.property(.threadState, registers.threadState)
          $0.property(.floatState, crashedFloatState ?? threads[0].floatState)
          write(regions: signalRegions(registers), &$0)
        }
        $0.property(.threadID, uint64: exceptionThreadID)
      }
    case .nsException:
      dump.map(.nsException) { $0.property(.threadID, uint64: exceptionThreadID) }
    }
  }

  /// The regions of the crashed thread, where that of the pc moves with it.
  private func signalRegions(_ registers: SynthRegisters) -> [(address: UInt64, count: Int)] {
    let isKnown = threads.indices.contains(parameters.crashedThread)
    let thread = threads[isKnown ? parameters.crashedThread : 0]
    let limit = SynthRegisters.captured(parameters.architecture).count
    return thread.contextRegions.prefix(limit).map {
      $0.address == thread.registers.pc &- 128 ? (registers.pc &- 128, $0.count) : $0
    }
  }

  // MARK: Threads

  private func write(_ thread: SynthThread, _ dump: inout DumpBuilder) {
    dump.mapInArray {
      $0.property(.suspendCount, uint32: 0)
      $0.property(.threadName, thread.name)
      $0.property(.priority, int32: thread.priority)
      $0.property(.threadID, uint64: thread.id)
      $0.property(.threadDataAddress, uint64: thread.dataAddress)
      guard thread.hasState else {
        $0.property(.threadUncaughtNSExceptionFrames, Bytes.of(thread.uncaughtFrames))
        return
      }
      $0.property(.threadState, thread.registers.threadState)
      $0.property(.floatState, thread.floatState)
      $0.property(.debugState, FloatState.debugBytes(parameters.architecture))
      $0.property(.stackRegionAddress, uint64: thread.stackAddress)
      $0.property(.stackRegionData, memory.bytes(at: thread.stackAddress, count: thread.stackBytes))
      write(regions: thread.contextRegions, &$0)
    }
  }

  private func write(regions: [(address: UInt64, count: Int)], _ dump: inout DumpBuilder) {
    dump.array(.threadContextMemoryRegions) {
      for region in regions {
        $0.mapInArray {
          $0.property(.threadContextMemoryRegionAddress, uint64: region.address)
          guard region.count > 0 else { return }
          let data = memory.bytes(at: region.address, count: region.count)
          $0.property(.threadContextMemoryRegionData, data)
        }
      }
    }
  }

  // MARK: Modules

  private func write(_ module: SynthModule, _ dump: inout DumpBuilder) {
    dump.mapInArray {
      $0.property(.name, module.path)
      $0.property(.address, uint64: module.address)
      if let timestamp = module.timestamp { $0.property(.timestamp, uint64: timestamp) }
      $0.property(.size, uint64: module.size)
      writeAnnotations(module, &$0)
      if let version = module.dylibCurrentVersion { $0.property(.dylibCurrentVersion, uint32: version) }
      $0.property(.uuid, module.uuid)
      if let version = module.sourceVersion { $0.property(.sourceVersion, uint64: version) }
      $0.property(.fileType, uint32: module.fileType)
    }
  }

  private func writeAnnotations(_ module: SynthModule, _ dump: inout DumpBuilder) {
    if !module.annotationObjects.isEmpty {
      dump.array(.annotationObjects) {
        for object in module.annotationObjects {
          $0.mapInArray {
            $0.property(.annotationName, object.name)
            $0.property(.annotationValue, object.value)
            $0.property(.annotationType, Bytes.of(object.type))
          }
        }
      }
    }
    if !module.simpleAnnotations.isEmpty { writeSimple(module.simpleAnnotations, &dump) }
    if !module.extraMemory.isEmpty {
      dump.array(.moduleExtraMemoryRegions) {
        for region in module.extraMemory {
          $0.mapInArray {
            $0.property(.moduleExtraMemoryRegionAddress, uint64: region.address)
            $0.property(.moduleExtraMemoryRegionData, memory.bytes(at: region.address, count: region.count))
          }
        }
      }
    }
    if !module.intermediateOnlyMemory.isEmpty {
      dump.array(.moduleIntermediateDumpExtraMemoryRegions) {
        for region in module.intermediateOnlyMemory {
          $0.mapInArray {
            $0.property(.moduleIntermediateDumpExtraMemoryRegionAddress, uint64: region.address)
            let data = memory.bytes(at: region.address, count: region.count)
            $0.property(.moduleIntermediateDumpExtraMemoryRegionData, data)
          }
        }
      }
    }
    if module.message1 != nil || module.message2 != nil {
      dump.map(.annotationsCrashInfo) {
        if let text = module.message1 { $0.property(.annotationsCrashInfoMessage1, text) }
        if let text = module.message2 { $0.property(.annotationsCrashInfoMessage2, text) }
      }
    }
  }

  private func writeSimple(_ list: [(name: String, value: String)], _ dump: inout DumpBuilder) {
    dump.array(.annotationsSimpleMap) {
      for entry in list {
        $0.mapInArray {
          $0.property(.annotationName, entry.name)
          $0.property(.annotationValue, entry.value)
        }
      }
    }
  }
}
