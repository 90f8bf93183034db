// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Cores of Linux, and damaged ones, whose names say the rule that must find the fault.
extension Samples {
  static let cores: [String: [UInt8]] = {
    let core = SynthCore(threads: 2)
    let file = core.file()
    var abort = SynthCore(threads: 2)
    abort.signalNumber = 6
    abort.signalCode = -6
    var living = SynthCore(threads: 1)
    living.signalNumber = 19
    living.threads[0].signal = 0
    return [
      "core": core.bytes,
      "example.core": core.bytes,
      "core.4242": abort.bytes,
      "arm64.core": SynthCore(.aarch64, threads: 2).bytes,
      "i386.core": SynthCore(.i386, threads: 2).bytes,
      "arm.core": SynthCore(.arm, threads: 2).bytes,
      "living.core": living.bytes,
      "cut.core": Array(file.bytes.prefix((file.fields["data[9]"] ?? 0) + 16)),
      "core.example.zst": [0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x00, 0x01, 0x00],
      "core.example.lz4": [0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 0x00],
      "cores/core": core.bytes,
      "cores/core.77": abort.bytes,
      "cores/core.c": Array("int main(void) { return 0; }\n".utf8),
      "cores/left-behind": SynthCore(.aarch64, threads: 1).bytes,
      "cores/program": file.setting("phdr[0]", plus: -48, to: 3, width: 2),
    ]
  }()

  static let damagedCores: [String: [UInt8]] = {
    let core = SynthCore(threads: 2)
    let file = core.file()
    func overwritten(_ value: UInt64, width: Int, at offset: Int) -> [UInt8] {
      var bytes = file.bytes
      bytes.overwrite(value, width: width, at: offset)
      return bytes
    }
    var bigEndian = overwritten(2, width: 1, at: 5)
    // A core of S/390
    bigEndian.replaceSubrange(16..<20, with: [0, 4, 0, 22])
    var stray = core
    stray.firstNotes = [SynthCore.Note("CORE", 2, [UInt8](repeating: 0, count: 512))]
    var noNotes = core
    noNotes.hasNotes = false
    var noFiles = core
    noFiles.hasFileNote = false
    var shared = file.setting("phdr[3]", plus: 8, to: 0, width: 8)
    let size = UInt64(shared.count)
    for offset in [32, 40] { shared.overwrite(size, width: 8, at: (file.fields["phdr[3]"] ?? 0) + offset) }
    return [
      "damaged-core-too-short.core": Array(file.bytes.prefix(40)),
      "damaged-core-signature.core": overwritten(0x7e, width: 1, at: 0),
      "damaged-core-type.core": overwritten(2, width: 2, at: 16),
      "damaged-core-class.core": bigEndian,
      "damaged-core-machine.core": overwritten(43, width: 2, at: 18),
      "damaged-core-foreign.core": SynthCore.ofForeignSystem().bytes,
      "damaged-core-headers.core": overwritten(0xfff0, width: 2, at: 56),
      "damaged-core-shared-bytes.core": shared,
      "damaged-core-overlap.core": file.setting("phdr[2]", plus: 16, to: core.segments[0].address + 16, width: 8),
      "damaged-core-no-notes.core": noNotes.bytes,
      "damaged-core-note.core": file.setting("note[1]", plus: 4, to: 0xffff_ff00, width: 4),
      "damaged-core-short-note.core": file.setting("note[2]", plus: 4, to: 12, width: 4),
      "damaged-core-stray-note.core": stray.bytes,
      "damaged-core-no-files.core": noFiles.bytes,
      "damaged-core-file-count.core": file.setting("NT_FILE", to: 70_000, width: 8),
      "damaged-core-too-many-entries.core": SynthCore.sharingOneName().bytes,
    ]
  }()
}
