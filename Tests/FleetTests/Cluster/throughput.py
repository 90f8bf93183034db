#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time that a dump takes in `group`, in a worker, and in a process of its own.

usage: throughput.py --tool PATH --synth PATH --work DIRECTORY [--dumps N] [--rounds N]

Prints the least of the rounds, which take turns.
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import dumps  # noqa: E402
from passes import cpu, ended, fleet  # noqa: E402

ALONE = 100


def main():
    parser = argparse.ArgumentParser()
    for name in ("tool", "synth", "work"):
        parser.add_argument("--" + name, required=True)
    for name, number in (("dumps", 5000), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=number)
    options = parser.parse_args()
    options.tool, options.synth = os.path.abspath(options.tool), os.path.abspath(options.synth)
    os.makedirs(os.path.join(options.work, "dumps"))
    os.chdir(options.work)
    forms = [subprocess.run([options.synth, *words, "--seed", str(seed)], stdout=subprocess.PIPE, check=True).stdout
             for words in dumps.SYNTH for seed in range(1, dumps.SEEDS + 1)]
    made = [(f"{number:06}.dmp", forms[number % len(forms)]) for number in range(options.dumps)]
    for name, dump in made:
        with open(os.path.join("dumps", name), "wb") as file:
            file.write(dump)
    print(f"{len(made)} dumps of {sum(len(dump) for _, dump in made) // len(made)} bytes on average")

    def group(*paths):
        subprocess.run([options.tool, "group", "--no-system", "--jobs", "1", *paths], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def worker(operation):
        one = fleet.Worker([options.tool, "worker", "--no-system"], 60)
        for _ in one.ask(operation, made):
            pass
        ended([one])

    work = {"group, one job": lambda: group("dumps"), "worker, signature": lambda: worker("signature"),
            "worker, raw": lambda: worker("raw"),
            "one process for each dump": lambda: [group(os.path.join("dumps", name)) for name, _ in made[:ALONE]]}
    least = {}
    for _ in range(options.rounds):
        for name, run in work.items():
            start = cpu()
            run()
            used = (cpu() - start) / (ALONE if name.startswith("one process") else len(made))
            least[name] = min(used, least.get(name, used))
    for name, used in least.items():
        print(f"{name:28} {used * 1000:6.3f} ms, {least['group, one job'] / used:5.2f} of group")


if __name__ == "__main__":
    main()
