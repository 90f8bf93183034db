// SPDX-License-Identifier: Apache-2.0
/// The way from a place in a function of Intel's processors to its return: the place of the return address on the stack follows
/// from what the instructions do to the stack pointer, and so do the registers that they restore.
///
/// The program need not take this way. At one place of a function that a compiler made, the distance to the return address is
/// the same on all ways.
struct IntelReturn: Equatable {
  /// A place on the stack, by the value of a register at the place in the function, and a distance in bytes.
  struct Place: Hashable {
    var isFramePointer = false
    var distance: Int64 = 0
  }

  private(set) var address = Place()
  /// The places of the registers that are restored, by their numbers in instructions.
  private(set) var restored: [Int: Place] = [:]
  /// Whether the frame pointer is the caller's: it was restored, or did not change.
  private(set) var keepsFramePointer = true
  /// The bytes of parameters that the return removes.
  private(set) var parameters: UInt64 = 0

  /// The instructions that are read, on all ways.
  private static let most = 256

  /// Nil if no way without a call is known to the end, or two ways differ.
  ///
  /// - Parameters:
  ///   - isBehindCall: whether the place is behind a call. That may not return: then other code may follow, of which a function
  ///     begins at an aligned place, behind instructions without effect, or lowers the stack pointer.
  ///   - knowsFramePointer: whether the frame pointer's value is known.
  init?(from start: UInt64, isBehindCall: Bool, knowsFramePointer: Bool, _ code: IntelCode) {
    var search = Search(start, isBehindCall: isBehindCall, knowsFramePointer: knowsFramePointer, code)
    guard let found = search.found(Self.most) else { return nil }
    self = found
  }

  private init() {}

  private struct State {
    var place: UInt64
    var stack = Place()
    var way = IntelReturn()
    /// Nil once the frame pointer has another value.
    var frame: Place? = Place(isFramePointer: true)
    /// Whether the last instruction had no effect.
    var isPadding = false
  }

  private struct Search {
    private let isBehindCall: Bool
    private let knowsFramePointer: Bool
    private let code: IntelCode
    private var states: [State]
    private var seen: Set<UInt64> = []
    private var size: Int64 { code.isWide ? 8 : 4 }

    init(_ start: UInt64, isBehindCall: Bool, knowsFramePointer: Bool, _ code: IntelCode) {
      (self.isBehindCall, self.knowsFramePointer, self.code) = (isBehindCall, knowsFramePointer, code)
      states = [State(place: start, isPadding: isBehindCall)]
    }

    mutating func found(_ most: Int) -> IntelReturn? {
      var found: IntelReturn?
      var count = 0
      while let state = states.popLast() {
        guard let end = follow(state, &count, most) else { continue }
        guard let first = found else {
          found = end
          continue
        }
        if first.address.isFramePointer == end.address.isFramePointer, first.address != end.address { return nil }
      }
      return found
    }

    /// Follows one way to a return; other ways are put aside.
    private mutating func follow(_ start: State, _ count: inout Int, _ most: Int) -> IntelReturn? {
      var state = start
      while count < most, seen.insert(state.place).inserted {
        if isBehindCall, state.isPadding, state.place % 16 == 0 { return nil }
        guard let instruction = code.instruction(at: state.place) else { return nil }
        count += 1
        let next = state.place &+ instruction.length
        state.place = next
        state.isPadding = instruction.effect == .noOperation
        switch instruction.effect {
        case .branch(let distance):
          var other = state
          other.place = next &+ UInt64(bitPattern: distance)
          states.append(other)
        case .jump(let distance): state.place = next &+ UInt64(bitPattern: distance)
        case .exit(let parameters):
          state.way.address = state.stack
          state.way.parameters = parameters
          return state.way
        default: guard apply(instruction.effect, to: &state) else { return nil }
        }
      }
      return nil
    }

    /// Whether the stack pointer is known afterwards.
    private func apply(_ effect: IntelInstruction.Effect, to state: inout State) -> Bool {
      switch effect {
      case .none, .noOperation: break
      case .start: return !isBehindCall
      case .push, .pushOther:
        if isBehindCall { return false }
        state.stack.distance -= size
        state.way.restored = state.way.restored.filter { $0.value != state.stack }
      case .pop(let register):
        restore(register, &state)
        state.stack.distance += size
      case .raise(let bytes):
        if isBehindCall, bytes < 0 { return false }
        state.stack.distance += bytes
      case .fromFramePointer(let distance):
        guard knowsFramePointer, var stack = state.frame else { return false }
        stack.distance += distance
        state.stack = stack
      case .leave:
        guard knowsFramePointer, let stack = state.frame else { return false }
        state.stack = stack
        restore(Self.framePointer, &state)
        state.stack.distance += size
      case .setsFramePointer:
        state.frame = nil
        state.way.keepsFramePointer = false
      case .jump, .branch, .exit, .unknown: return false
      }
      return true
    }

    private static let framePointer = 5

    private func restore(_ register: Int, _ state: inout State) {
      state.way.restored[register] = state.stack
      guard register == Self.framePointer else { return }
      state.frame = nil
      state.way.keepsFramePointer = true
    }
  }
}
