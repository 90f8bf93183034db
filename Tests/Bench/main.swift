// SPDX-License-Identifier: Apache-2.0
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
exit(bench(arguments))
