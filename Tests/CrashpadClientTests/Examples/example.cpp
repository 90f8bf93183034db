// SPDX-License-Identifier: Apache-2.0
// A program in C++ with the client: example DATABASE
#include <stdexcept>

#include "crashpad_client.h"

namespace {

class Path {
 public:
  explicit Path(const char *name) : annotation_(crashpad_string_annotation(name, 64)) {}
  void set(const char *value) { crashpad_string_annotation_set(annotation_, value); }

 private:
  void *annotation_;
};

}  // namespace

int main(int count, char **arguments) {
  if (count < 2) return 64;
  if (crashpad_start(arguments[1], nullptr, "cxx-example", nullptr, nullptr, 0) != 0) return 1;
  static Path path("path");
  path.set("/from/c++");
  throw std::runtime_error("nobody catches this");
}
