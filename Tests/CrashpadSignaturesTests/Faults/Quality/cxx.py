# SPDX-License-Identifier: Apache-2.0
"""Programs of C++ with faults from a seed."""
from programs import Faults
from words import LIKE_CXX

# Members are volatile: otherwise compilers let the caller read what a function of one call is handed, and the caller is at fault.
HEAD = """#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
volatile unsigned sink;
volatile int zero;
struct Item { volatile long id; Item *volatile next; std::string text; virtual long weight() { return id; } virtual ~Item() { sink++; } };
Item *volatile empty;
char *volatile wild = (char *)0x7ffff0000010;
template <class T> struct Ring { std::vector<T> all; __attribute__((noinline)) T &at(size_t i) { sink++; if (i >= all.size()) std::abort(); return all[i]; } };
template <class T> struct Ref { T *p; T *operator->() const { sink++; return p; } };
__attribute__((noinline)) void call(const std::function<long(Item *)> &f) { sink++; sink += f(empty); }
__attribute__((noinline)) void each(std::vector<int> &v, const std::function<void(int)> &f) { for (int i : v) f(i); sink++; }
"""


class Program(Faults):
    language, extension, head, count = "C++", "cpp", HEAD, 10

    def prepare(self):
        self.space = self.random.choice(LIKE_CXX) if self.random.random() < 0.6 else "shop::"

    def body(self, text):
        """No two bodies are the same: compilers would make one function of them."""
        parts = text.split("sink++;")
        numbered = "".join(part + (f"sink += {17 * len(self.bodies) + index + 11};" if index + 1 < len(parts) else "") for index, part in enumerate(parts))
        self.bodies.append(numbered)

    def fault(self, number):
        r, names = self.random, self.names
        kind = r.choice("method method lambdas overloads helper throw at virtual pointer function destructor sort thread string space space".split())
        noinline = r.choice(("", "", "__attribute__((noinline)) "))
        owner = names.type()
        method = names.camel()
        space = self.space[:-2]
        if kind == "method":
            self.body(f"struct {owner} {{ long held = 3; {noinline}long {method}(Item *i) {{ sink++; return i->id * 3 + held; }} }};")
            self.add(kind, number, f"{owner} o; sink += o.{method}(empty);")
        elif kind == "space":
            one, two = names.camel(), names.camel()
            # What is read is used at once: otherwise an instruction of the caller reads it, and is at fault. The members differ:
            # compilers make one instruction of two equal reads in one function.
            self.body(f"namespace {space} {{ struct {owner} {{ long {one}(Item *i); long {two}(Item *i); }};\n"
                      f"{noinline}long {owner}::{one}(Item *i) {{ sink++; return i->id * 3; }}\n"
                      f"{noinline}long {owner}::{two}(Item *i) {{ sink++; return (long)i->next->next * 5; }} }}\n"
                      f"__attribute__((noinline)) void {method}(int n) {{ {space}::{owner} o; if (n) sink += o.{one}(empty); else sink += o.{two}(empty); sink++; }}")
            self.add(kind, number, f"{method}(1);")
            self.add(kind, number + 1, f"{method}(0);")
            return 2
        elif kind == "lambdas":
            self.body(f"__attribute__((noinline)) void {method}(int n) {{\n  sink++;\n  if (n) call([](Item *i) {{ sink++;\n    return i->id; }});\n"
                      f"  else call([](Item *i) {{ sink++;\n    return i->next->id + 1; }});\n  sink++;\n}}")
            self.add(kind, number, f"{method}(1);")
            self.add(kind, number + 1, f"{method}(0);")
            return 2
        elif kind == "overloads":
            self.body(f"struct {owner} {{ {noinline}long {method}(int n, Item *i) {{ sink++; return i->id * 3 + n; }}\n"
                      f"  {noinline}long {method}(const std::string &s, Item *i) {{ sink++; sink += s.size(); return i->next->id * 5; }} }};")
            self.add(kind, number, f"{owner} o; sink += o.{method}(3, empty);")
            self.add(kind, number + 1, f"{owner} o; sink += o.{method}(std::string(\"x\"), empty);")
            return 2
        elif kind == "helper":
            one, two = names.camel(), names.camel()
            self.body(f"{noinline}void {one}() {{ Ring<int> r; sink++; r.all = {{1}}; sink += r.at(7); }}\n{noinline}void {two}() {{ Ring<Item *> r; sink++; sink += r.at(9)->id; }}")
            self.add(kind, number, f"{one}();")
            self.add(kind, number + 1, f"{two}();")
            return 2
        elif kind == "throw":
            self.body(f"{noinline}long {method}(Item *i) {{ sink++; if (!i) throw std::runtime_error(\"no item\"); return i->id; }}")
            self.add(kind, number, f"sink += {method}(empty);")
        elif kind == "at":
            self.body(f"struct {owner} {{ std::vector<int> all; {noinline}int {method}(size_t n) {{ sink++; return all.at(n); }} }};")
            self.add(kind, number, f"{owner} o; sink += o.{method}(12);")
        elif kind == "virtual":
            self.body(f"{noinline}long {method}(Item *i) {{ sink++; return i->weight() + 1; }}")
            self.add(kind, number, f"sink += {method}(empty);")
        elif kind == "pointer":
            self.body(f"{noinline}long {method}() {{ Ref<Item> r{{empty}}; sink++; return r->id * 3 + 2; }}")
            self.add(kind, number, f"sink += {method}();")
        elif kind == "function":
            self.body(f"{noinline}long {method}(Item *i) {{ std::unique_ptr<Item> p; sink++; return p->id * 3 + (i != 0); }}")
            self.add(kind, number, f"call({method});")
        elif kind == "destructor":
            self.body(f"struct {owner} {{ Item *i; ~{owner}() {{ sink++; sink += i->id; }} }};\n{noinline}void {method}() {{ {owner} o{{empty}}; sink++; }}")
            self.add(kind, number, f"{method}();")
        elif kind == "sort":
            self.body(f"{noinline}void {method}() {{\n  std::vector<Item *> v(5, (Item *)empty);\n  sink++;\n  std::sort(v.begin(), v.end(), [](Item *a, Item *b) {{ sink++; return a->id < b->id; }});\n  sink++;\n}}")
            self.add(kind, number, f"{method}();")
        elif kind == "thread":
            self.body(f"{noinline}void {method}(Item *i) {{ sink++; sink += i->id; }}")
            self.add(kind, number, f"std::thread t([] {{ {method}(empty); sink++; }}); t.join();")
        else:
            self.body(f"{noinline}size_t {method}(const char *s) {{ sink++; return std::string(s + zero).size() + 1; }}")
            self.add(kind, number, f"sink += {method}(wild);")
        return 1

    begin = "int main(int argc, char **argv) {\n  int n = argc > 1 ? atoi(argv[1]) : -1;"
    end = "  return 0;\n}\n"

    def extra(self, index):
        return f"struct Extra{index} {{ int n; int get() {{ return n + {index}; }} }};\n"

    def route(self, index, call):
        return f"__attribute__((noinline)) void route{index}() {{ {call} sink++; }}"

    def choice(self, index):
        return f"  if (n == {index}) route{index}();"

    builds = ["g++ -O0", "g++ -O2", "clang++ -O0", "clang++ -O2"]

    def command(self, build, source, target):
        return build.split() + ["-std=c++17", "-g", "-w", "-pthread", "-Wl,--build-id", source, "-o", target]
