// SPDX-License-Identifier: Apache-2.0
internal import CCrashCapture
internal import CrashpadFiles
internal import Glibc
internal import Synchronization
internal import SystemPackage

// The functions of include/crashpad_client.h, which documents them.

private typealias Failure = CrashpadClient.Failure

@c(crashpad_start)
package func _cStart(
  _ database: UnsafePointer<CChar>?, _ url: UnsafePointer<CChar>?, _ programID: UnsafePointer<CChar>?,
  _ annotations: UnsafePointer<UnsafePointer<CChar>?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> CInt {
  guard let database = unsafe database else { return EINVAL }
  do {
    try CrashpadClient.startCrashpadInProcessHandler(
      database: unsafe FilePath(platformString: database), url: unsafe url.map { unsafe String(cString: $0) },
      annotations: unsafe texts(annotations), programID: unsafe programID.map { unsafe String(cString: $0) })
    return 0
  } catch {
    unsafe put(error.description, message, messageSize)
    return error.errno.rawValue
  }
}

@c(crashpad_dump_without_crash)
package func _cDumpWithoutCrash() -> CInt {
  let caller = crash_capture_find_caller()
  return status { () throws(Failure) in _ = try CrashpadClient.dumpWithoutCrash(for: caller) }
}

@c(crashpad_dump_without_crash_and_defer_processing)
package func _cDumpWithoutCrashAndDeferProcessing() -> CInt {
  let caller = crash_capture_find_caller()
  return status { () throws(Failure) in _ = try CrashpadClient.deferredDump(at: nil, for: caller) }
}

@c(crashpad_dump_without_crash_and_defer_processing_at_path)
package func _cDumpWithoutCrashAndDeferProcessing(_ path: UnsafePointer<CChar>?) -> CInt {
  guard let path = unsafe path else { return EINVAL }
  let file = unsafe FilePath(platformString: path)
  let caller = crash_capture_find_caller()
  return status { () throws(Failure) in _ = try CrashpadClient.deferredDump(at: file, for: caller) }
}

@c(crashpad_process_intermediate_dumps)
package func _cProcessIntermediateDumps(_ annotations: UnsafePointer<UnsafePointer<CChar>?>?) -> CInt {
  let annotations = unsafe texts(annotations)
  return status { () throws(Failure) in _ = try CrashpadClient.processIntermediateDumps(annotations: annotations) }
}

@c(crashpad_process_intermediate_dump)
package func _cProcessIntermediateDump(
  _ file: UnsafePointer<CChar>?, _ annotations: UnsafePointer<UnsafePointer<CChar>?>?
) -> CInt {
  guard let file = unsafe file else { return EINVAL }
  let path = unsafe FilePath(platformString: file)
  let annotations = unsafe texts(annotations)
  return status { () throws(Failure) in _ = try CrashpadClient.processIntermediateDump(path, annotations: annotations) }
}

@c(crashpad_start_processing_pending_reports)
package func _cStartProcessingPendingReports() -> CInt {
  status { () throws(Failure) in try CrashpadClient.startProcessingPendingReports() }
}

@c(crashpad_set_uploads_enabled)
package func _cSetUploadsEnabled(_ isEnabled: CInt) -> CInt {
  status { () throws(Failure) in try CrashpadClient.setUploadsEnabled(isEnabled != 0) }
}

@c(crashpad_uploads_enabled)
package func _cUploadsEnabled() -> CInt { hint({ try CrashpadClient.uploadsEnabled() }) == true ? 1 : 0 }

@c(crashpad_crashed_last_run)
package func _cCrashedLastRun() -> CInt { CrashpadClient.crashedLastRun ? 1 : 0 }

@c(crashpad_start_crashes)
package func _cStartCrashes() -> CInt { CInt(clamping: CrashpadClient.previousRun?.startCrashes ?? 0) }

@c(crashpad_send_crash_events)
package func _cSendCrashEvents(
  _ form: UnsafePointer<CChar>?,
  _ send: (@convention(c) (UnsafePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> CInt)?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  let name = unsafe form.map { unsafe String(cString: $0) } ?? CrashpadClient.EventForm.seed.rawValue
  guard let send = unsafe send, let form = CrashpadClient.EventForm(rawValue: name) else { return EINVAL }
  do {
    try CrashpadClient.sendCrashEvents(form) { lines in
      let text = lines.joined()
      let code = unsafe text.withCString { unsafe send($0, text.utf8.count, context) }
      if code != 0 { throw Refusal(code: code) }
    }
    return 0
  } catch {
    switch error {
    case .client(let failure): return failure.errno.rawValue
    case .send(let error): return (error as? Refusal)?.code ?? EIO
    }
  }
}

/// The code that a function of the program returned.
private struct Refusal: Error {
  let code: CInt
}

@c(crashpad_set_annotation)
package func _cSetAnnotation(_ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?) -> CInt {
  guard let name = unsafe name else { return EINVAL }
  let text = unsafe value.map { unsafe String(cString: $0) }
  return unsafe CrashpadClient.setAnnotation(String(cString: name), to: text) ? 0 : E2BIG
}

@c(crashpad_add_memory)
package func _cAddMemory(_ address: UnsafeRawPointer?, _ size: Int) -> CInt {
  guard let address = unsafe address else { return EINVAL }
  // A size in the upper half of the unsigned range is negative here.
  guard size >= 0 else { return E2BIG }
  return unsafe CrashpadClient.addExtraMemoryRange(UnsafeRawBufferPointer(start: address, count: size)) ? 0 : E2BIG
}

@c(crashpad_remove_memory)
package func _cRemoveMemory(_ address: UnsafeRawPointer?) {
  if let address = unsafe address { unsafe CrashpadClient.removeExtraMemoryRange(at: address) }
}

@c(crashpad_prepare_thread)
package func _cPrepareThread() -> CInt { CrashpadClient.prepareThread() ? 0 : ENOMEM }

// MARK: Annotations: a handle is never freed, as the annotation is not.

private final class Handle<Value: Sendable>: Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }

  var pointer: UnsafeMutableRawPointer {
    handles.withLock { $0.append(self) }
    return unsafe Unmanaged.passUnretained(self).toOpaque()
  }

  static func value(_ pointer: UnsafeMutableRawPointer?) -> Value? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe Unmanaged<Handle<Value>>.fromOpaque(pointer).takeUnretainedValue().value
  }
}

