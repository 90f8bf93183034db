#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time that a cluster's worker processes take for signatures with symbols, in one pass and in two.

usage: passes.py --tool PATH --synth PATH --work DIRECTORY [--builds N] [--dumps N] [--megabytes N] [--workers N,...]

Each build has one key with so many dumps, and symbols of so many megabytes. Dumps go to the workers in turn, as engines give
them out: with one pass each worker loads the symbols of all builds. Two passes ask for keys first, and then one worker for each
build. "process" starts the tool for each dump, for a few of them.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
FLEET = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../scripts/fleet"))


def load(name, path):
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fleet = load("fleet_spark", os.path.join(FLEET, "fleet_spark.py"))


def cpu():
    """Of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def symbols(options, dump, number):
    """Writes a text file with symbols for the executable of a dump."""
    path = f"{number}.idump"
    with open(path, "wb") as file:
        file.write(dump)
    found = json.loads(subprocess.run([options.tool, "symbolize", "--no-system", "--format", "json", path],
                                      stdout=subprocess.PIPE).stdout)
    module = found["modules"][found["main_module"]]
    size = int(module["end_addr"], 16) - int(module["base_addr"], 16)
    count = options.megabytes * 1000000 // 450
    step = max(1, size // count)
    with open(f"symbols/{number}.sym", "w") as file:
        file.write(f"MODULE ios arm64 {module['debug_id']} {module['debug_file']}\nFILE 0 /src/shop/cart.cpp\n")
        for index in range(count):
            name = f"shop::checkout::Cart<{'int, ' * 60}void>::total_{index}(unsigned int)"
            file.write(f"FUNC {index * step:x} {step:x} 0 {name}\n" + "".join(
                f"{index * step + line * step // 4:x} {max(1, step // 4):x} {index % 1000 + line} 0\n" for line in range(4)))
    return os.path.getsize(f"symbols/{number}.sym")


def ended(workers):
    for worker in workers:
        if worker.process:
            worker.process.stdin.close()
            worker.process.wait()
            worker.process = None


def ask(workers, operation, dumps):
    """The documents for the dumps, given to the workers in turn."""
    made = []
    for index, (name, dump) in enumerate(dumps):
        made.append(next(workers[index % len(workers)].ask(operation, [(name, dump)]))["document"])
    return made


def main():
    parser = argparse.ArgumentParser()
    for name in ("tool", "synth", "work"):
        parser.add_argument("--" + name, required=True)
    for name, number in (("builds", 4), ("dumps", 100), ("megabytes", 100)):
        parser.add_argument("--" + name, type=int, default=number)
    parser.add_argument("--workers", default="1,4,16,64,128")
    options = parser.parse_args()
    os.makedirs(os.path.join(options.work, "symbols"), exist_ok=True)
    options.tool, options.synth = os.path.abspath(options.tool), os.path.abspath(options.synth)
    os.chdir(options.work)
    made = [subprocess.run([options.synth, "idump", "--seed", str(seed + 1)], stdout=subprocess.PIPE, check=True).stdout
            for seed in range(options.builds)]
    sizes = [symbols(options, dump, number) for number, dump in enumerate(made)]
    dumps = [(f"{number}-{build}", made[build]) for number in range(options.dumps) for build in range(options.builds)]
    random.Random(1).shuffle(dumps)
    print(f"{len(dumps)} dumps of {options.builds} builds, {sum(map(len, made)) // len(made)} bytes each, symbols of "
          f"{sum(sizes) // len(sizes) / 1e6:.0f} MB for a build")
    command = [options.tool, "worker", "--no-system"]
    named = command + ["--symbols", "symbols"]
    expected, start = None, cpu()
    for number, (name, dump) in enumerate(dumps[:8]):
        subprocess.run([options.tool, "group", "--no-system", "--symbols", "symbols", f"{number % options.builds}.idump"],
                       stdout=subprocess.DEVNULL)
    print(f"a process for each dump: {(cpu() - start) / 8 * len(dumps):9.3f} s (8 dumps were measured)")
    for count in map(int, options.workers.split(",")):
        start, workers = cpu(), [fleet.Worker(named, 60) for _ in range(count)]
        signatures = [document["signature"] for document in ask(workers, "signature", dumps)]
        ended(workers)
        one = cpu() - start
        start, workers = cpu(), [fleet.Worker(named, 60) for _ in range(count)]
        raw = ask(workers, "raw", dumps)
        first = {}
        for (name, dump), document in zip(dumps, raw):
            first.setdefault(document["key"], (document["crash"]["debug_id"], name, dump))
        chosen = sorted((build, key, name, dump) for key, (build, name, dump) in first.items())
        builds = sorted({build for build, _, _, _ in chosen})
        named_by_key = {}
        for build, key, name, dump in chosen:
            answer = ask([workers[builds.index(build) % count]], "signature", [(name, dump)])
            named_by_key[key] = answer[0]["signature"]
        ended(workers)
        two = cpu() - start
        if signatures != [named_by_key[document["key"]] for document in raw] or expected not in (None, signatures):
            sys.exit("passes: signatures differ")
        expected = signatures
        if not all(made["named"] for made in signatures):
            print("passes: a signature has no name", file=sys.stderr)
        print(f"{count:3} workers: one pass {one:8.3f} s, two passes {two:8.3f} s, {one / two:5.1f} times; {len(first)} keys",
              flush=True)


if __name__ == "__main__":
    main()
