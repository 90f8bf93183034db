// SPDX-License-Identifier: Apache-2.0
internal import CCrashCapture
internal import Synchronization

/// Crashpad's limits, from `client/annotation.h`.
enum AnnotationLimits {
  /// The most bytes of a value.
  static let valueSize = 5 * 4096
  /// The most bytes of a name.
  static let nameSize = 256
}

/// A `crash_annotation` that is never freed, with access to its atomic fields.
@safe
struct RegisteredAnnotation: @unchecked Sendable {
  private let annotation: UnsafeMutablePointer<crash_annotation>
  /// The address of the value; 0 before the first value.
  let value: UnsafeMutablePointer<Atomic<UInt>>
  /// The size in bytes; 0 while there is no value.
  let size: UnsafeMutablePointer<Atomic<UInt32>>

  /// Cuts the name after 256 bytes, between characters.
  init(name: String, type: UInt16) {
    var bytes = Array(name.utf8.prefix { $0 != 0 }.prefix(AnnotationLimits.nameSize))
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    let text = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
    for (index, byte) in bytes.enumerated() { unsafe text.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    unsafe text.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)

    let layout = unsafe MemoryLayout<crash_annotation>.self
    guard let valueOffset = unsafe layout.offset(of: \.value), let sizeOffset = unsafe layout.offset(of: \.size) else {
      preconditionFailure("C's fields have offsets")
    }
    let memory = unsafe UnsafeMutableRawPointer.allocate(byteCount: layout.size, alignment: layout.alignment)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: layout.size)
    unsafe annotation = memory.assumingMemoryBound(to: crash_annotation.self)
    unsafe value = (memory + valueOffset).assumingMemoryBound(to: Atomic<UInt>.self)
    unsafe size = (memory + sizeOffset).assumingMemoryBound(to: Atomic<UInt32>.self)
    unsafe annotation.pointee.name = UnsafePointer(text.assumingMemoryBound(to: CChar.self))
    unsafe annotation.pointee.type = type
  }

  /// Adds the annotation to dumps; cheap if it is registered already.
  func register() { unsafe crash_annotation_register(annotation) }
}
