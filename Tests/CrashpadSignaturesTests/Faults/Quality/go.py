# SPDX-License-Identifier: Apache-2.0
"""Programs of Go with faults from a seed."""
from programs import Faults

HEAD = """package main

import (
	"os"
	"strconv"
	"strings"
	"sort"
)

type item struct {
	id   int
	next *item
}

var sink int
var empty *item
var none map[string]int
var zero int
var _ = strings.Repeat
var _ = sort.Ints
"""


class Program(Faults):
    language, extension, head = "Go", "go", HEAD

    def fault(self, number):
        r = self.random
        kind = r.choice("nil index panic maps divide cast closures repeat routine method sorted".split())
        name = self.names.camel()
        inline = r.choice(("", "//go:noinline\n"))
        if kind == "closures":
            self.bodies.append(f"//go:noinline\nfunc {name}(n int) {{\n\tone := func(i *item) int {{ sink++; return i.id }}\n\ttwo := func(n int) int {{ sink += 2; return []int{{1}}[n] }}\n\tif n > 5 {{\n\t\tsink += one(empty)\n\t}} else {{\n\t\tsink += two(n)\n\t}}\n}}")
            self.add(kind, number, f"{name}(9)")
            self.add(kind, number + 1, f"{name}(2)")
            return 2
        if kind == "repeat":
            two = self.names.camel()
            self.bodies.append(f"{inline}func {name}(n int) int {{ sink++; return len(strings.Repeat(\"x\", n)) }}\n\n{inline}func {two}(n int) int {{ sink += 2; return len(strings.Repeat(\"ab\", n)) + 1 }}")
            self.add(kind, number, f"sink += {name}(zero - 4)")
            self.add(kind, number + 1, f"sink += {two}(zero - 5)")
            return 2
        body = {
            "nil": "sink++; return empty.id + n",
            "index": "a := []int{1, 2}; sink++; return a[n+zero]",
            "panic": 'if n > 0 { panic("no item") }; return n',
            "maps": 'none["x"] = n; return len(none)',
            "divide": "sink++; return n / zero",
            "cast": 'var a any = "x"; sink++; return a.(int) + n',
            "routine": "sink++; return empty.next.id + n",
            "method": "sink++; return empty.id * n",
            "sorted": "a := []int{3, 1, 2}; sort.Slice(a, func(i, j int) bool { return empty.id < i }); return a[0] + n",
        }[kind]
        if kind == "method":
            owner = self.names.type()
            self.bodies.append(f"type {owner} struct{{ n int }}\n\n{inline}func (o *{owner}) {name}(n int) int {{ {body} }}")
            self.add(kind, number, f"sink += (&{owner}{{1}}).{name}(7)")
        else:
            self.bodies.append(f"{inline}func {name}(n int) int {{ {body} }}")
            self.add(kind, number, f"done := make(chan int); go func() {{ sink += {name}(7); done <- 1 }}(); <-done" if kind == "routine" else f"sink += {name}(7)")
        return 1

    begin = "func main() {\n\tn := -1\n\tif len(os.Args) > 1 {\n\t\tn, _ = strconv.Atoi(os.Args[1])\n\t}"
    end = "}\n"

    def functions(self):
        return [body + "\n" for body in self.bodies]

    def extra(self, index):
        return f"func extra{index}(n int) int {{ return n + {index} }}\n"

    def route(self, index, call):
        return f"//go:noinline\nfunc route{index}() {{\n\t{call}\n\tsink++\n}}\n"

    def choice(self, index):
        return f"\tif n == {index} {{\n\t\troute{index}()\n\t}}"

    builds = ["go", "go -gcflags=-l"]

    def command(self, build, source, target):
        return ["go", "build"] + build.split()[1:] + ["-ldflags=-linkmode=external -extldflags=-Wl,--build-id", "-o", target, source]
