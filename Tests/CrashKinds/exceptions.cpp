// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "CrashKinds.h"

__attribute__((noinline)) void kind_cxx_exception(void) { throw std::runtime_error("the text of the exception"); }

__attribute__((noinline)) void kind_cxx_exception_of_no_type(void) { throw 42; }

namespace {

struct Base;
void call(Base *base);

struct Base {
  Base() { call(this); }
  virtual ~Base() = default;
  virtual void method() = 0;
};

__attribute__((noinline)) void call(Base *base) { base->method(); }

struct Derived : Base {
  void method() override {}
};

}  // namespace

__attribute__((noinline)) void kind_pure_virtual(void) { Derived derived; }
