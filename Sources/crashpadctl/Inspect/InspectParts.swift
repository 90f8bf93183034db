// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The parts of a dump to print as text; without any, an overview.
struct InspectParts: OptionTable {
  var threads: ThreadChoice?
  var modules = false
  var annotations = false
  var registers = false
  var memoryList = false
  var memory: AddressArgument?
  var length: UInt32?
  var tree = false
  var hex = false

  mutating func rows(_ row: inout OptionRows) {
    // Without a value, all: the option was once a flag.
    row.option(
      &threads, "-t, --threads <which>", "List threads: crashed, all (the same as no value), or a number.",
      ThreadChoice.completion, bare: "all")
    row.flag(&modules, "--modules", "List the modules.")
    row.flag(&annotations, "--annotations", "List all messages and annotations.")
    row.flag(&registers, "--registers", "Print the registers of the exception and of every thread.")
    row.flag(&memoryList, "--memory-list", "List the captured memory ranges.")
    row.option(&memory, "--memory <address>", "Print captured memory from this address on.")
    row.option(&length, "--length <bytes>", "Number of bytes that --memory prints. (default: 256)")
    row.flag(&tree, "--tree", "Print every record of an intermediate dump with its offset and decoded value.")
    row.flag(&hex, "--hex", "Print the bytes of the file.")
  }

  /// The length of the memory to print, in bytes.
  var memoryLength: Int { Int(length ?? 256) }

  var isEmpty: Bool { isEmptyButMemory && memory == nil }

  /// Whether no part was requested, or memory alone: all of it would be too much for JSON.
  var isEmptyButMemory: Bool {
    threads == nil && !modules && !annotations && !registers && !memoryList && !tree && !hex
  }

  func validate() throws {
    if length != nil, memory == nil { throw ValidationError("--length goes with --memory.") }
  }
}

/// A number in decimal, or in hexadecimal with a leading 0x.
struct AddressArgument: ExpressibleByArgument {
  let address: UInt64

  init?(argument: String) {
    let value = argument.hasPrefix("0x") ? UInt64(argument.dropFirst(2), radix: 16) : UInt64(argument)
    guard let value else { return nil }
    address = value
  }
}
