// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Glibc

/// Runs one command line; the result is the exit status.
func run(_ arguments: [String]) -> Int32 {
  guard let options = Options(arguments) else {
    return complain(Options.usage, status: 64)
  }
  if let count = options.count, let directory = options.directory {
    return writeMany(options, count: count, directory: directory)
  }
  return write(single(options), to: options.file)
}

private func single(_ options: Options) -> [UInt8] {
  switch options.kind {
  case .idump:
    var parameters = options.dump
    if let size = options.size { parameters = parameters.scaled(to: size, smallRecords: options.smallRecords) }
    var random = SplitMix64(seed: parameters.seed, area: 99)
    return Mutation.several(options.mutations, on: SynthDump(parameters).bytes, using: &random).bytes
  case .minidump:
    var parameters = options.minidump
    if let size = options.size { parameters = parameters.scaled(to: size, smallRecords: options.smallRecords) }
    return SynthMinidump(parameters).bytes
  case .linux:
    let parameters = options.dump
    return SynthLinuxDump(parameters.architecture, threads: parameters.threadCount, seed: parameters.seed).bytes
  }
}

/// Files as they lie in the directory of pending dumps: bundle identifier, "@", a UUID, no suffix.
private func writeMany(_ options: Options, count: Int, directory: String) -> Int32 {
  for index in 0..<count {
    var options = options
    options.dump.seed &+= UInt64(index)
    options.minidump.seed &+= UInt64(index)
    var random = SplitMix64(seed: options.dump.seed, area: 98)
    var uuid = random.bytes(16)
    uuid[6] = uuid[6] & 0x0f | 0x40
    uuid[8] = uuid[8] & 0x3f | 0x80
    if options.size == nil { options.size = random.between(30_000, 90_000) }
    options.dump.threadCount = random.between(2, 6)
    let suffix = options.kind == .minidump ? ".dmp" : ""
    let status = write(single(options), to: "\(directory)/com.example.app@\(Hex.uuid(uuid))\(suffix)")
    if status != 0 { return status }
  }
  return 0
}

private func write(_ bytes: [UInt8], to path: String?) -> Int32 {
  var descriptor: Int32 = 1
  if let path {
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return complain("dump-synth: cannot create \(path)", status: 73) }
  }
  defer { if path != nil { close(descriptor) } }
  return writeAll(bytes, descriptor) ? 0 : complain("dump-synth: cannot write", status: 74)
}

private func writeAll(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
  unsafe bytes.withUnsafeBytes { buffer in
    var offset = 0
    while offset < buffer.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[offset...])
      let written = unsafe write(descriptor, rest.baseAddress, rest.count)
      if written > 0 {
        offset += written
      } else if written < 0 && errno != EINTR {
        return false
      }
    }
    return true
  }
}

private func complain(_ text: String, status: Int32) -> Int32 {
  _ = writeAll(Array((text + "\n").utf8), 2)
  return status
}
