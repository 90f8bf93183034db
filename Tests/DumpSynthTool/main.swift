// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Glibc

exit(run(Array(CommandLine.arguments.dropFirst())))
