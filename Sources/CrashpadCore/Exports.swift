// SPDX-License-Identifier: Apache-2.0
// Types of the public declarations here: a program imports this module alone.
@_exported public import struct CrashpadBytes.Finding
@_exported public import struct CrashpadBytes.FindingList
@_exported public import struct CrashpadBytes.Rule
@_exported public import enum CrashpadBytes.Severity
@_exported public import CrashpadDatabase
@_exported public import enum CrashpadFiles.DecompressionFailure
@_exported public import CrashpadSnapshot
