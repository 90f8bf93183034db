public import Snapshot

/// The registers of one frame, those of them that are known. Numbers are those of DWARF.
public struct FrameRegisters: Sendable {
  /// What a number, a name and a role mean on one architecture.
  public enum Architecture: Sendable, Hashable {
    case arm64
    case x86_64

    var count: Int {
      switch self {
      // x0 to x30, sp, pc
      case .arm64: 33
      // rax to r15, rip
      case .x86_64: 17
      }
    }

    var framePointer: Int { self == .arm64 ? 29 : 6 }
    var stackPointer: Int { self == .arm64 ? 31 : 7 }
    var instructionPointer: Int { self == .arm64 ? 32 : 16 }
    /// Of arm64 only: where a call leaves its return address.
    var link: Int? { self == .arm64 ? 30 : nil }

    /// All but the stack pointer and the instruction pointer.
    var general: [Int] { (0..<(self == .arm64 ? 31 : 16)).filter { $0 != stackPointer } }

    /// What a called function gives back as it was.
    var preserved: [Int] {
      switch self {
      case .arm64: Array(19...29)
      case .x86_64: [3, 6, 12, 13, 14, 15]
      }
    }

    /// By the name in STACK CFI records, without the `$`.
    func number(_ name: String) -> Int? {
      switch self {
      case .arm64:
        switch name {
        case "sp": 31
        case "pc": 32
        case "fp": 29
        case "lr": 30
        default: name.hasPrefix("x") ? Int(name.dropFirst()).flatMap { (0...30).contains($0) ? $0 : nil } : nil
        }
      case .x86_64: Self.names.firstIndex(of: name)
      }
    }

    private static let names = [
      "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
      "rip",
    ]
  }

  public let architecture: Architecture
  private var values: [UInt64?]

  public init(_ architecture: Architecture) {
    self.architecture = architecture
    values = Array(repeating: nil, count: architecture.count)
  }

  /// Nil for architectures whose stacks are not walked.
  public init?(_ context: CPUContext) {
    switch context {
    case .arm64(let context):
      self.init(.arm64)
      for index in 0..<29 { values[index] = context.x[index] }
      (values[29], values[30], values[31], values[32]) = (context.fp, context.lr, context.sp, context.pc)
    case .x86_64(let context):
      self.init(.x86_64)
      let general = [
        context.rax, context.rdx, context.rcx, context.rbx, context.rsi, context.rdi, context.rbp, context.rsp,
      ]
      for (index, value) in general.enumerated() { values[index] = value }
      for index in 0..<8 { values[8 + index] = context.r[index] }
      values[16] = context.rip
    case .named: return nil
    }
  }

  public subscript(number: Int) -> UInt64? {
    get { values[number] }
    set { values[number] = newValue }
  }

  public var instructionPointer: UInt64? {
    get { values[architecture.instructionPointer] }
    set { values[architecture.instructionPointer] = newValue }
  }

  public var stackPointer: UInt64? {
    get { values[architecture.stackPointer] }
    set { values[architecture.stackPointer] = newValue }
  }

  public var framePointer: UInt64? {
    get { values[architecture.framePointer] }
    set { values[architecture.framePointer] = newValue }
  }

  public var link: UInt64? {
    get { architecture.link.flatMap { values[$0] } }
    set { if let link = architecture.link { values[link] = newValue } }
  }

  /// Those that a caller has as its callee found them.
  func preserved() -> FrameRegisters {
    var caller = FrameRegisters(architecture)
    for number in architecture.preserved { caller.values[number] = values[number] }
    return caller
  }
}
