import AppleReports
import BinaryFormat
import FileSystem
import Snapshot

/// A report in the form that it begins like, and as a `.crash` text: every index and every range of the snapshot lies inside.
/// What could be an archive or compressed is unpacked.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  let span = unsafe bytes.span.bytes
  let form = ReportForm.of(span)
  if let form { check(ReportReader.read(span, form: form), bytes.count) }
  if form != .crash { check(ReportReader.read(span, form: .crash), bytes.count) }
  unpack(bytes)
  return 0
}

private func check(_ reading: ReportReading, _ count: Int) {
  for finding in reading.findings.findings { precondition(finding.offset.map { $0 <= count } ?? true) }
  guard let snapshot = reading.snapshot else {
    precondition(!reading.findings.isEmpty, "refused without a reason")
    return
  }
  if let thread = snapshot.report?.faultingThread { precondition(snapshot.threads.indices.contains(thread)) }
  let frames = snapshot.threads.flatMap { $0.frames ?? [] } + (snapshot.report?.lastException ?? [])
  for case .some(let module) in frames.map(\.module) { precondition(snapshot.modules.indices.contains(module)) }
  let contents =
    snapshot.threads.flatMap { [$0.name, $0.queue] } + snapshot.modules.flatMap { [$0.name, $0.debugName] }
  for case .some(let content) in contents {
    precondition(content.offset + content.count <= (content.isInArena ? snapshot.arena.count : count))
  }
}

private func unpack(_ bytes: [UInt8]) {
  let file = InputFile(bytes: bytes)
  let span = unsafe bytes.span.bytes
  if let compression = Compression.of(span) { _ = try? Decompression.unpack(span, compression, like: file) }
  guard let archive = ZipArchive(span) else { return }
  for member in archive.members.prefix(4) {
    _ = try? archive.start(of: member, in: span, count: 1024)
    _ = try? archive.unpack(member, in: span, like: file)
  }
}
