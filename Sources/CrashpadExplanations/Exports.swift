// SPDX-License-Identifier: Apache-2.0
// Types of the public declarations here: a program imports this module alone.
@_exported public import CrashpadCore
