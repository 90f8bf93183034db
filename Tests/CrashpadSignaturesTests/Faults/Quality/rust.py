# SPDX-License-Identifier: Apache-2.0
"""Programs of Rust with faults from a seed."""
from programs import Faults
from words import LIKE_RUST

HEAD = """#![allow(dead_code, unused)]
use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
trait Weigh { fn weigh(&self, n: usize) -> usize; }
"""


class Program(Faults):
    language, extension, head = "Rust", "rs", HEAD

    def name(self):
        r = self.random
        return (r.choice(LIKE_RUST) if r.random() < 0.3 else "") + self.names.snake(0)

    def fault(self, number):
        r = self.random
        kind = r.choice("unwrap index panic overflow borrow closures traits slice thread key expect divide module".split())
        inline = r.choice(("", "", "#[inline(never)] "))
        name, owner = self.name(), self.names.type()
        if kind == "closures":
            self.bodies.append(f"#[inline(never)] fn {name}(n: usize) -> usize {{\n    let v = vec![1usize, 2, 3];\n    if n > 50 {{\n        v.iter().map(|x| {{ black_box(x);\n            v[black_box(n)] }}).sum()\n    }} else {{\n        v.iter().map(|x| {{ black_box(*x + 1);\n            black_box(None::<usize>).unwrap() }}).sum()\n    }}\n}}")
            self.add(kind, number, f"black_box({name}(black_box(99)));")
            self.add(kind, number + 1, f"black_box({name}(black_box(9)));")
            return 2
        if kind == "traits":
            two = self.names.type()
            self.bodies.append(f"struct {owner}(usize);\nstruct {two}(usize);\nimpl Weigh for {owner} {{ {inline}fn weigh(&self, n: usize) -> usize {{ let v = vec![self.0]; v[black_box(n)] }} }}\n"
                               f"impl Weigh for {two} {{ {inline}fn weigh(&self, n: usize) -> usize {{ let o: Option<usize> = black_box(None); o.unwrap() + self.0 + n }} }}\n"
                               f"#[inline(never)] fn {name}(w: &dyn Weigh) -> usize {{ w.weigh(black_box(8)) + 1 }}")
            self.add(kind, number, f"black_box({name}(&{owner}(3)));")
            self.add(kind, number + 1, f"black_box({name}(&{two}(3)));")
            return 2
        body = {
            "unwrap": "let o: Option<usize> = black_box(None); o.unwrap() + n",
            "index": "let v = vec![1usize, 2]; v[black_box(n + 7)]",
            "panic": 'if black_box(n) > 0 { panic!("no entry {n}") } n',
            "overflow": "let a: usize = black_box(usize::MAX); a + n",
            "borrow": "let c = RefCell::new(n); let a = c.borrow_mut(); let b = c.borrow_mut(); *a + *b",
            "slice": "let mut a = vec![0u8; 4]; let b = vec![0u8; 5 + black_box(n)]; a.copy_from_slice(&b); a.len()",
            "thread": "let o: Option<usize> = black_box(None); o.unwrap() + n",
            "key": "let m: HashMap<usize, usize> = HashMap::new(); m[&black_box(n)]",
            "expect": 'let o: Result<usize, String> = black_box(Err(String::from("x"))); o.expect("no value") + n',
            "divide": "let d = black_box(0usize); n / d",
            "module": "let o: Option<usize> = black_box(None); o.unwrap() + n",
        }[kind]
        if kind == "module":
            module = self.names.fresh(lambda: r.choice(("alloc", "core2", "backtrace", "panicking", "slice", "runtime")))
            self.bodies.append(f"mod {module} {{ use std::hint::black_box; {inline}pub fn {name}(n: usize) -> usize {{ {body} }} }}")
            name = f"{module}::{name}"
        else:
            self.bodies.append(f"{inline}fn {name}(n: usize) -> usize {{ {body} }}")
        call = f"black_box({name}(black_box(1)));"
        if kind == "thread":
            call = f"std::thread::spawn(|| {{ black_box({name}(black_box(1))); }}).join().ok();"
        elif r.random() < 0.4:
            outer = self.name()
            self.bodies.append(f"fn {outer}(n: usize) -> usize {{ black_box({name}(n)) + 1 }}")
            call = f"black_box({outer}(black_box(1)));"
        self.add(kind, number, call)
        return 1

    begin = "fn main() {\n    let n: i64 = std::env::args().nth(1).unwrap_or_default().parse().unwrap_or(-1);"
    end = "}\n"

    def extra(self, index):
        return f"pub fn extra_{index}(n: usize) -> usize {{ n + {index} }}\n"

    def route(self, index, call):
        return f"#[inline(never)] fn route_{index}() {{ {call} black_box(0); }}"

    def choice(self, index):
        return f"    if n == {index} {{ route_{index}(); }}"

    builds = ["rustc -Copt-level=0", "rustc -Copt-level=2", "rustc -Copt-level=3"]

    def command(self, build, source, target):
        return build.split() + ["-g", "-Cpanic=abort", "-Coverflow-checks=on", "-Clink-arg=-Wl,--build-id", "--crate-name", "prog", source, "-o", target]
