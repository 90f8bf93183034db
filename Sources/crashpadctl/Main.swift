// SPDX-License-Identifier: Apache-2.0
import CCrashpadArguments
import Glibc

@main
enum Main {
  static func main() {
    arguments_restore_environment()
    ProcessSetup.openStandardStreams()
    ProcessSetup.installSignalHandlers {
      WorkerSlots.reportCrash(SIGBUS)
      ProcessSetup.endUnreadable()
    }
    Invocation(ProcessSetup.arguments).run()
  }
}
