// SPDX-License-Identifier: Apache-2.0
/// A microdump of Breakpad, as lines of a log.
public struct SynthMicrodump: Sendable {
  public let processor: MinidumpProcessor
  public let system: MinidumpSystem
  public let threads: [MinidumpThreadTruth]
  public let modules: [MinidumpModuleTruth]
  public let stack: [UInt8]
  /// The lines without what the log puts in front of them.
  public var lines: [String]
  /// The text that the log puts in front of each line; empty for standard error of Linux.
  public var tag = "W/google-breakpad( 4200): "

  public static let begin = "-----BEGIN BREAKPAD MICRODUMP-----"
  public static let end = "-----END BREAKPAD MICRODUMP-----"

  /// - Parameter signal: the number and the address in the line R; nil for none, as in old microdumps.
  public init(
    _ processor: MinidumpProcessor, _ system: MinidumpSystem = .android, seed: UInt64 = 1, stackBytes: Int = 1024,
    signal: (number: UInt32, name: String, address: UInt64)? = (11, "SIGSEGV", 0x10)
  ) {
    self.processor = processor
    self.system = system
    var parameters = SynthMinidumpParameters(processor, system, seed: seed)
    parameters.threadCount = 1
    parameters.stackBytes = stackBytes
    parameters.moduleCount = 4
    let process = MinidumpProcess(parameters)
    threads = process.threads
    modules = process.modules
    let thread = process.threads[0]
    stack = process.memory.bytes(at: thread.stackAddress, count: stackBytes)
    let width = processor.is64Bit ? 16 : 8
    func number(_ value: UInt64) -> String { Self.hex(value, width) }
    var lines = [Self.begin, "V Browser_Beta:99.0.1.2"]
    lines.append("O \(system == .android ? "A" : "L") \(Self.name(processor)) 08 aarch64 vendor/phone/user:14/ABC.1")
    lines.append("P renderer")
    if let signal { lines.append("R \(Self.hex(UInt64(signal.number), 8)) \(signal.name) \(number(signal.address))") }
    lines.append("G UNKNOWN")
    lines.append("H \(number(0x1000)) \(number(0x2000)) 0001 \(number(4096)) \(number(4096)) 0C:01")
    lines.append("S 0 \(number(thread.sp)) \(number(thread.stackAddress)) \(number(UInt64(stackBytes)))")
    for start in stride(from: 0, to: stackBytes, by: 384) {
      let piece = stack[start..<min(start + 384, stackBytes)]
      lines.append("S \(number(thread.stackAddress + UInt64(start))) \(Self.digits(Array(piece)))")
    }
    lines.append("C \(Self.digits(MinidumpContext.bytes(thread, processor)))")
    for (index, module) in process.modules.enumerated() {
      lines.append(
        "M \(number(module.base)) \(number(0)) \(number(UInt64(module.size))) \(Self.identifier(index)) "
          + String(module.path.split { $0 == "/" }.last ?? ""))
    }
    self.lines = lines + [Self.end]
  }

  /// The id of a module, as in the line: a GUID and the age.
  public static func identifier(_ index: Int) -> String { hex(UInt64(0xa0 + index), 32) + "0" }

  public var text: String {
    "01-01 00:00:00 I/ActivityManager( 77): other lines\n" + lines.map { tag + $0 + "\r\n" }.joined()
      + "D/other( 78): end\n"
  }
  public var bytes: [UInt8] { Array(text.utf8) }

  private static func name(_ processor: MinidumpProcessor) -> String {
    processor == .arm64Old ? "arm64" : processor.rawValue
  }

  private static func hex(_ value: UInt64, _ width: Int) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func digits(_ bytes: [UInt8]) -> String { bytes.map { hex(UInt64($0), 2) }.joined() }
}
