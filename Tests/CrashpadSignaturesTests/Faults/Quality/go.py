# SPDX-License-Identifier: Apache-2.0
"""Programs of Go with faults from a seed."""
from words import Names

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


class Program:
    language, extension = "Go", "go"

    def __init__(self, random):
        self.random, self.names = random, Names(random)
        self.faults, self.bodies = [], []
        number = 0
        while number < 9:
            number += self.fault(number)

    def fault(self, number):
        r = self.random
        kind = r.choice("nil index panic maps divide cast closures repeat routine method sorted".split())
        name = self.names.camel()
        inline = r.choice(("", "//go:noinline\n"))
        add = lambda n, call: self.faults.append((f"{kind}-{n}", call))
        if kind == "closures":
            self.bodies.append(f"//go:noinline\nfunc {name}(n int) {{\n\tone := func(i *item) int {{ sink++; return i.id }}\n\ttwo := func(n int) int {{ sink += 2; return []int{{1}}[n] }}\n\tif n > 5 {{\n\t\tsink += one(empty)\n\t}} else {{\n\t\tsink += two(n)\n\t}}\n}}")
            add(number, f"{name}(9)")
            add(number + 1, f"{name}(2)")
            return 2
        if kind == "repeat":
            two = self.names.camel()
            self.bodies.append(f"{inline}func {name}(n int) int {{ sink++; return len(strings.Repeat(\"x\", n)) }}\n\n{inline}func {two}(n int) int {{ sink += 2; return len(strings.Repeat(\"ab\", n)) + 1 }}")
            add(number, f"sink += {name}(zero - 4)")
            add(number + 1, f"sink += {two}(zero - 5)")
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
            add(number, f"sink += (&{owner}{{1}}).{name}(7)")
        else:
            self.bodies.append(f"{inline}func {name}(n int) int {{ {body} }}")
            add(number, f"done := make(chan int); go func() {{ sink += {name}(7); done <- 1 }}(); <-done" if kind == "routine" else f"sink += {name}(7)")
        return 1

    def source(self, version):
        lines = [HEAD]
        for index, body in enumerate(self.bodies):
            if version == 2:
                lines.append(f"func extra{index}(n int) int {{ return n + {index} }}\n")
            lines.append(body + "\n")
        for index, (_, call) in enumerate(self.faults):
            lines.append(f"//go:noinline\nfunc route{index}() {{\n\t{call}\n\tsink++\n}}\n")
        lines.append("func main() {\n\tn := -1\n\tif len(os.Args) > 1 {\n\t\tn, _ = strconv.Atoi(os.Args[1])\n\t}")
        lines += [f"\tif n == {index} {{\n\t\troute{index}()\n\t}}" for index in range(len(self.faults))]
        return "\n".join(lines + ["}\n"])

    builds = ["go", "go -gcflags=-l"]

    def command(self, build, source, target):
        return ["go", "build"] + build.split()[1:] + ["-ldflags=-linkmode=external -extldflags=-Wl,--build-id", "-o", target, source]
