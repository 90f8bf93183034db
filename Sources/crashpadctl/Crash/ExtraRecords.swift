// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON
import CrashpadView

/// Facts that only some writers of dumps record, in JSON documents, with the names of rust-minidump.
enum ExtraRecords {
  static let members = Record<CrashView>(
    .list("handles", handle, "The handles that the process had, or the descriptors of a Linux process.", .omittable) {
      $0.handles
    },
    .object("lsb_release", release, "The distribution of a Linux system.", .omittable) { $0.release },
    .number("linux_memory_map_count", "The number of mappings of a Linux process.", .omittable) { $0.mappingCount },
    .object("proc_limits", limits, "The limits of a Linux process, as in /proc/self/limits.", .omittable) {
      $0.processLimits
    },
    .object(
      "mac_crash_info", crashInfo, "The texts that modules of macOS left in their section __crash_info.", .omittable
    ) {
      $0.crashInfo.isEmpty ? nil : $0.crashInfo
    },
    .text("mac_boot_args", "The arguments that the kernel of macOS was started with.", .omittable) {
      $0.bootArguments?.text
    },
    .values(
      "soft_errors", "The notes of the writer of the dump on what it could not capture, in its own words.", .omittable
    ) {
      $0.softErrors?.elements
    })

  private static let handle = Record<CrashView.Handle>(
    .number("handle", "Its value.", .always) { $0.handle },
    .text("type_name", "Its type, such as File.") { $0.typeName?.text },
    .text("object_name", "The path or name of the object.") { $0.objectName?.text })

  private static let release = Record<[(name: String, value: String?)]>(
    .text("id", "The name.") { $0[0].value },
    .text("release", "The version.") { $0[1].value },
    .text("codename", "The version's name.") { $0[2].value },
    .text("description", "Name and version.") { $0[3].value })

  private static let limits = Record<[CrashView.Limit]>(
    .list("limits", limit, "The limits, in the order of the file.") { $0 })

  private static let limit = Record<CrashView.Limit>(
    .text("name", "The name, such as Max open files.", .always) { $0.name },
    .textOrNumber("soft", "The limit in force; `unlimited` for none, null if it is not readable.") { value($0.soft) },
    .textOrNumber("hard", "The highest that the process may set itself.") { value($0.hard) },
    .text("unit", "The unit; `n/a` for a number without one.", .always) { $0.unit ?? "n/a" })

  private static func value(_ value: CrashView.Limit.Value) -> (text: String?, number: UInt64?) {
    switch value {
    case .unlimited: ("unlimited", nil)
    case .number(let number): (nil, number)
    case .unknown: (nil, nil)
    }
  }

  private static let crashInfo = Record<[CrashView.CrashInfo]>(
    .number("num_records", "The number of objects in `records`.", .always) { $0.count },
    .list("records", record, "One for each module with such a section.") { $0 })

  private static let record = Record<CrashView.CrashInfo>(
    .address("thread", "The thread.") { $0.thread },
    .address("dialog_mode", "Whether the system asks the user.") { $0.dialogMode },
    .address("abort_cause", "The cause of an abort.") { $0.abortCause },
    .text("module", "The path of the module.") { $0.module?.text },
    .text("message", "The message.") { $0.message?.text },
    .text("signature_string", "A text that stands for the crash.") { $0.signature?.text },
    .text("backtrace", "A stack.") { $0.backtrace?.text },
    .text("message2", "The second message.") { $0.secondMessage?.text })
}
