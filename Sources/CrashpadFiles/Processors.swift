// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The number of processors that are online.
package func activeProcessorCount() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
