// SPDX-License-Identifier: Apache-2.0
// Ends in functions of the C++ library, and of the C library below it, that rules of signatures take.
#include <csignal>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <algorithm>

namespace {
pthread_t waiting;
std::mutex mutex;
std::condition_variable condition;
volatile long bad = 16;

void interrupt() {
  usleep(300000);
  pthread_kill(waiting, SIGTRAP);
}

struct Pool {
  void lock() { mutex.lock(); mutex.lock(); }
  void wait() { std::unique_lock<std::mutex> lock(mutex); condition.wait(lock, [] { return bad == 0; }); }
  void pause() { std::this_thread::sleep_for(std::chrono::seconds(60)); }
  void join() { std::thread thread([] { ::pause(); }); thread.join(); }
  void read() {
    int ends[2];
    if (pipe(ends)) return;
    std::ifstream file("/dev/fd/" + std::to_string(ends[0]));
    std::string line;
    std::getline(file, line);
  }
  void compare() { std::string name(reinterpret_cast<const char *>(bad)); if (name.empty()) ::pause(); }
  void copy() { std::vector<int> from(100000); std::copy(from.begin(), from.end(), reinterpret_cast<int *>(bad)); }
  void sort() {
    std::vector<int> numbers{3, 1, 2};
    std::sort(numbers.begin(), numbers.end(), [](int one, int other) { return *reinterpret_cast<volatile int *>(bad) + one < other; });
  }
  void call() { std::function<void()> none; none(); }
  void give() { delete reinterpret_cast<std::string *>(bad); }
  void at() { std::map<int, int> map; map.at(1); }
  void length() { std::vector<int> numbers; numbers.resize(static_cast<size_t>(-bad)); }
  void future() { std::promise<int> promise; auto future = promise.get_future(); future.get(); }
  virtual void item() = 0;
};
struct Shelf : Pool { void item() override {} };
struct Base { Base() { use(); } void use() { work(); } virtual void work() = 0; };
struct Derived : Base { void work() override {} };
// The thread's first function is one of the C library.
void begin() { std::thread thread(reinterpret_cast<size_t (*)(const char *)>(strlen), reinterpret_cast<const char *>(bad)); thread.join(); }

struct Fault { const char *name; void (*function)(); bool waits; };
const Fault faults[] = {
  {"wait-lock", [] { Shelf().lock(); }, true},       {"wait-condition", [] { Shelf().wait(); }, true},
  {"wait-sleep", [] { Shelf().pause(); }, true},     {"wait-thread", [] { Shelf().join(); }, true},
  {"wait-file", [] { Shelf().read(); }, true},       {"wait-future", [] { Shelf().future(); }, true},
  {"compare-bad", [] { Shelf().compare(); }, false}, {"copy-bad", [] { Shelf().copy(); }, false},
  {"sort-bad", [] { Shelf().sort(); }, false},       {"call-none", [] { Shelf().call(); }, false},
  {"delete-bad", [] { Shelf().give(); }, false},     {"map-at", [] { Shelf().at(); }, false},
  {"vector-length", [] { Shelf().length(); }, false}, {"pure-virtual", [] { Derived(); }, false},
  {"thread-start", begin, false},
};
}  // namespace

int main(int count, char **arguments) {
  if (count < 2) return 64;
  for (const Fault &fault : faults) {
    if (strcmp(fault.name, arguments[1]) != 0) continue;
    waiting = pthread_self();
    if (fault.waits) std::thread(interrupt).detach();
    fault.function();
  }
  if (strcmp(arguments[1], "main-itself") == 0) *reinterpret_cast<volatile int *>(bad) = 1;
  return 0;
}