@c(crashpad_string_annotation)
package func _cStringAnnotation(_ name: UnsafePointer<CChar>?, _ maximumLength: Int) -> UnsafeMutableRawPointer? {
  guard let name = unsafe name else { return nil }
  return unsafe Handle(StringAnnotation(String(cString: name), maximumLength: maximumLength)).pointer
}

@c(crashpad_string_annotation_set)
package func _cSet(_ annotation: UnsafeMutableRawPointer?, _ value: UnsafePointer<CChar>?) {
  guard let annotation = unsafe Handle<StringAnnotation>.value(annotation) else { return }
  guard let value = unsafe value else { return annotation.clear() }
  unsafe annotation.set(UnsafeRawBufferPointer(start: value, count: strlen(value)).bytes)
}

@c(crashpad_ring_buffer_annotation)
package func _cRingBufferAnnotation(_ name: UnsafePointer<CChar>?, _ userType: UInt16, _ capacity: Int)
  -> UnsafeMutableRawPointer?
{
  guard let name = unsafe name else { return nil }
  return unsafe Handle(RingBufferAnnotation(String(cString: name), userType: userType, capacity: capacity)).pointer
}

@c(crashpad_ring_buffer_annotation_push)
package func _cPush(_ annotation: UnsafeMutableRawPointer?, _ item: UnsafeRawPointer?, _ size: Int) -> CInt {
  guard let annotation = unsafe Handle<RingBufferAnnotation>.value(annotation), let item = unsafe item else {
    return EINVAL
  }
  guard size >= 0 else { return EAGAIN }
  return unsafe annotation.push(UnsafeRawBufferPointer(start: item, count: size).bytes) ? 0 : EAGAIN
}

// MARK: Between C and Swift

/// All handles: a program that keeps none of its own has no leak.
private let handles = Mutex<[any AnyObject & Sendable]>([])

/// A list of names and values in turn, up to NULL.
private func texts(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String: String] {
  guard let list = unsafe list else { return [:] }
  var texts: [String: String] = [:]
  var index = 0
  while let name = unsafe list[index], let value = unsafe list[index + 1] {
    unsafe texts[String(cString: name)] = unsafe String(cString: value)
    index += 2
  }
  return texts
}

private func put(_ text: String, _ target: UnsafeMutablePointer<CChar>?, _ size: Int) {
  guard let target = unsafe target, size > 0 else { return }
  var index = 0
  for byte in text.utf8.prefix(size - 1) {
    unsafe target[index] = CChar(bitPattern: byte)
    index += 1
  }
  unsafe target[index] = 0
}

/// Returns 0, or the errno value of a thrown error.
private func status(_ body: () throws(Failure) -> Void) -> CInt {
  do throws(Failure) {
    try body()
    return 0
  } catch { return error.errno.rawValue }
}
