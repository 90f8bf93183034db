#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures scripts/fleet on a Spark cluster on loopback with one executor and with two, each of one CPU.

usage: scaling.py --tool PATH --synth PATH --work DIRECTORY [--dumps N] [--rounds N] [--free]

Needs a quiet machine of two CPUs or more. A round is one executor, two, two, one, so that what changes with time counts for
both. With --free, processes are not bound to CPUs: then one executor uses more than one, as Spark, Python and crashpadctl are
processes of their own.
"""
import argparse
import hashlib
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

sys.dont_write_bytecode = True
import cluster  # noqa: E402
import dumps  # noqa: E402

GROUP = 32 << 20


def write_packs(options):
    """Packs with so many dumps, of which as many differ as there are forms and seeds."""
    made = [(words[0], subprocess.run([options.synth, *words, "--seed", str(seed)], stdout=subprocess.PIPE, check=True).stdout)
            for words in dumps.SYNTH for seed in range(1, dumps.SEEDS + 1)]
    made = [(kind, dump, hashlib.sha256(dump).hexdigest()) for kind, dump in made]
    schema = pa.schema([
        ("id", pa.string()), ("received", pa.timestamp("us", "UTC")), ("size", pa.int64()), ("digest", pa.string()),
        ("kind", pa.string()), ("dump", pa.binary())])
    folder = os.path.join("packs", "day=2026-11-13")
    os.makedirs(folder)
    rows, size, total = [], 0, 0
    with pq.ParquetWriter(os.path.join(folder, "pack.parquet"), schema, compression="zstd", use_dictionary=["kind"]) as writer:
        for number in range(options.dumps):
            kind, dump, digest = made[number % len(made)]
            rows.append({"id": f"dump-{number:08}", "received": 1763000000000000 + number, "size": len(dump), "digest": digest,
                         "kind": kind, "dump": dump})
            size, total = size + len(dump), total + len(dump)
            if size >= GROUP or number == options.dumps - 1:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows, size = [], 0
    return total


def main():
    parser = argparse.ArgumentParser()
    for name in ("tool", "synth", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--dumps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--free", action="store_true")
    options = parser.parse_args()
    options.faulty, options.synth = os.path.abspath(options.tool), os.path.abspath(options.synth)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    if not os.path.exists("packs"):
        total = write_packs(options)
        print(f"{options.dumps} dumps, {total / 1e9:.2f} GB", flush=True)
    spark = cluster.Cluster(os.getcwd(), pinned=not options.free)
    seconds = {1: [], 2: []}
    groups = set()
    try:
        for number, cores in enumerate([1, 2, 2, 1] * options.rounds):
            out, time = spark.run(options, f"run{number}", [os.path.abspath("packs")], cores)
            with open(os.path.join(out, "groups.json"), "rb") as file:
                groups.add(file.read())
            if "nothing new" in spark.log(f"run-run{number}"):
                sys.exit("scaling: a run found its tables there already; give it an empty directory")
            seconds[cores].append(time)
            print(f"{cores} executors: {time:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        spark.end()
    if len(groups) != 1:
        sys.exit("scaling: the groups differ")
    one, two = (sum(times) / len(times) for times in (seconds[1], seconds[2]))
    print(f"one executor {one:.1f} s, two {two:.1f} s: {one / two:.2f} times, from the start of spark-submit to its end")
    print(f"{options.dumps / one:.0f} and {options.dumps / two:.0f} dumps a second")


if __name__ == "__main__":
    main()
