// SPDX-License-Identifier: Apache-2.0
// Ends in functions of Breakpad's client, which this project does not have: see `capture`.
#include <client/linux/handler/exception_handler.h>
#include <cstdlib>
#include <cstring>

static bool store(const google_breakpad::MinidumpDescriptor &, void *, bool) { abort(); }
static bool choose(void *) { abort(); }

struct Fault {
  const char *name;
  void (*run)();
};

static void write_by_hand() { google_breakpad::ExceptionHandler::WriteMinidump("/tmp", store, nullptr); }

static void filter() {
  google_breakpad::ExceptionHandler handler(google_breakpad::MinidumpDescriptor("/tmp"), choose, store, nullptr, false, -1);
  handler.HandleSignal(SIGSEGV, nullptr, nullptr);
}

static void handle_bad() {
  google_breakpad::ExceptionHandler handler(google_breakpad::MinidumpDescriptor("/tmp"), nullptr, store, nullptr, false, -1);
  handler.HandleSignal(SIGSEGV, reinterpret_cast<siginfo_t *>(16), reinterpret_cast<void *>(16));
}

static const Fault faults[] = {{"write-minidump", write_by_hand}, {"filter-abort", filter}, {"handle-bad", handle_bad}};

int main(int, char **arguments) {
  for (const Fault &fault : faults) {
    if (!strcmp(arguments[1], fault.name)) fault.run();
  }
  abort();
}
