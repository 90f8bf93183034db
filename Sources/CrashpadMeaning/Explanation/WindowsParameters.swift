// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The parameters of an exception of Windows, in words.
package struct WindowsParameters: Sendable {
  /// Names for the title, such as "READ" and "STATUS_IO_DEVICE_ERROR".
  package private(set) var names: [String] = []
  /// The address that was accessed.
  package private(set) var address: UInt64?
  /// The event, if the parameters say more than the code.
  package private(set) var event: String?
  /// The row of the reason of a fast fail.
  package private(set) var row: CodeMeaning?
  /// Sentences about the values.
  package private(set) var notes: [String] = []
  /// Advice in place of that for the code, which says where to find these parameters.
  package private(set) var advice: [String]?

  package init(_ exception: ExceptionSnapshot) {
    guard exception.kind == .windows else { return }
    let codes = exception.codes
    switch exception.code {
    case 0xc000_0005 where codes.count >= 2: access(codes)
    case 0xc000_0006 where codes.count >= 2: pageError(codes)
    case 0xc000_0409 where codes.count >= 1: fastFail(codes[0] & 0xffff_ffff)
    case 0xe06d_7363 where codes.count >= 3: thrown(codes)
    case 0xe043_4352 where codes.count >= 1: managed(UInt32(truncatingIfNeeded: codes[0]))
    default: break
    }
  }

  private mutating func access(_ codes: [UInt64]) {
    names = [codes[0] == 1 ? "WRITE" : codes[0] == 8 ? "EXECUTE" : "READ"]
    address = codes[1]
    // For a general protection fault Windows has no address, and says that it was a read.
    if codes[0] == 0, codes[1] == .max {
      event =
        "a general protection fault, mostly an address that no pointer can have or that the instruction needs aligned"
    }
    advice = ["Look at the crashed thread's stack."]
  }

  private mutating func pageError(_ codes: [UInt64]) {
    access(codes)
    guard codes.count >= 3 else { return }
    let status = UInt32(truncatingIfNeeded: codes[2])
    let words = Self.pageErrors.first { $0.status == status }?.words
    names.append(WindowsErrorNames.status(status) ?? hex(status))
    event = "a page that could not be read in" + (words.map { ": \($0)" } ?? "")
    advice = ["Find out which file or program was mapped at the address, and whether its disk or network went away."]
  }

  private mutating func fastFail(_ reason: UInt64) {
    row = MeaningTable.fastFail(reason)
    names = [row?.name ?? "reason \(reason)"]
    event = row?.event ?? "the program ended itself for a reason that is not known"
    notes = ["The reason of the fast fail is parameter 0, \(reason)."]
    // The row of the code says where the reason is.
    advice = row?.advice ?? ["Look at the crashed thread's stack."]
  }

  /// The first parameter of Microsoft's runtime is a number of its version, the others are addresses.
  private mutating func thrown(_ codes: [UInt64]) {
    guard (0x1993_0520...0x1993_0522).contains(codes[0]) else { return }
    if codes[2] == 0 {
      event = "throw; without an exception that was caught before"
      return
    }
    notes = ["The object that was thrown is at \(hex(codes[1])), the description of its type at \(hex(codes[2]))."]
  }

  private mutating func managed(_ result: UInt32) {
    guard let known = Self.managedTypes.first(where: { $0.result == result }) else {
      notes = ["The exception's HResult is \(hex(result))."]
      return
    }
    names = [known.type]
    event = "a .NET exception that the program did not handle"
    notes = ["The type is that of the exception's HResult \(hex(result)); one derived from it may have the same."]
  }

  /// Why pages can't be read. Source: Microsoft, ntstatus.h
  private static let pageErrors: [(status: UInt32, words: String)] = [
    (0xc000_000e, "the device is no longer there"), (0xc000_0012, "another disk is in the drive"),
    (0xc000_0013, "no disk is in the drive"), (0xc000_0032, "the file system is damaged"),
    (0xc000_003f, "a checksum of the disk is wrong"), (0xc000_0098, "the file was changed while it was open"),
    (0xc000_009a, "the system has not enough memory for it"), (0xc000_009c, "the disk has bad sectors"),
    (0xc000_009d, "the device is not connected"), (0xc000_00a3, "the device is not ready"),
    (0xc000_00b5, "the device or the server did not answer in time"), (0xc000_00be, "the server was not found"),
    (0xc000_00c4, "the network failed"), (0xc000_00c9, "the network share is no longer there"),
    (0xc000_00d6, "the connection to the server was closed"), (0xc000_0102, "the file is damaged"),
    (0xc000_012d, "the system has no memory left that it can promise"), (0xc000_0185, "the device reported an error"),
    (0xc000_020c, "the connection to the server was lost"), (0xc000_026e, "the volume was removed"),
    (0xc000_02b6, "the device was removed"), (0xc000_0428, "the signature of the program's page is wrong"),
    (0xc000_0709, "the memory has a fault"), (0xc000_cf01, "the file is in the cloud, and its provider does not run"),
    (0xc000_cf11, "the file is in the cloud, and the network is not available"),
  ]

  /// The types of .NET exceptions by their HRESULTs. Source: .NET runtime, corerror.h and winerror.h
  private static let managedTypes: [(result: UInt32, type: String)] = [
    (0x8000_4001, "System.NotImplementedException"), (0x8000_4002, "System.InvalidCastException"),
    (0x8000_4003, "System.NullReferenceException"), (0x8002_0012, "System.DivideByZeroException"),
    (0x8007_0002, "System.IO.FileNotFoundException"), (0x8007_0003, "System.IO.DirectoryNotFoundException"),
    (0x8007_0005, "System.UnauthorizedAccessException"), (0x8007_000b, "System.BadImageFormatException"),
    (0x8007_000e, "System.OutOfMemoryException"), (0x8007_0057, "System.ArgumentException"),
    (0x8007_03e9, "System.StackOverflowException"), (0x8013_1500, "System.Exception"),
    (0x8013_1501, "System.SystemException"), (0x8013_1502, "System.ArgumentOutOfRangeException"),
    (0x8013_1503, "System.ArrayTypeMismatchException"), (0x8013_1505, "System.TimeoutException"),
    (0x8013_1506, "System.ExecutionEngineException"), (0x8013_1507, "System.FieldAccessException"),
    (0x8013_1508, "System.IndexOutOfRangeException"), (0x8013_1509, "System.InvalidOperationException"),
    (0x8013_150a, "System.Security.SecurityException"),
    (0x8013_150c, "System.Runtime.Serialization.SerializationException"),
    (0x8013_1510, "System.MethodAccessException"), (0x8013_1511, "System.MissingFieldException"),
    (0x8013_1512, "System.MissingMemberException"), (0x8013_1513, "System.MissingMethodException"),
    (0x8013_1515, "System.NotSupportedException"), (0x8013_1516, "System.OverflowException"),
    (0x8013_1517, "System.RankException"), (0x8013_1518, "System.Threading.SynchronizationLockException"),
    (0x8013_151a, "System.MemberAccessException"), (0x8013_1520, "System.Threading.ThreadStateException"),
    (0x8013_1522, "System.TypeLoadException"), (0x8013_1523, "System.EntryPointNotFoundException"),
    (0x8013_1524, "System.DllNotFoundException"), (0x8013_1530, "System.Threading.ThreadAbortException"),
    (0x8013_1534, "System.TypeInitializationException"), (0x8013_1537, "System.FormatException"),
    (0x8013_1543, "System.TypeAccessException"), (0x8013_1577, "System.Collections.Generic.KeyNotFoundException"),
    (0x8013_1600, "System.ApplicationException"), (0x8013_1620, "System.IO.IOException"),
    (0x8013_1621, "System.IO.FileLoadException"), (0x8013_1622, "System.ObjectDisposedException"),
    (0x8013_153b, "System.OperationCanceledException"),
  ]
}
