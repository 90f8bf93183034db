#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts/fleet on a cluster of two Spark workers on loopback, and compares its tables with `crashpadctl group`.

usage: cluster.py --tool PATH --synth PATH --poison LIBRARY --work DIRECTORY [--dumps N]

Ends with status 1 if a run gives other tables. Needs Java 17 and, in the Python that runs it, pyspark, pyarrow, pandas and
moto's server.
"""
import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pyarrow.dataset
import pyarrow.fs

sys.dont_write_bytecode = True
import dumps  # noqa: E402

FLEET = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../scripts/fleet"))
BIN = os.path.dirname(sys.executable)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(condition, what, seconds=180):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            sys.exit(f"cluster: {what} did not come up in {seconds} s")
        time.sleep(0.1)


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def descendants(roots):
    """(pid, command line) of all processes below some."""
    parents, lines = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(name)] = int(open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1])
            lines[int(name)] = open(f"/proc/{name}/cmdline").read().replace("\0", " ")
        except OSError:
            pass
    found = set(roots)
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return [(pid, lines[pid]) for pid in found - set(roots)]
        found |= more


class Cluster:
    """A master and two workers of Spark, and an object store.

    A worker that is pinned has one CPU for its executor, Python, and crashpadctl.
    """

    def __init__(self, work, pinned=False):
        self.work = work
        self.environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
                            "SPARK_WORKER_DIR": os.path.join(work, "spark"),
                            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        self.processes = []
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self.start("master", [f"{BIN}/spark-class", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
                              "--port", str(port), "--webui-port", "0"])
        wait_for(lambda: accepts(port), "the master")
        self.workers = [
            self.start(f"worker{i}", [
                *(["taskset", "-c", str(i - 1)] if pinned else []), f"{BIN}/spark-class",
                "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                "--webui-port", "0", self.master]) for i in (1, 2)]
        for i in (1, 2):
            wait_for(lambda: "registered with master" in self.log(f"worker{i}"), f"worker {i}")
        self.s3 = free_port()
        self.start("s3", [f"{BIN}/moto_server", "-H", "127.0.0.1", "-p", str(self.s3)])
        wait_for(lambda: accepts(self.s3), "the object store")

    def log(self, name):
        return open(os.path.join(self.work, name + ".log")).read().lower()

    def start(self, name, command):
        with open(os.path.join(self.work, name + ".log"), "wb") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()

    def url(self, path):
        return f"s3://{path}?endpoint_override=127.0.0.1:{self.s3}&scheme=http&region=us-east-1"

    def command(self, options, out, packs, cores, conf):
        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.cores.max": str(cores),
                    "spark.executor.cores": "1", "spark.executor.memory": "600m", "spark.driver.memory": "1g",
                    "spark.task.maxFailures": "8", **conf}
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        return [f"{BIN}/spark-submit", "--master", self.master, *words, f"{FLEET}/fleet_spark.py", "--tool", options.faulty,
                "--dump-timeout", "10s", "--memory-limit", "64MiB", "--out", out, *packs]

    def run(self, options, name, packs, cores=2, conf={}, kills=()):
        out = os.path.join(self.work, name)
        start = time.time()
        process = self.start("run-" + name, self.command(options, out, packs, cores, conf))
        killer = threading.Thread(target=self.kill, args=(process, name, kills))
        killer.start()
        process.wait()
        killer.join()
        if process.returncode != 0:
            sys.exit(f"cluster: {name} failed, see {self.work}/run-{name}.log")
        return out, time.time() - start

    def kill(self, job, name, kinds):
        """Kills a process of each kind as soon as there is one, when dumps are being read."""
        for kind in kinds:
            while job.poll() is None:
                reading = any("crashpadctl worker" in line or "worker --no-system" in line
                              for _, line in descendants([w.pid for w in self.workers]))
                found = [pid for pid, line in descendants([w.pid for w in self.workers]) if re.search(kind, line)]
                if reading and found:
                    pid = random.choice(found)
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                    print(f"{name}: killed {kind}", flush=True)
                    time.sleep(1)
                    break
                time.sleep(0.02)


WORKER, PYTHON, EXECUTOR = "worker --no-system", r"pyspark\.(daemon|worker)", "CoarseGrainedExecutorBackend"


def rows(out, table):
    found = pyarrow.dataset.dataset(os.path.join(out, table), partitioning="hive").to_table().to_pylist()
    return sorted(found, key=lambda row: (str(row["day"]), row.get("id") or row["signature"], row.get("raw") or ""))


def pack_failures(pack):
    """Manifests with rows that can't be packed: a dump that is gone, with and without its time, a row without a name, one with
    a wrong time, no manifest. The other rows are packed.
    """
    good = next(os.path.join(path, name) for path, _, names in os.walk("dumps") for name in names)
    wrong = []
    for text, error, count in [
            (f"uri\n{good}\ngone.dmp\n", "gone.dmp: no such file", 1),
            (f"uri,received,size\n{good},2026-11-22T10:00:00Z,5\ngone.dmp,2026-11-22T10:00:00Z,5\n", "could not be read", 1),
            ("id\n1\n", "row 1 has no uri", 0), ("uri,received,size\ngone.dmp,yesterday,5\n", "no time or size", 0),
            (None, "no such file", 0)]:
        shutil.rmtree("packs-of-manifest", ignore_errors=True)
        if text is None:
            os.remove("manifest.csv")
        else:
            with open("manifest.csv", "w", encoding="utf-8") as file:
                file.write(text)
        result = subprocess.run([*pack, "--out", "packs-of-manifest", "--manifest", "manifest.csv"], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        made = sum(len(names) for _, _, names in os.walk("packs-of-manifest"))
        if result.returncode != 1 or error not in result.stderr or "Traceback" in result.stderr or made != count:
            wrong.append(f"manifest {text!r}: {result.returncode} {result.stderr}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    for name in ("tool", "synth", "poison", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--dumps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}")
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    options.faulty = os.path.join(options.work, "faulty")
    with open(options.faulty, "w") as file:
        # Only the workers have faults: what they are compared with reads the same files.
        file.write(f'#!/bin/sh\n[ "$1" != worker ] || export LD_PRELOAD="{options.poison}"\nexec "{options.tool}" "$@"\n')
    os.chmod(options.faulty, 0o755)
    if not os.path.exists("dumps"):
        dumps.write(options.dumps, "dumps", options.tool, options.synth)
    expected = subprocess.run([options.tool, "group", "--no-system", "--format", "json", "dumps"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
    cluster = Cluster(options.work)
    failures = []
    try:
        pack = [sys.executable, f"{FLEET}/pack", "--group-size", "4M"]
        subprocess.run([*pack, "--out", "packs", "dumps"], check=True, stdout=subprocess.DEVNULL)
        store = pyarrow.fs.S3FileSystem(access_key="test", secret_key="test", region="us-east-1", scheme="http",
                                        endpoint_override=f"127.0.0.1:{cluster.s3}", allow_bucket_creation=True)
        store.create_dir("crashes")
        subprocess.run([*pack, "--out", cluster.url("crashes/packs"), "dumps"], check=True, stdout=subprocess.DEVNULL,
                       env=cluster.environment)
        failures += pack_failures(pack)
        local, remote = [os.path.join(options.work, "packs")], [cluster.url("crashes/packs")]
        speculation = {"spark.speculation": "true", "spark.speculation.multiplier": "1.01",
                       "spark.speculation.quantile": "0.1", "spark.speculation.minTaskRuntime": "10ms"}
        runs = [("one", local, 1, {}, ()), ("two", local, 2, {}, ()), ("s3", remote, 2, {}, ()),
                ("killed", remote, 2, {}, (WORKER, WORKER, PYTHON, EXECUTOR, WORKER)),
                ("speculative", local, 2, speculation, ())]
        first = None
        for name, packs, cores, conf, kills in runs:
            out, seconds = cluster.run(options, name, packs, cores, conf, kills)
            with open(os.path.join(out, "groups.json"), "rb") as file:
                same_groups = file.read() == expected
            made = {table: [{k: v for k, v in row.items()} for row in rows(out, table)]
                    for table in ("dumps", "signatures", "failures")}
            first = first or made
            ids = {row["id"] for row in made["dumps"]}
            statuses = {}
            for row in made["dumps"]:
                statuses[row["status"]] = statuses.get(row["status"], 0) + 1
            is_whole = len(ids) == len(made["dumps"]) == options.dumps
            print(f"{name}: {seconds:.1f} s, {len(made['dumps'])} rows {statuses}, groups "
                  f"{'equal' if same_groups else 'DIFFER'}, tables {'equal' if made == first else 'DIFFER'}", flush=True)
            if not (same_groups and is_whole and made == first):
                failures.append(name)
        # Nothing new, then a day with another dump.
        again = cluster.log("run-two"), cluster.run(options, "two", local)
        if "nothing new in 5 days" not in cluster.log("run-two"):
            failures.append("second run")
        path = os.path.join("dumps", "00", "dump-new.ips")
        with open(path, "wb") as file:
            file.write(dumps.report(1 << 30))
        os.utime(path, (1764000000, 1764000000))
        subprocess.run([*pack, "--out", "packs", path], check=True, stdout=subprocess.DEVNULL)
        cluster.run(options, "two", local)
        print("second run, a day more:", again[1][1], re.findall("fleet_spark: .*", cluster.log("run-two")))
        if "1 of 6 days read" not in cluster.log("run-two"):
            failures.append("incremental run")
        more = subprocess.run([options.tool, "group", "--no-system", "--format", "json", "dumps"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
        with open("two/groups.json", "rb") as file:
            if file.read() != more:
                failures.append("groups of the incremental run")
    finally:
        cluster.end()
    print("failed: " + ", ".join(failures) if failures else "all tables are equal")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
