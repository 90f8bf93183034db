// SPDX-License-Identifier: Apache-2.0
import CrashpadSignatures

/// The description of a part of groups. The library that reads parts writes them too.
enum GroupPartDocument {
  static let description = DocumentDescription(
    schema: CrashGroups.partSchema, about: "Output of `crashpadctl group --partial`, for `--merge`.",
    members: [
      member("rules", .number, "The version of the rules."),
      member("shards", .list(.object(shard)), "The parts of a run."),
    ])

  private static func member(
    _ name: String, _ type: JSONType, _ meaning: String, _ presence: MemberPresence = .always
  ) -> MemberDescription {
    MemberDescription(name: name, type: type, presence: presence, meaning: meaning)
  }

  private static let shard = [
    member("run", .text, "A digest of the names of all inputs."),
    member("number", .number, "The number of the part, from 1."),
    member("total", .number, "The number of parts of the run."),
    member("failed", .number, "The number of inputs that could not be read completely."),
    member("cells", .list(.object(cell)), "The groups."),
  ]

  private static let cell = [
    member("id", .text, "The id of the signature."),
    member("text", .text, "The signature."),
    member("raw", .text, "The raw signature."),
    member("named", .flag, "Whether the function at fault has a name."),
    member("flags", .list(.text), "As in `signature` of `crashpadctl-symbolize/1`."),
    member("count", .number, "The number of crashes."),
    member("first", .number, "The time of the first crash in seconds since 1970.", .nullable),
    member("last", .number, "The time of the last crash in seconds since 1970.", .nullable),
    member("versions", .map(.number), "The number of crashes of each version."),
    member("devices", .map(.number), "The number of crashes of each device."),
    member("systems", .map(.number), "The number of crashes of each system."),
    member("releases", .map(.map(.number)), "The number of crashes of each version, by program."),
    member("days", .list(.object(day)), "The number of crashes by day and version."),
    member("device_days", .list(.object(deviceDay)), "The number of crashes by day and device.", .omittable),
    member("example", .object(example), "One of the crashes."),
    member("quick", .map(.list(.number)), "The times of crashes soon after a start, for each installation."),
    member("installed", .number, "The number of crashes that name their installation."),
    member("installations", .list(.text), "Digests of the installations."),
    member(
      "accounts", .list(.object(account)),
      "Facts that show whether a report in another part is of one of these crashes.", .omittable),
    member(
      "waiting", .list(.object(waiting)), "Reports that may be of a crash in another part.", .omittable),
  ]

  private static let day = [
    member("day", .number, "The day, counted from 1970."),
    member("version", .text, "The version.", .nullable),
    member("count", .number, "The number of crashes."),
  ]

  private static let deviceDay = [
    member("day", .number, "The day, counted from 1970."),
    member("device", .text, "The device."),
    member("count", .number, "The number of crashes."),
  ]

  private static let example = [
    member("id", .text, "The id of the report.", .nullable),
    member("input", .text, "The name of the input.", .nullable),
  ]

  private static let account = [
    member("time", .number, "The time of the end of the process in seconds since 1970."),
    member("pid", .number, "The process id."),
    member("process", .text, "The name of the executable's file.", .nullable),
    member("device", .text, "The device.", .nullable),
    member("version", .text, "The version of the program.", .nullable),
  ]

  private static let waiting = [
    member("reports", .number, "The number of times that the report was read."),
    member("id", .text, "The id of the report, or otherwise the input."),
    member("input", .text, "The name of the input."),
    member("report", .text, "The report's own id.", .nullable),
    member("role", .text, "The kind of account of the crash.", .nullable),
    member("time", .number, "The time in seconds since 1970.", .nullable),
    member("since", .number, "The start of a period that ends with `time`.", .nullable),
    member("pid", .number, "The process id.", .nullable),
    member("process", .text, "The name of the executable's file.", .nullable),
    member("program", .text, "The name of the program.", .nullable),
    member("version", .text, "The version of the program.", .nullable),
    member("device", .text, "The device.", .nullable),
    member("system", .text, "The system.", .nullable),
    member("client", .text, "The installation.", .nullable),
    member("quick", .flag, "Whether the program ended within seconds of its start."),
  ]
}
