// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The names of Windows' error numbers and status codes: more than can have meanings in a table.
package enum WindowsErrorNames {
  /// Such as "ERROR_FILE_NOT_FOUND" for 2.
  package static func error(_ number: UInt32) -> String? { errorNames.name(of: number) }

  /// Such as "STATUS_IO_DEVICE_ERROR" for 0xc0000185.
  package static func status(_ number: UInt32) -> String? { statusNames.name(of: number) }

  /// The name of the value that GetLastError() returns, which is an error, and in some programs a status.
  package static func lastError(_ number: UInt32) -> String? { error(number) ?? status(number) ?? ofFacility(number) }

  /// Such as "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND" for 0xc06d007e: an error that the delay loader raised.
  package static func ofFacility(_ number: UInt32) -> String? {
    guard number >> 28 != 0, number >> 16 & 0xfff == 0x6d else { return nil }
    return error(number & 0xffff).map { "FACILITY_VISUALCPP / \($0)" }
  }

  private static let errorNames = Names(errors, radix: 10)
  private static let statusNames = Names(statuses + "\n" + laterStatuses, radix: 16)

  /// A table that is parsed once, when the first name is needed.
  private struct Names: Sendable {
    private var numbers: [UInt32] = []
    private var names: [String] = []

    init(_ table: String, radix: Int) {
      for entry in table.split(whereSeparator: { $0 == "," || $0 == "\n" }) {
        let parts = entry.split(separator: " ")
        guard parts.count == 2, let number = UInt32(parts[0], radix: radix) else { continue }
        numbers.append(number)
        names.append(String(parts[1]))
      }
    }

    func name(of number: UInt32) -> String? {
      let index = numbers.indices.partitioningIndex { numbers[$0] >= number }
      return index < numbers.count && numbers[index] == number ? names[index] : nil
    }
  }
}
