// SPDX-License-Identifier: Apache-2.0
/// The word with which `redact` and Crashpad's sanitizer replace values that are not addresses in a module: not an address, and
/// not a multiple of anything.
package let removedWord: UInt64 = 0x0def_aced_0def_aced
