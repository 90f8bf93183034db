#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets programs crash under `crashpadctl run`, groups the dumps with scripts/fleet and the programs' symbols, and compares
the tables with what `crashpadctl group` makes of the same dumps.

usage: symbols.py --tool PATH --handler LIBRARY --work DIRECTORY [--repeats N]

Ends with status 1 if they differ. Needs gcc, g++, strip, objcopy, Java 17 and, in the Python that runs it, pyspark, pyarrow and
pandas.
"""
import argparse
import concurrent.futures
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time

import pyarrow.dataset

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
FLEET = os.path.abspath(os.path.join(HERE, "../../../scripts/fleet"))
FAULTS = os.path.abspath(os.path.join(HERE, "../../CrashpadSignaturesTests/Faults"))
BIN = os.path.dirname(sys.executable)


def load(name, path):
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


capture = load("capture", os.path.join(FAULTS, "capture"))


# How each build gets its symbols: the last one has none.
BUILDS = [("orders.c", "gcc -O0", "program"), ("orders.c", "gcc -O2", "debug file"), ("orders.c", "gcc -O1", "none"),
          ("cart.cpp", "gcc -O0", "sym"), ("cart.cpp", "gcc -O2", "program")]
DAY = 86400


def build(options):
    """(program, source, version) of each build, and their symbols."""
    os.makedirs("symbols")
    made = []
    for number, (source, flags, form) in enumerate(BUILDS):
        program = os.path.join("bin", str(number), source.split(".")[0])
        os.makedirs(os.path.dirname(program))
        capture.compile(source, flags, program)
        if form == "program":
            shutil.copy(program, f"symbols/program-{number}")
        elif form == "debug file":
            subprocess.run(["objcopy", "--only-keep-debug", program, f"symbols/{number}.debug"], check=True)
        elif form == "sym":
            subprocess.run([options.tool, "symbols", "dump", "-q", program, "-o", "symbols"], check=True)
        subprocess.run(["strip", program], check=True)
        made.append((program, source, f"1.{number}"))
    return made


def crash(options, program, version, fault, route, repeat):
    """A dump below `dumps`, received on one of two days."""
    name = f"{version}-{fault}-{route}-{repeat}"
    database = os.path.join("databases", name)
    subprocess.run(
        [options.tool, "run", "-q", "-d", database, "--handler-library", options.handler, "--annotation",
         f"ver={version}", "--annotation", "prod=" + os.path.basename(program), "--", program, fault, str(route)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    found = [os.path.join(path, file) for path, _, files in os.walk(database) for file in files if "@" in file]
    for number, path in enumerate(found):
        place = os.path.join("dumps", version, f"{name}-{number}.idump")
        os.rename(path, place)
        received = 1763000000 + repeat % 2 * DAY
        os.utime(place, (received, received))
    return len(found)


def crashes(options):
    programs = build(options)
    os.makedirs("databases", exist_ok=True)
    for _, _, version in programs:
        os.makedirs(os.path.join("dumps", version))
    wanted = [(program, version, fault, route, repeat) for program, source, version in programs
              for fault in capture.faults(source) for route in range(3) for repeat in range(options.repeats)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(lambda words: crash(options, *words), wanted))


def output(*words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode not in (0, 1):
        sys.exit(f"symbols: {words}: status {result.returncode}: {result.stderr.decode()}")
    return result.stdout


def spark(options, out, packs, *words):
    start = time.time()
    command = [f"{BIN}/spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--conf",
               "spark.sql.shuffle.partitions=4", f"{FLEET}/fleet_spark.py", "--tool", options.tool, "--out", out, *words,
               *packs]
    with open(out + ".log", "wb") as log:
        result = subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={
            **os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"})
    with open(out + ".log", encoding="utf-8") as log:
        found = re.findall("fleet_spark: .*", log.read())
    print(f"{out}: {time.time() - start:.1f} s, {found}", flush=True)
    if result.returncode != 0:
        sys.exit(f"symbols: {out} failed, see {out}.log")
    with open(os.path.join(out, "groups.json"), "rb") as file:
        return file.read(), found


def rows(out, table):
    found = pyarrow.dataset.dataset(os.path.join(out, table), partitioning="hive").to_table().to_pylist()
    # The key is that of the first pass.
    found = [{name: value for name, value in row.items() if name != "key"} for row in found]
    return sorted(found, key=lambda row: (str(row["day"]), row.get("id") or row["signature"], row.get("raw") or ""))


def main():
    parser = argparse.ArgumentParser()
    for name in ("tool", "handler", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    options.tool, options.handler = os.path.abspath(options.tool), os.path.abspath(options.handler)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    count = crashes(options)
    print(f"{count} dumps", flush=True)
    # Small row groups, so that the dumps of a build are in many.
    output(sys.executable, f"{FLEET}/pack", "--group-size", "1M", "--out", "packs", "dumps")
    days = sorted(os.path.join("packs", day) for day in os.listdir("packs"))
    group = [options.tool, "group", "--no-system", "--format", "json"]
    failures = []

    def compare(name, one, other):
        print(f"{name}: {'equal' if one == other else 'DIFFERENT'}", flush=True)
        if one != other:
            failures.append(name)

    expected = output(*group, "--symbols", "symbols", "dumps")
    groups, found = spark(options, "two", ["packs"], "--symbols", os.path.abspath("symbols"))
    compare("two passes, groups", groups, expected)
    looked_up = int(re.search(r"symbols for (\d+) dumps", found[0]).group(1))
    # A few keys have words of a stack that differ from run to run.
    if not 0 < looked_up <= count * 2 // 3:
        failures.append(f"symbols were looked up for {looked_up} of {count} dumps")
    raw = output(*group, "dumps")
    compare("symbols give names", raw == expected, False)
    groups, _ = spark(options, "one", ["packs"], "--symbols", os.path.abspath("symbols"), "--passes", "1")
    compare("one pass, groups", groups, expected)
    for table in ("dumps", "signatures", "failures"):
        compare(f"one pass, {table}", rows("one", table), rows("two", table))
    joined = output(options.tool, "group", "--merge", "--join", "raw", "--format", "json",
                    *(os.path.join("two/parts", name) for name in os.listdir("two/parts")))
    compare("--join raw", joined, output(*group, "--join", "raw", "--symbols", "symbols", "dumps"))
    # The symbols come on the second day: crashes of the first one have none, and `--join raw` puts them together.
    spark(options, "late", days[:1])
    late, found = spark(options, "late", ["packs"], "--symbols", os.path.abspath("symbols"))
    compare("one day is new", found[0].startswith("fleet_spark: 1 of 2 days read"), True)
    parts = []
    for number, day in enumerate(days):
        files = [os.path.join(path, name) for path, _, names in os.walk("dumps") for name in sorted(names)
                 if time.strftime("day=%Y-%m-%d", time.gmtime(os.stat(os.path.join(path, name)).st_mtime))
                 == os.path.basename(day)]
        words = ["--symbols", "symbols"] if number else []
        subprocess.run([options.tool, "group", "--no-system", *words, "--partial", f"part{number}.json", *files])
        parts.append(f"part{number}.json")
    compare("symbols of one day", late, output(options.tool, "group", "--merge", "--format", "json", *parts))
    joined = output(options.tool, "group", "--merge", "--join", "raw", "--format", "json",
                    *(os.path.join("late/parts", name) for name in os.listdir("late/parts")))
    compare("symbols of one day, --join raw", joined,
            output(options.tool, "group", "--merge", "--join", "raw", "--format", "json", *parts))
    print("failed: " + ", ".join(failures) if failures else "all tables are equal")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
