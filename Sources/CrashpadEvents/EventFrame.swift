// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// A frame of the stack that led to the crash, the innermost first. An inlined call stands before the frame that it was compiled
/// into.
package struct EventFrame: Sendable, Hashable {
  /// For the first frame, the next instruction; for a caller, the one after its call.
  package var address: UInt64
  /// The module's file name; nil in no module.
  package var image: String?
  package var imageOffset: UInt64?
  /// As the linker knows it; nil without symbols.
  package var symbol: String?
  /// As people write it; nil where that is the symbol.
  package var name: String?
  /// Bytes from the function's first instruction.
  package var symbolOffset: UInt64?
  package var file: String?
  package var line: UInt64?
  package var isInlined = false

  package init(address: UInt64) { self.address = address }
}

/// Forms of stacks.
enum StackForm {
  /// More frames are an endless recursion.
  static let limit = 512

  /// A line of `callStackSymbols`: "0   CoreFoundation                      0x00000001803f25e4 __exceptionPreprocess + 236".
  ///
  /// Source: Apple's Libc, stdtime/backtrace.c: "%-4d%-35s 0x%016lx %s + %lu"; an image without the symbol gives its own name.
  static func symbolLine(_ frame: EventFrame, _ index: Int) -> String {
    let image = frame.image.map { prefix($0, 35) } ?? "???"
    let place: (name: String, offset: UInt64)
    if let symbol = frame.symbol ?? frame.name {
      place = (symbol, frame.symbolOffset ?? 0)
    } else if frame.image != nil, let offset = frame.imageOffset {
      place = (image, offset)
    } else {
      place = ("0x0", frame.address)
    }
    return String(index).padded(to: 4) + image.padded(to: 35) + " 0x" + hexadecimal(frame.address, width: 16) + " "
      + place.name + " + " + String(place.offset)
  }

  /// The lines of `callStackSymbols`, in which inlined calls have no frame of their own.
  static func symbolLines(_ frames: [EventFrame]) -> [String] {
    frames.filter { !$0.isInlined }.prefix(limit).enumerated().map { symbolLine($0.element, $0.offset) }
  }

  /// The array of those lines as `%@` prints it.
  static func printedArray(_ frames: [EventFrame]) -> String {
    "(\n" + symbolLines(frames).map { "\t" + $0 + "\n" }.joined() + ")"
  }

  /// For people: demangled names with their lines, inlined calls too.
  static func trace(_ frames: [EventFrame]) -> String {
    frames.prefix(limit).enumerated().map { index, frame in
      var line =
        String(index).padded(to: 4) + (frame.image ?? "???").padded(to: 31) + "0x"
        + hexadecimal(frame.address, width: 16)
      if let name = frame.name ?? frame.symbol {
        line += " " + name
        if !frame.isInlined { line += " + \(frame.symbolOffset ?? 0)" }
        if let file = frame.file, let number = frame.line, number > 0 {
          line += " (\(lastPathComponent(file)):\(number))"
        }
        if frame.isInlined { line += " [inlined]" }
      } else if let offset = frame.imageOffset {
        line += " 0x" + hexadecimal(frame.address &- offset) + " + " + String(offset)
      }
      return line
    }.joined(separator: "\n")
  }

  private static func prefix(_ text: String, _ count: Int) -> String {
    text.utf8.count <= count ? text : String(text.prefix(count))
  }
}

extension EventFrame {
  /// The stack of the thread that crashed, by what needs no symbols: frames that the input lists, or the chain of frame pointers.
  package static func walked(_ snapshot: ProcessSnapshot, _ file: InputFile) -> [EventFrame] {
    guard let index = snapshot.crashedThread else { return [] }
    let thread = snapshot.threads[index]
    let images = ImageNames(snapshot, file)
    if let recorded = thread.frames { return recorded.prefix(StackForm.limit).map { EventFrame($0, images) } }
    guard let context = snapshot.exception?.context ?? thread.context else { return [] }
    return FramePointers.addresses(context, thread.stack?.region, snapshot, file).enumerated().map {
      EventFrame($0.element, isCaller: $0.offset > 0, images)
    }
  }

  init(_ recorded: RecordedFrame, _ images: ImageNames) {
    self.init(address: recorded.address)
    image = recorded.module.map { images.name($0) }
    imageOffset = recorded.moduleOffset
    symbol = recorded.function
    symbolOffset = recorded.functionOffset
    file = recorded.file
    line = recorded.line.map { UInt64($0) }
    isInlined = recorded.isInlined
  }

  init(_ address: UInt64, isCaller: Bool, _ images: ImageNames) {
    self.init(address: address)
    // Behind a call that ends its function lies the next one.
    let looked = isCaller ? address &- 1 : address
    if let (module, offset) = images.lookup(looked) {
      image = images.name(module)
      imageOffset = offset &+ (isCaller ? 1 : 0)
    } else if let unloaded = images.unloaded(looked) {
      image = unloaded.name
      imageOffset = unloaded.start.map { address &- $0 }
    }
  }
}

/// Modules of one snapshot by address.
struct ImageNames {
  private let snapshot: ProcessSnapshot
  private let file: InputFile

  init(_ snapshot: ProcessSnapshot, _ file: InputFile) {
    self.snapshot = snapshot
    self.file = file
  }

  func name(_ index: Int) -> String {
    guard snapshot.modules.indices.contains(index), let name = snapshot.modules[index].name else { return "???" }
    return lastPathComponent(file.withBytes { snapshot.text(name, in: $0) })
  }

  /// The modules that were unloaded from an address, and the start if there is only one place.
  func unloaded(_ address: UInt64) -> (name: String, start: UInt64?)? {
    var names: [String] = []
    var starts: Set<UInt64> = []
    for module in snapshot.unloadedModules
    where address >= module.address && address - module.address < UInt64(module.size) {
      let name = lastPathComponent(file.withBytes { snapshot.text(module.name, in: $0) })
      if !names.contains(name), names.count < 3 { names.append(name) }
      starts.insert(module.address)
    }
    if names.isEmpty { return nil }
    let start = names.count == 1 && starts.count == 1 ? starts.first : nil
    return (names.joined(separator: " or ") + " (unloaded)", start)
  }

  func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    for (index, module) in snapshot.modules.enumerated() {
      guard let start = module.address, let size = module.size, address >= start, address - start < size else {
        continue
      }
      return (index, address - start)
    }
    return nil
  }
}

/// The chain of frame pointers: each frame begins with the caller's pointer and the return address.
private enum FramePointers {
  static func addresses(
    _ context: CPUContext, _ stack: MemoryRegion?, _ snapshot: ProcessSnapshot, _ file: InputFile
  ) -> [UInt64] {
    var addresses = [context.instructionPointer]
    var frame: UInt64
    switch context {
    case .arm64(let registers): frame = registers.fp
    case .x86_64(let registers): frame = registers.rbp
    case .named: return addresses
    }
    guard let stack, !stack.content.isEmpty else { return addresses }
    file.withBytes { input in
      snapshot.withBytes(of: stack.content, in: input) { bytes in
        while addresses.count < StackForm.limit, frame >= stack.address, frame % 8 == 0,
          frame - stack.address <= UInt64(bytes.byteCount), UInt64(bytes.byteCount) - (frame - stack.address) >= 16
        {
          let offset = Int(frame - stack.address)
          let next = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
          let address = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
          if address == 0 { return }
          addresses.append(address)
          // The chain leads outwards, to higher addresses.
          guard next > frame else { return }
          frame = next
        }
      }
    }
    return addresses
  }
}
