# SPDX-License-Identifier: Apache-2.0
"""Programs of C with faults from a seed."""
from programs import Faults

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { long id; struct item *next; char *text; };
void *volatile bad;
volatile int zero;
char *volatile wild = (char *)0x7ffff0000010;
struct item *volatile empty;
volatile unsigned sink;
"""


class Program(Faults):
    language, extension, count = "C", "c", 10

    def prepare(self):
        self.wrapper = self.names.fresh(lambda: self.random.choice(("stop_now", "give_up", "report_bug", "check_failed", "bail_out")))

    def function(self, name, text, may_inline=True):
        """Some functions are for their file alone, and compilers may put those into their callers."""
        linkage = self.random.choice(("static ", "", "__attribute__((noinline)) ")) if may_inline else "__attribute__((noinline)) "
        # No two bodies are the same: compilers would make one function of them.
        own = f"sink += {len(self.bodies) + 11};"
        begun = text if "sink++;" in text else text.replace("{ ", "{ sink++; ", 1)
        self.bodies.append(linkage + begun.replace("NAME", name).replace("sink++;", own, 1))
        return name

    def fault(self, number):
        r, leaf = self.random, self.names.snake()
        kind = r.choice("null null wild copy length twice abort wrapper wrapper assert divide deep callback tail print chain".split())
        text = {
            # What is read is used at once: otherwise an instruction of the caller reads it, and is at fault.
            "null": "long NAME(struct item *i) { sink++; return i->id * 3 + zero; }",
            "wild": "long NAME(struct item *i) { sink += 2; return ((struct item *)wild)->id * 3 + (i != 0); }",
            "copy": "long NAME(struct item *i) { char room[64]; sink++; memcpy(room, wild, 8 + zero); sink += room[3]; return room[zero] + (i != 0); }",
            "length": "long NAME(struct item *i) { sink++; return (long)strlen(wild) + (i != 0); }",
            "twice": "long NAME(struct item *i) { char *p = malloc(2000); bad = malloc(3000); sink += p != 0; free(p); free(p); sink++; return i != 0; }",
            "abort": "long NAME(struct item *i) { sink++; if (!i) abort(); return i->id; }",
            "wrapper": f"long NAME(struct item *i) {{ sink++; if (!i) {self.wrapper}({number}); return i->id; }}",
            "assert": "long NAME(struct item *i) { sink++; assert(i && zero); return i->id; }",
            "divide": "long NAME(struct item *i) { sink++; return 7 % zero + (i != 0); }",
            "deep": "long NAME(struct item *i) { char room[256]; room[zero] = 1; sink += room[zero]; long n = NAME(i) + 1; return n + room[zero]; }",
            "callback": "",
            "tail": "void NAME(void *p) { sink++; free(p); }",
            "print": "int NAME(char *p) { sink++; return fputs(p, stdout); }",
            "chain": "",
        }[kind]
        if kind == "callback":
            compare = self.names.snake()
            self.function(compare, "int NAME(const void *a, const void *b) { sink++; return (int)(empty->id - (a < b)); }")
            text = f"long NAME(struct item *i) {{ long room[4] = {{4, 3, 2, 1}}; sink++; qsort(room, 4, sizeof room[0], {compare}); return room[zero] + (i != 0); }}"
        if kind == "chain":
            inner = self.names.snake()
            self.function(inner, "long NAME(struct item *i) { sink += 3; return i->next->id * 5; }")
            text = f"long NAME(struct item *i) {{ sink++; return {inner}(i) + 1; }}"
        self.function(leaf, text)
        argument = {"tail": "(void *)0x1234560", "print": "wild"}.get(kind, "empty")
        if r.random() < 0.5:
            middle = self.names.snake(0.2)
            result = "" if kind == "tail" else "return (int)"
            self.function(middle, "int NAME(void) { sink += 5; " + (f"{leaf}({argument}); return 1 + zero;" if r.random() < 0.5 or not result else f"{result}{leaf}({argument});") + " }")
            call = f"{middle}()"
        else:
            call = f"{leaf}({argument})"
        self.add(kind, number, call)
        return 1

    def source(self, version):
        """The second version has further functions and lines between the others."""
        lines = [HEAD, f"__attribute__((noinline)) void {self.wrapper}(int n) {{ sink += n; abort(); }}"]
        for index, body in enumerate(self.bodies):
            if version == 2 and index % 2:
                lines.append(f"int extra_{index}(int n) {{ sink += n; return n + {index}; }}\n\n")
            lines.append(body)
        # Compilers make one call of equal calls in one function.
        lines += [f"__attribute__((noinline)) void route{index}(void) {{ {call}; sink += {index + 1000}; }}" for index, (_, call) in enumerate(self.faults)]
        lines.append("int main(int argc, char **argv) {\n  int n = argc > 1 ? atoi(argv[1]) : -1;" + ("\n  if (n < -1) return extra_1(n);" if version == 2 and len(self.bodies) > 1 else ""))
        lines += [f"  if (n == {index}) route{index}();" for index in range(len(self.faults))]
        return "\n".join(lines + ["  return 0;\n}\n"])

    builds = ["gcc -O0", "gcc -O2", "gcc -O3", "clang -O0", "clang -O2"]

    def command(self, build, source, target):
        return build.split() + ["-g", "-w", "-pthread", "-Wl,--build-id", source, "-o", target]
