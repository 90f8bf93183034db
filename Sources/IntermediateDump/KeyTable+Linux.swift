// SPDX-License-Identifier: Apache-2.0
/// Keys for dumps of Linux processes: numbers 60000 to 60999, which are reserved for crashpadctl. Crashpad's reader
/// skips them.
///
/// A container may hide facts about the system, so most of these are optional.
let linuxKeys: [KeyDescriptor] = [
  row(
    .linux, "kLinux", in: [KeyTable.root], .map, .keep, .none, .optional,
    "Facts of a Linux process; with it, the dump is one of Linux"),
  row(.osFamily, "kOSFamily", in: [.linux], .text, .name, .none, .expected, "The system's name: Linux"),
  row(
    .kernelRelease, "kKernelRelease", in: [.linux], .text, .name, .none, .expected, "The kernel's release, as uname -r"),
  row(
    .kernelVersion, "kKernelVersion", in: [.linux], .text, .name, .none, .expected, "The kernel's version, as uname -v"),
  row(
    .distribution, "kDistribution", in: [.linux], .text, .name, .none, .optional,
    "PRETTY_NAME of the system's os-release file"
  ),
  row(
    .commandLine, "kCommandLine", in: [.linux], .text, .commandLine, .none, .optional,
    "Arguments, each ended by NUL; the values of secrets are replaced"),
  row(
    .environment, "kEnvironment", in: [.linux], .text, .environment, .none, .optional,
    "Environment variables that may be kept, NAME=VALUE, each ended by NUL"),
  row(
    .auxiliaryVector, "kAuxiliaryVector", in: [.linux], .words, .auxiliaryVector, .none, .optional,
    "Auxiliary vector from the kernel: pairs of type and value"),
  row(
    .maps, "kMaps", in: [.capture], .text, .maps, .none, .optional,
    "/proc/self/maps at the crash; whole lines, perhaps not all of them"),
  row(
    .processStatus, "kProcessStatus", in: [.capture], .text, .processStatus, .none, .optional,
    "/proc/self/status at the crash"),
  row(.release, "kRelease", in: [.linux], .text, .release, .none, .optional, "/etc/os-release"),
  row(
    .captureNotes, "kCaptureNotes", in: [.capture], .text, .text, .none, .optional,
    "Notes about things that could not be captured, one per line"),
  row(
    .captureDuration, "kCaptureDuration", in: [.capture], u64, .keep, .nanoseconds, .optional,
    "From the signal to the end of the capture"),
  row(.executable, "kExecutable", in: [.linux], .text, .name, .none, .optional, "Path of the executable"),
  row(.cpuModel, "kCPUModel", in: [.linux], .text, .name, .none, .optional, "Model name of the processor"),
  row(
    .capture, "kCapture", in: [KeyTable.root], .map, .keep, .none, .optional,
    "Values that are read and known last, at the end of the dump"),
  row(
    .buildID, "kBuildID", in: [.modules], .bytes, .identifier, .none, .optional,
    "The whole of the ELF note NT_GNU_BUILD_ID; kUUID has its first 16 bytes"),
  row(
    .threadCapture, "kThreadCapture", in: [.threads], u32, .keep, .none, .optional,
    "How the thread was captured: 1 it is the one that crashed or asked; 2 stopped by a signal; 3 by ptrace; 4 only the "
      + "stack pointer and the instruction pointer, from /proc; 5 not stopped, so without registers"),
  row(
    .raisedAgain, "kRaisedAgain", in: [.signalException], u32, .keep, .none, .optional,
    "1 if the process sent itself the signal, and this is the fault before it, which had the same registers"),
]
