# SPDX-License-Identifier: Apache-2.0
"""Programs of Swift with faults from a seed."""
import re

from programs import Faults
from words import LIKE_SWIFT

HEAD = """@inline(never) func opaque<T>(_ value: T) -> T { value }
nonisolated(unsafe) var sink = 0
protocol Weighing { func weigh(_ n: Int) -> Int }
final class Item { var id = 1; var next: Item? }
@inline(never) func stopHere(_ text: String, file: StaticString = #file, line: UInt = #line) -> Never { fatalError(text, file: file, line: line) }
"""


class Program(Faults):
    language, extension, head = "Swift", "swift", HEAD

    def fault(self, number):
        r = self.random
        kind = r.choice("array unwrap fatal check overflow cast closures witness extension wrapper wrapper generic like like dictionary".split())
        inline = r.choice(("", "", "@inline(never) "))
        method, owner = self.names.camel(), self.names.type(LIKE_SWIFT if kind == "like" else ())
        body = {
            "array": "let a = opaque([1, 2, 3]); return a[opaque(n + 7)]",
            "unwrap": "let o: Int? = opaque(nil); return o! + n",
            "fatal": 'if opaque(n) > 0 { fatalError("no item") }; return n',
            "check": 'precondition(opaque(n) < 0, "no n"); return n',
            "overflow": "return opaque(Int.max) + n",
            "cast": "let a: Any = opaque(\"x\" as Any); return (a as! Int) + n",
            "dictionary": "let d: [Int: Int] = opaque([:]); return d[n]! + 1",
            "like": "let a = opaque([1]); return a[opaque(n + 3)]",
        }.get(kind)
        if kind == "closures":
            self.bodies.append(f"@inline(never) func {method}(_ n: Int) -> Int {{\n  let a = opaque([1, 2, 3])\n  if n > 5 {{\n    return a.map {{ (x: Int) -> Int in a[opaque(x + 9)] }}.count\n  }}\n  return a.filter {{ (x: Int) -> Bool in opaque(nil as Int?)! > x }}.count\n}}")
            self.add(kind, number, f"sink += {method}(opaque(9))")
            self.add(kind, number + 1, f"sink += {method}(opaque(1))")
            return 2
        if kind == "wrapper":
            two = self.names.camel()
            self.bodies.append(f"@inline(never) func {method}(_ n: Int) -> Int {{ if opaque(n) > 0 {{ stopHere(\"a\") }}; return n }}\n@inline(never) func {two}(_ n: Int) -> Int {{ sink += 1; if opaque(n) > 0 {{ stopHere(\"b\") }}; return n }}")
            self.add(kind, number, f"sink += {method}(1)")
            self.add(kind, number + 1, f"sink += {two}(1)")
            return 2
        if kind == "witness":
            two = self.names.type()
            self.bodies.append(f"struct {owner}: Weighing {{ {inline}func weigh(_ n: Int) -> Int {{ return opaque([1])[opaque(n)] }} }}\nstruct {two}: Weighing {{ {inline}func weigh(_ n: Int) -> Int {{ return opaque(nil as Int?)! + n }} }}\n@inline(never) func {method}(_ w: any Weighing) -> Int {{ return w.weigh(opaque(8)) + 1 }}")
            self.add(kind, number, f"sink += {method}({owner}())")
            self.add(kind, number + 1, f"sink += {method}({two}())")
            return 2
        if kind == "extension":
            two = self.names.camel()
            self.bodies.append(f"extension Array {{ {inline}func {method}(into n: Int) -> Int {{ return opaque(count) / opaque(n) }}\n  {inline}func {two}(by n: Int) -> Element {{ return self[opaque(count + n)] }} }}")
            self.add(kind, number, f"sink += [1, 2].{method}(into: opaque(0))")
            self.add(kind, number + 1, f"sink += [1, 2].{two}(by: opaque(4))")
            return 2
        if kind == "generic":
            self.bodies.append(f"struct {owner}<T> {{ var all: [T]; {inline}func {method}(_ n: Int) -> T {{ return all[opaque(n)] }} }}")
            self.add(kind, number, f"sink += {owner}(all: opaque([1])).{method}(opaque(6))")
            return 1
        holder = r.choice(("struct", "final class", "enum"))
        static = "static " if holder == "enum" else ""
        self.bodies.append(f"{holder} {owner} {{ {inline}{static}func {method}(_ n: Int) -> Int {{ {body} }} }}")
        self.add(kind, number, f"sink += {owner}{'' if holder == 'enum' else '()'}.{method}(opaque(1))")
        return 1

    def functions(self):
        """No two bodies are the same: compilers would make one function of them."""
        numbers = iter(range(11, 10_000))
        return [re.sub(r"-> \w+ \{\s", lambda found: f"{found.group()}sink &+= {next(numbers)}; ", body) for body in self.bodies]

    begin = ("@main struct Program { static func main() {\n"
             "  let n = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? -1 : -1")
    end = "} }\n"

    def extra(self, index):
        return f"func extra{index}(_ n: Int) -> Int {{ n + {index} }}\n"

    def route(self, index, call):
        return f"@inline(never) func route{index}() {{ {call}; sink += 1 }}"

    def choice(self, index):
        return f"  if n == {index} {{ route{index}() }}"

    builds = ["swiftc -Onone", "swiftc -O", "swiftc -Osize"]

    def command(self, build, source, target):
        return build.split() + ["-g", "-parse-as-library", "-module-name", "Prog", "-Xlinker", "--build-id", source, "-o", target]
