// SPDX-License-Identifier: Apache-2.0
/// Sources for iOS that need neither its SDK nor a standard library.
enum ApplePrograms {
  /// The linker's description of the system.
  static let system = """
    --- !tapi-tbd
    tbd-version: 4
    targets: [ arm64-ios ]
    install-name: '/usr/lib/libSystem.B.dylib'
    exports:
      - targets: [ arm64-ios ]
        symbols: [ dyld_stub_binder, ___cxa_pure_virtual, _bzero, ___stack_chk_fail, ___stack_chk_guard ]
    ...

    """

  static let header = """
    namespace shop {
    struct Item { virtual ~Item() {} virtual int price(int) const = 0; };
    template <typename T> inline T square(T x) { return x * x + 1; }
    template <typename T, int N> inline T sum(const T (&list)[N]) {
      T all = 0;
      for (int i = 0; i < N; i++) all += square(list[i]);
      return all;
    }
    int total(const Item *const *items, int count);
    int descend(int *place, int depth);
    }
    extern "C" int shop_entry(int *place, int depth);

    """

  static let library = """
    #include "shop.h"
    namespace shop {
    namespace {
    struct Counter { int *n; Counter(int *n) : n(n) { ++*n; } ~Counter() { --*n; } };
    __attribute__((noinline)) int read(volatile int *place) { return square(*place) + square(place[1]); }
    }
    int total(const Item *const *items, int count) {
      int n = 0, all = 0;
      auto add = [&](int price) {
        Counter guard(&n);
        all += price * n;
      };
      for (int i = 0; i < count; i++) add(square(items[i]->price(i)));
      return all;
    }
    int descend(int *place, int depth) {
      volatile int list[4] = {depth, 1, 2, 3};
      if (depth <= 0) return read(place) + list[3];
      int copy[4] = {list[0], list[1], list[2], list[3]};
      return descend(place, depth - 1) + sum(copy) + list[depth & 3];
    }
    }
    extern "C" int shop_entry(int *place, int depth) { return shop::descend(place, depth) + 1; }

    """

  static let main = """
    #include "shop.h"
    struct Book : shop::Item {
      int pages;
      Book(int pages) : pages(pages) {}
      int price(int discount) const override { return shop::square(pages) - discount; }
    };
    int main(int argc, char **) {
      Book a(argc), b(3);
      const shop::Item *list[] = {&a, &b};
      return shop::total(list, 2) + shop_entry(nullptr, argc);
    }
    void operator delete(void *) noexcept {}
    void operator delete(void *, unsigned long) noexcept {}

    """
}
