#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups the crash dumps of packs with Spark.

usage: spark-submit fleet_spark.py [options] --out DIRECTORY PACKS...

PACKS are directories or URIs with the Parquet files of scripts/fleet/pack, or of another program with the columns id and dump,
or id and uri of dumps in an object store. Each Python worker of Spark keeps one process of `crashpadctl worker`.

Written below the output directory, as Parquet (zstd) partitioned by day:
  dumps       a row for each dump: its signature, what crashed, or why it could not be read
  signatures  a row for each signature of a day, with counts
  failures    the rows of dumps that were not read in whole
and groups.json, which is what `crashpadctl group --format json` prints for all dumps of all days, with its page groups.html.

A second run reads only the days whose packs are new or have changed. crashpadctl-fleet(7) has more.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import selectors
import struct
import subprocess
import sys
import threading
import uuid

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq

# MARK: The worker


class FleetError(Exception):
    """An error that the user can fix: a wrong path or option."""


class Worker:
    """One process of `crashpadctl worker`, restarted when a dump ended it.

    The worker answers in the order of requests, one dump at a time. If a process was killed, it was reading the first dump
    without an answer. That dump is tried again, because something else may have killed the process.
    """

    TRIES = 3

    @classmethod
    def check(cls, command):
        """Returns the answer to `version`, or raises an error for a wrong path or option."""
        for _ in range(cls.TRIES):
            try:
                done = subprocess.run(command, input=cls.request("version", "version", 0), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=60)
            except OSError as error:
                raise FleetError(f"{command[0]}: {error.strerror}; give its path with --tool") from None
            except subprocess.TimeoutExpired:
                break
            if done.returncode == 0 and done.stdout:
                return json.loads(done.stdout[4:])["document"]
            if done.returncode > 0:
                text = done.stderr.decode(errors="replace").strip().split("\n")[0]
                raise FleetError(text.removeprefix("crashpadctl: error: ").replace(": error: ", ": ", 1))
        raise FleetError(f"{command[0]}: no answer from `worker`; is it crashpadctl?")

    @staticmethod
    def request(name, operation, size):
        """The bytes before a dump of this size."""
        head = json.dumps({"id": name, "op": operation}).encode()
        return struct.pack("<I", len(head)) + head + struct.pack("<I", size)

    def __init__(self, command, patience):
        self.command, self.patience, self.process = command, patience, None

    def ask(self, operation, dumps):
        """Yields an answer for each (name, dump), in order."""
        rest, tries = list(dumps), 0
        while rest:
            answered = 0
            for answer in self._attempt(operation, rest):
                if answer["status"] == "interrupted":
                    break
                answered, tries = answered + 1, 0
                yield answer
            rest = rest[answered:]
            if rest and answered == 0:
                tries += 1
                if tries >= self.TRIES:
                    yield {"status": "killed", "exit_status": 75, "error": "the worker was killed each time"}
                    rest, tries = rest[1:], 0

    def _start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.buffer = bytearray()

    def _attempt(self, operation, dumps):
        """Yields answers until all dumps have one, or the process has ended."""
        if self.process is None:
            self._start()
        writer = threading.Thread(target=self._write, args=(self.process.stdin, operation, dumps), daemon=True)
        writer.start()
        for _ in dumps:
            answer = self._answer()
            if answer is None:
                break
            yield answer
            if answer["status"] in ("timeout", "memory", "crashed"):
                break
        else:
            writer.join()
            return
        self._end()
        writer.join()

    @staticmethod
    def _write(stream, operation, dumps):
        try:
            for name, dump in dumps:
                stream.write(Worker.request(name, operation, len(dump)))
                view = memoryview(dump)
                while view:
                    view = view[stream.write(view):]
        except OSError:
            pass  # The process ended; its answers show at which dump.

    def _answer(self):
        head = self._read(4)
        body = head and self._read(struct.unpack("<I", head)[0])
        return body and json.loads(body)

    def _read(self, count):
        while len(self.buffer) < count:
            # The worker has its own limit; it is killed if it exceeds that.
            if not self.selector.select(self.patience):
                return None
            block = os.read(self.process.stdout.fileno(), 1 << 20)
            if not block:
                return None
            self.buffer += block
        part = bytes(self.buffer[:count])
        del self.buffer[:count]
        return part

    def _end(self):
        self.selector.close()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        self.process = None


def worker(options):
    # Spark sends this file's functions and variables again with each task; only the interpreter's state remains.
    workers = sys.__dict__.setdefault("crashpadctl_workers", {})
    key = tuple(options["command"])
    if key not in workers:
        Worker.check(options["command"])
        workers[key] = Worker(options["command"], options["patience"])
    return workers[key]


# MARK: Packs


def filesystem(uri):
    if "://" not in uri:
        return pa.fs.LocalFileSystem(), uri
    return pa.fs.FileSystem.from_uri(uri)


def with_path(uri, path):
    """The URI of another path in the same file system."""
    if "://" not in uri:
        return path
    scheme, rest = uri.split("://", 1)
    user = rest.split("/", 1)[0].rpartition("@")[0]
    query = "?" + rest.split("?", 1)[1] if "?" in rest else ""
    return f"{scheme}://{user + '@' if user else ''}{path}{query}"


def day_of(path):
    found = re.search(r"(?:^|/)day=(\d{4}-\d{2}-\d{2})(?:/|$)", path)
    return found.group(1) if found else "unknown"


def packs(uris):
    """The packs of each day: (URI, size)."""
    days = {}
    for uri in uris:
        try:
            system, path = filesystem(uri)
            info = system.get_file_info([path.rstrip("/") or path])[0]
            files = [info] if info.type == pa.fs.FileType.File else [
                f for f in system.get_file_info(pa.fs.FileSelector(path.rstrip("/") or path, recursive=True))
                if f.type == pa.fs.FileType.File and f.path.endswith(".parquet")]
        except FileNotFoundError:
            raise FleetError(f"{uri}: no such file or directory") from None
        except (OSError, pa.ArrowException) as error:
            raise FleetError(f"{uri}: {error}") from None
        if not files:
            raise FleetError(f"{uri}: no packs; scripts/fleet/pack makes them of dumps")
        for file in files:
            days.setdefault(day_of(file.path), []).append((with_path(uri, file.path), file.size))
    return {day: sorted(files) for day, files in days.items()}


def splits(uri):
    """(URI, row group, bytes) of each row group."""
    try:
        system, path = filesystem(uri)
        with system.open_input_file(path) as file:
            pack = pq.ParquetFile(file)
            names = pack.schema_arrow.names
            if "id" not in names or not {"dump", "uri"} & set(names):
                raise FleetError(f"{uri}: not a pack: it needs the columns id and dump, or id and uri")
            metadata = pack.metadata
            return [(uri, index, metadata.row_group(index).total_byte_size) for index in range(metadata.num_row_groups)]
    except (OSError, pa.ArrowException) as error:
        raise FleetError(f"{uri}: {error}") from None


def tasks(parts, size):
    """Row groups of one day, combined by size: a task with one large dump has no others, and writes one file."""
    task, total = [], 0
    for part in sorted(parts, key=lambda p: (day_of(p[0]), -p[2])):
        if task and (total + part[2] > size or day_of(task[0][0]) != day_of(part[0])):
            yield task
            task, total = [], 0
        task.append(part[:2])
        total += part[2]
    if task:
        yield task


def fetch(uri):
    system, path = filesystem(uri)
    try:
        with system.open_input_file(path) as file:
            return file.read()
    except OSError:
        return None


def rows_of(uri, group, wanted=None):
    """Lists of (row, id, received, size, kind, dump) of a row group, each list of some megabytes."""
    system, path = filesystem(uri)
    with system.open_input_file(path) as file:
        pack = pq.ParquetFile(file)
        names = [name for name in ("id", "received", "size", "kind", "dump", "uri") if name in pack.schema_arrow.names]
        first = 0
        for batch in pack.iter_batches(batch_size=256, row_groups=[group], columns=names):
            columns = {name: batch.column(name) for name in names}
            indices = [i for i in range(len(batch)) if wanted is None or first + i in wanted]
            block, total = [], 0
            for index in indices:
                value = {name: column[index] for name, column in columns.items()}
                dump = value["dump"].as_buffer() if "dump" in value and value["dump"].is_valid else None
                row = [first + index, value["id"].as_py(), None, None, None, dump]
                if "received" in value and value["received"].is_valid:
                    row[2] = value["received"].cast(pa.timestamp("us", "UTC")).value
                row[3] = value["size"].as_py() if "size" in value else None
                row[4] = value["kind"].as_py() if "kind" in value else None
                row.append(value["uri"].as_py() if "uri" in value and dump is None else None)
                block.append(row)
                total += len(dump) if dump is not None else 0
                if total > 32 << 20:
                    yield filled(block)
                    block, total = [], 0
            if block:
                yield filled(block)
            first += len(batch)


def filled(block):
    """Reads dumps that are not in the pack, many in parallel, because each needs a network round trip."""
    missing = [row for row in block if row[5] is None and row[6]]
    if missing:
        with concurrent.futures.ThreadPoolExecutor(min(64, len(missing))) as pool:
            for row, dump in zip(missing, pool.map(fetch, [row[6] for row in missing])):
                row[5] = dump
                row[3] = len(dump) if dump is not None and row[3] is None else row[3]
    return block


# MARK: Rows

SIGNATURE = [
    ("key", pa.string()), ("signature", pa.string()), ("text", pa.string()), ("raw", pa.string()), ("named", pa.bool_()),
    ("flags", pa.list_(pa.string()))]
FACTS = [
    ("crash_id", pa.string()), ("seconds", pa.int64()), ("program", pa.string()), ("version", pa.string()),
    ("debug_id", pa.string()), ("device", pa.string()), ("system", pa.string()), ("client", pa.string()),
    ("quick", pa.bool_()), ("thread_count", pa.int64()), ("report", pa.string()), ("role", pa.string()),
    ("pid", pa.int64()), ("process", pa.string()), ("since", pa.int64())]
PLACE = [
    ("day", pa.string()), ("id", pa.string()), ("received", pa.timestamp("us", "UTC")), ("size", pa.int64()),
    ("kind", pa.string()), ("pack", pa.string()), ("row_group", pa.int32()), ("row", pa.int32())]
STATUS = [("status", pa.string()), ("exit_status", pa.int32()), ("signal", pa.int32()), ("error", pa.string())]
DUMPS = pa.schema(PLACE + STATUS + SIGNATURE + FACTS)
# The dump of a key that is read with symbols; a large one is only a URI.
CHOSEN = pa.schema([("key", pa.string()), ("share", pa.int32()), ("id", pa.string()), ("dump", pa.binary()),
                    ("pack", pa.string()), ("row_group", pa.int32()), ("row", pa.int32())])
NAMES = pa.schema([("key", pa.string()), ("names_status", pa.string())] + [("n_" + n, t) for n, t in SIGNATURE[1:]])


def status_of(answer):
    document = answer.get("document") or {}
    findings = [f for f in document.get("findings", []) if f["severity"] == "error"]
    error = answer.get("error") or (findings[0]["message"] if findings and answer.get("exit_status") else None)
    return {"status": answer["status"], "exit_status": answer.get("exit_status"), "signal": answer.get("signal"),
            "error": error}


def signature_of(answer):
    document = answer.get("document") or {}
    made = document.get("signature")
    if not made:
        return dict.fromkeys([name for name, _ in SIGNATURE])
    return {"key": document.get("key"), "signature": made["id"], "text": made["text"], "raw": made["raw"],
            "named": made["named"], "flags": made["flags"]}


def facts_of(answer):
    crash = (answer.get("document") or {}).get("crash") or {}
    return {"crash_id": crash.get("id"), **{name: crash.get(name) for name, _ in FACTS[1:]}}


def first_pass(options):
    """Converts tasks to the rows of their dumps."""
    def run(batches):
        for batch in batches:
            for task in batch.column("task").to_pylist():
                for uri, group in json.loads(task):
                    for block in rows_of(uri, group):
                        yield answered(uri, group, block)

    def answered(uri, group, block):
        asked = [row for row in block if row[5] is not None]
        answers = worker(options).ask(options["operation"], [(row[1], row[5]) for row in asked])
        rows = []
        for row in block:
            answer = next(answers) if row[5] is not None else {
                "status": "failed", "exit_status": 66, "error": "there is no dump at its place"}
            rows.append({"day": day_of(uri), "id": row[1], "received": row[2], "size": row[3], "kind": row[4],
                         "pack": uri, "row_group": group, "row": row[0], **status_of(answer), **signature_of(answer),
                         **facts_of(answer)})
        return pa.RecordBatch.from_pylist(rows, DUMPS)

    return run


# Larger dumps bypass Spark's own memory. A batch has this many others.
LARGEST_CARRIED, BATCH = 4 << 20, 16
# One worker handles this many keys of a build.
SHARE = 1000


def chosen_dumps(batches):
    """Converts tasks, which name one dump for each key, to these dumps."""
    for batch in batches:
        for task in batch.column("task").to_pylist():
            for uri, group, wanted in json.loads(task):
                keys = {row: (key, share) for row, key, share in wanted}
                for block in rows_of(uri, group, keys):
                    for row in block:
                        key, share = keys[row[0]]
                        is_carried = row[5] is not None and len(row[5]) <= LARGEST_CARRIED
                        cells = {"key": key, "share": share, "id": row[1],
                                 "dump": bytes(row[5]) if is_carried else None,
                                 "pack": uri, "row_group": group, "row": row[0]}
                        yield pa.RecordBatch.from_pylist([cells], CHOSEN)


def second_pass(options):
    """Converts the chosen dumps to signatures with symbols."""
    def dump_of(cells):
        blocks = rows_of(cells["pack"], cells["row_group"], {cells["row"]})
        return next((row[5] for block in blocks for row in block), None) or b""

    def answered(chosen, dumps):
        rows = []
        answers = worker(options).ask("signature", [(cells["id"], dump) for cells, dump in zip(chosen, dumps)])
        for cells, answer in zip(chosen, answers):
            made = signature_of(answer)
            rows.append({"key": cells["key"], "names_status": answer["status"],
                         **{"n_" + name: made[name] for name, _ in SIGNATURE[1:]}})
        return pa.RecordBatch.from_pylist(rows, NAMES)

    def run(batches):
        for batch in batches:
            carried, large = [], []
            for cells in batch.to_pylist():
                (large if cells["dump"] is None else carried).append(cells)
            yield answered(carried, [cells["dump"] for cells in carried])
            for cells in large:
                yield answered([cells], [dump_of(cells)])

    return run


# MARK: The job


def spark_schema(schema):
    from pyspark.sql.pandas.types import from_arrow_schema
    return from_arrow_schema(schema)


def of_tasks(spark, found, function, schema):
    texts = [task if isinstance(task, str) else json.dumps(task) for task in found]
    frame = spark.createDataFrame(
        spark.sparkContext.parallelize([(text,) for text in texts], max(1, len(texts))), "task string")
    return frame.mapInArrow(function, spark_schema(schema))


def named(spark, rows, options, task_count):
    """Rows with signatures from symbols; only one dump of each key is read.

    A pack is read once, and the dumps of one build go to one worker: no other has to load its symbols.
    """
    from pyspark.sql import functions as f
    chosen = rows.where(f.col("key").isNotNull()).groupBy("key").agg(
        f.min(f.struct("id", "pack", "row_group", "row", "program", "debug_id")).alias("one"))
    places = sorted(chosen.select("key", "one.*").collect(), key=lambda p: (
        p["debug_id"] or "", p["program"] or "", p["key"]))
    groups, share, build, size = {}, 0, None, 0
    for place in places:
        if build != (place["debug_id"], place["program"]) or size == SHARE:
            share, build, size = share + 1, (place["debug_id"], place["program"]), 0
        size += 1
        groups.setdefault((place["pack"], place["row_group"]), []).append((place["row"], place["key"], share))
    count = max(1, -(-len(groups) // task_count))
    parts = [(uri, group, wanted) for (uri, group), wanted in sorted(groups.items())]
    found = [parts[i:i + count] for i in range(0, len(parts), count)]
    if found:
        dumps = of_tasks(spark, found, chosen_dumps, CHOSEN)
        names = dumps.repartition(task_count, "share").sortWithinPartitions("share", "key").mapInArrow(
            second_pass(options), spark_schema(NAMES))
    else:
        names = spark.createDataFrame([], spark_schema(NAMES))
    if len(places) < 100_000:
        joined = rows.join(f.broadcast(names), "key", "left")
    else:
        # Each partition of this join has rows of each day.
        joined = rows.join(names, "key", "left").repartition("day", f.pmod(f.hash("id"), f.lit(16)))
    for name, _ in SIGNATURE[1:]:
        # If a dump ends the worker only with symbols, it keeps its signature without symbols.
        has = f.col("n_signature").isNotNull()
        joined = joined.withColumn(name, f.when(has, f.col("n_" + name)).otherwise(f.col(name)))
    return joined.drop(*["n_" + name for name, _ in SIGNATURE[1:]]), len(places)


# MARK: The tables of a day

CELL = ["signature", "text", "raw", "named", "flags"]
COUNTED = ["program", "version", "device", "system"]
ACCOUNT = ["report", "role", "since", "pid", "process", "program", "version", "device", "system", "client", "quick"]
FAILURES = pa.schema([field for field in PLACE[:5] + STATUS if field[0] != "day"])


def list_of(**fields):
    return pa.list_(pa.struct(list(fields.items())))


SIGNATURES = pa.schema([
    *SIGNATURE[1:], ("count", pa.int64()), ("first", pa.int64()), ("last", pa.int64()),
    ("example", pa.struct([("id", pa.string()), ("input", pa.string())])),
    ("quick", list_of(client=pa.string(), seconds=pa.int64())),
    *[(name + "s", list_of(name=pa.string(), count=pa.int64())) for name in COUNTED[1:]],
    ("releases", list_of(program=pa.string(), version=pa.string(), count=pa.int64())),
    ("days", list_of(day=pa.int64(), version=pa.string(), count=pa.int64()))])
DONE = pa.schema([("day", pa.string()), ("failed", pa.int64())])


def day_tables(out, rules):
    """Creates the other tables and partial results of days whose dumps are written."""
    def run(batches):
        for batch in batches:
            for day in batch.column("task").to_pylist():
                yield pa.RecordBatch.from_pylist([{"day": day, "failed": write_day(out, day, rules)}], DONE)

    return run


def write_day(out, day, rules):
    """Reads the rows of a day once, some thousand at a time. Returns the number of failures."""
    whole, crashes, accounts, waiting, failures = {}, {}, [], [], []
    for rows in rows_of_day(os.path.join(out, "dumps", f"day={day}")):
        failures += rows.filter(pc.not_equal(rows["exit_status"], 0)).select(FAILURES.names).to_pylist()
        rows = rows.filter(pc.is_valid(rows["signature"]))
        is_account = pc.and_(pc.and_(pc.is_valid(rows["role"]), pc.is_valid(rows["pid"])), pc.is_valid(rows["seconds"]))
        is_told = pc.and_(is_account, pc.fill_null(pc.not_equal(rows["role"], "captured"), False))
        # Copies of a report with an id, and its other forms, may be in other parts.
        is_waiting = pc.or_(is_told, pc.is_valid(rows["report"]))
        count(rows, whole)
        count(rows.filter(pc.invert(is_waiting)), crashes)
        columns = [*CELL, "crash_id", "id", "seconds", *ACCOUNT]
        accounts += rows.filter(pc.and_not(is_account, is_waiting)).select(columns).to_pylist()
        waiting += rows.filter(is_waiting).select(columns).to_pylist()
    made = [signature_row(cell, sums) for cell, sums in whole.items()]
    made.sort(key=lambda row: [(row[name] is not None, row[name]) for name in CELL])
    write_table(os.path.join(out, "signatures", f"day={day}"), made, SIGNATURES)
    failures.sort(key=lambda row: (row["id"] or "", row["size"] or 0))
    write_table(os.path.join(out, "failures", f"day={day}"), failures, FAILURES)
    write_part(os.path.join(out, "parts", f"{day}.json"), day, cells(crashes, accounts, waiting), len(failures), rules)
    return len(failures)


def rows_of_day(folder):
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith(".parquet"):
            columns = [*FAILURES.names, *CELL, *(name for name, _ in FACTS)]
            for batch in pq.ParquetFile(os.path.join(folder, name)).iter_batches(columns=columns):
                yield pa.Table.from_batches([batch])


class Sums:
    """The counts of the crashes of one signature."""

    def __init__(self):
        self.count, self.first, self.last, self.example, self.quick, self.of = 0, None, None, None, [], {}
        self.installed, self.installations = 0, set()


def count(rows, sums):
    """Adds rows to the sums of their signatures. pyarrow combines rows that have all counted columns in common."""
    if not len(rows):
        return
    date = pc.floor(pc.divide(rows["seconds"].cast(pa.float64()), 86400.0)).cast(pa.int64())
    # A list cannot be a key.
    flags = pc.binary_join(rows["flags"], "\n")
    table = rows.select([*CELL[:-1], *COUNTED, "seconds", "id"]).append_column("flags", flags).append_column(
        "date", date).append_column("crash_id", pc.fill_null(rows["crash_id"], "")).sort_by(
        [("crash_id", "ascending"), ("id", "ascending")])
    keys = [*CELL, *COUNTED, "date"]
    found = table.group_by(keys, use_threads=False).aggregate(
        [([], "count_all"), ("seconds", "min"), ("seconds", "max"), ("crash_id", "first"), ("id", "first")])
    for row in found.to_pylist():
        made = sums.setdefault(tuple(row[name] for name in CELL), Sums())
        made.count += row["count_all"]
        made.first = min((time for time in (made.first, row["seconds_min"]) if time is not None), default=None)
        made.last = max((time for time in (made.last, row["seconds_max"]) if time is not None), default=None)
        example = (row["crash_id_first"], row["id_first"])
        made.example = example if made.example is None else min(made.example, example)
        of = tuple(row[name] for name in [*COUNTED, "date"])
        made.of[of] = made.of.get(of, 0) + row["count_all"]
    named = rows.append_column("joined", flags).filter(pc.is_valid(rows["client"]))
    for row in named.group_by([*CELL[:-1], "joined", "client"]).aggregate([([], "count_all")]).to_pylist():
        made = sums[tuple(row[name] for name in [*CELL[:-1], "joined"])]
        made.installed += row["count_all"]
        made.installations.add(installation(row["client"]))
    is_quick = pc.and_(pc.fill_null(rows["quick"], False), pc.and_(
        pc.is_valid(rows["client"]), pc.is_valid(rows["seconds"])))
    quick = rows.append_column("joined", flags).filter(is_quick)
    for row in quick.select([*CELL[:-1], "joined", "client", "seconds"]).to_pylist():
        sums[tuple(row[name] for name in [*CELL[:-1], "joined"])].quick.append((row["client"], row["seconds"]))


def installation(client):
    """The digest of an installation in a part: FNV-1a."""
    digest = 0xcbf29ce484222325
    for byte in client.encode():
        digest = (digest ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{digest:016x}"


def counts(sums, of):
    """The number of crashes for each value of a function, sorted; the function returns None for rows that do not count."""
    made = {}
    for (program, version, device, system, date), number in sums.of.items():
        value = of(program or "", version, device, system, date)
        if value is not None:
            made[value] = made.get(value, 0) + number
    return sorted(made.items(), key=lambda item: [(part is not None, part) for part in item[0]])


def signature_row(cell, sums):
    def names(index):
        return [{"name": name, "count": number} for (name,), number in counts(
            sums, lambda *row: None if row[index] is None else (row[index],))]

    releases = counts(sums, lambda program, version, *_: None if version is None else (program, version))
    # From 1990 to 2100, as in groups.
    def known(date):
        return date is not None and 7305 <= date < 47482

    days = counts(sums, lambda _, version, device, system, date: (date, version) if known(date) else None)
    device_days = counts(sums, lambda _, version, device, system, date:
                         (date, device) if known(date) and device is not None else None)
    return {
        **dict(zip(CELL, cell)), "flags": cell[4].split("\n") if cell[4] else [],
        "count": sums.count, "first": sums.first, "last": sums.last,
        "example": {"id": sums.example[0] or None, "input": sums.example[1]},
        "quick": [{"client": client, "seconds": seconds} for client, seconds in sorted(sums.quick)],
        "versions": names(1), "devices": names(2), "systems": names(3),
        "releases": [{"program": key[0], "version": key[1], "count": number} for key, number in releases],
        "days": [{"day": key[0], "version": key[1], "count": number} for key, number in days],
        "device_days": [{"day": key[0], "device": key[1], "count": number} for key, number in device_days]}


def cells(crashes, accounts, waiting):
    """The content of a part for a day: crashes with the accounts by which other reports of them are known, and reports that
    may be of a crash in another part. This is decided when all parts are combined.
    """
    made = {}

    def cell(row):
        key = (row["signature"], row["raw"], row["text"], row["named"], tuple(row["flags"]))
        return made.setdefault(key, {
            "id": row["signature"], "text": row["text"], "raw": row["raw"], "named": row["named"], "flags": row["flags"],
            "count": 0})

    def by_name(values):
        return {value["name"]: value["count"] for value in values}

    for key, sums in crashes.items():
        row = signature_row(key, sums)
        quick, releases = {}, {}
        for entry in row["quick"]:
            quick.setdefault(entry["client"], []).append(entry["seconds"])
        for release in row["releases"]:
            releases.setdefault(release["program"], {})[release["version"]] = release["count"]
        cell(row).update({
            "count": row["count"], "first": row["first"], "last": row["last"], "versions": by_name(row["versions"]),
            "devices": by_name(row["devices"]), "systems": by_name(row["systems"]), "releases": releases,
            "days": row["days"], **({"device_days": row["device_days"]} if row["device_days"] else {}),
            "quick": quick, "example": row["example"], "installed": sums.installed,
            "installations": sorted(sums.installations)})

    def order(row):
        return row["seconds"] or 0, row["pid"] or 0, row["crash_id"] or "", row["id"]

    for row in sorted(accounts, key=order):
        cell(row).setdefault("accounts", []).append({
            "time": row["seconds"], **{name: row[name] for name in ("pid", "process", "device", "version")}})
    for row in sorted(waiting, key=order):
        cell(row).setdefault("waiting", []).append({
            "reports": 1, "id": row["crash_id"], "input": row["id"], "time": row["seconds"],
            **{name: row[name] for name in ACCOUNT}})
    return [made[key] for key in sorted(made)]


def write_table(folder, rows, schema):
    """The file of a table. It appears complete: a task that runs twice writes the same file twice."""
    os.makedirs(folder, exist_ok=True)
    path, new = os.path.join(folder, "part-0.parquet"), os.path.join(folder, f".{uuid.uuid4()}.new")
    pq.write_table(pa.Table.from_pylist(rows, schema), new, compression="zstd")
    os.rename(new, path)


def write_part(path, day, cells, failed, rules):
    """The partial result of a day, which `crashpadctl group --merge` reads."""
    part = {"schema": "crashpadctl-group-part/1", "rules": rules,
            "shards": [{"run": f"day={day}", "number": 1, "total": 1, "failed": failed, "cells": cells}]}
    replace(path, json.dumps(part, ensure_ascii=False))


def replace(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = os.path.join(os.path.dirname(path), f".{uuid.uuid4()}.new")
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(new, path)


def digest_of(files):
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()


def is_changed(state, day, files):
    """Whether the packs of a day differ from those of the last run."""
    try:
        with open(os.path.join(state, f"{day}.digest"), encoding="ascii") as file:
            return file.read() != digest_of(files)
    except FileNotFoundError:
        return True


def parse(arguments):
    parser = argparse.ArgumentParser(
        usage="spark-submit fleet_spark.py [options] --out DIRECTORY PACKS...",
        description="Group the crash dumps of packs with Spark.")
    parser.add_argument("packs", nargs="+", metavar="PACKS", help="directories or URIs with packs")
    parser.add_argument("--out", required=True, metavar="DIRECTORY", help="of the tables; all executors write there")
    parser.add_argument("--tool", default="crashpadctl", metavar="PATH", help="crashpadctl on the executors")
    parser.add_argument("--symbols", action="append", default=[], metavar="PATH", help="on the executors")
    parser.add_argument("--in-app", action="append", default=[], metavar="GLOB", help="modules of the program")
    parser.add_argument("--dump-timeout", default="60s", metavar="TIME", help="of a dump: 60s")
    parser.add_argument("--memory-limit", default="1GiB", metavar="SIZE", help="of a dump: 1GiB")
    parser.add_argument("--patience", type=float, default=300, metavar="SECONDS",
                        help="kill a worker that gives no answer for so long: 300")
    parser.add_argument("--passes", type=int, choices=[1, 2], default=2,
                        help="2: look up symbols for one dump of each key; 1: for each dump")
    parser.add_argument("--task-size", type=int, default=1024, metavar="MB", help="dumps of a task: 1024")
    parser.add_argument("--again", action="store_true", help="read all days, not only those that changed")
    options = parser.parse_args(arguments)
    if "://" in options.out:
        parser.error(f"argument --out: {options.out} is a URI; give a directory that all executors share")
    # Executors have another working directory.
    options.out = os.path.abspath(options.out)
    options.packs = [path if "://" in path else os.path.abspath(path) for path in options.packs]
    options.symbols = [os.path.abspath(path) for path in options.symbols]
    if "/" in options.tool:
        options.tool = os.path.abspath(options.tool)
    return options


def main():
    options = parse(sys.argv[1:])
    try:
        run(options)
    except FleetError as error:
        sys.exit(f"fleet_spark: error: {error}")
    except OSError as error:
        sys.exit(f"fleet_spark: error: {error.filename or options.out}: {error.strerror or error}")
    except Exception as error:
        # For an error on an executor, Spark has the traceback as text, below its own.
        found = re.search(r"(?:FleetError|OSError|PermissionError|IOException): (.*)", str(error))
        if not found:
            raise
        where = f", in {options.out} or in Spark's local directories" if "No space" in found.group(1) else ""
        sys.exit(f"fleet_spark: error: {found.group(1)}{where}")


def run(options):
    command = [options.tool, "worker", "--no-system", "--dump-timeout", options.dump_timeout, "--memory-limit",
               options.memory_limit]
    version = Worker.check(command)
    days = packs(options.packs)
    state = os.path.join(options.out, "_days")
    os.makedirs(state, exist_ok=True)
    from pyspark import StorageLevel
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f
    spark = SparkSession.builder.appName("crashpadctl fleet").config(
        "spark.sql.parquet.compression.codec", "zstd").config(
        "spark.sql.sources.partitionOverwriteMode", "dynamic").config(
        "spark.sql.session.timeZone", "UTC").config(
        "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS").config(
        "spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH)).config(
        # A Python worker is kept for its worker process.
        "spark.python.worker.reuse", "true").getOrCreate()
    context = spark.sparkContext
    changed = [day for day in sorted(days) if options.again or is_changed(state, day, days[day])]
    command += [word for path in options.symbols for word in ("--symbols", path)]
    command += [word for glob in options.in_app for word in ("--in-app", glob)]
    # Without symbols, the second pass would find the same as the first.
    has_names = options.passes == 2 and bool(options.symbols)
    asked = {"command": command, "patience": options.patience,
             "operation": "raw" if options.passes == 2 else "signature"}
    uris = [uri for day in changed for uri, _ in days[day]]
    if uris:
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            parts = [part for found in pool.map(splits, uris) for part in found]
        total = sum(part[2] for part in parts)
        # Enough tasks for all cores to end at about the same time, and none larger than necessary.
        size = max(1 << 20, min(options.task_size << 20, total // (context.defaultParallelism * 4) + 1))
        rows = of_tasks(spark, list(tasks(parts, size)), first_pass(asked), DUMPS)
        if has_names:
            # It is read twice: for the keys, and for the table.
            rows = rows.persist(StorageLevel.DISK_ONLY)
            rows, represented = named(spark, rows, asked, context.defaultParallelism * 4)
        else:
            rows = rows.withColumn("names_status", f.col("status"))
        rows.drop("pack", "row_group", "row").sortWithinPartitions("day", "id").write.mode("overwrite").partitionBy(
            "day").parquet(os.path.join(options.out, "dumps"))
        of_tasks(spark, changed, day_tables(options.out, version["rules"]), DONE).collect()
        for day in changed:
            replace(os.path.join(state, f"{day}.digest"), digest_of(days[day]))
        remove_leftovers(options.out, changed)
        print(f"fleet_spark: {len(changed)} of {len(days)} days read"
              + (f", symbols for {represented} dumps looked up" if has_names else ""))
    else:
        print(f"fleet_spark: nothing new in {len(days)} days")
    merge(options)
    spark.stop()


def remove_leftovers(out, days):
    """Incomplete files of killed tasks."""
    for folder in ["parts", "_days", *(f"{table}/day={day}" for table in ("signatures", "failures") for day in days)]:
        folder = os.path.join(out, folder)
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name.startswith(".") and name.endswith(".new"):
                os.remove(os.path.join(folder, name))


def merge(options):
    folder = os.path.join(options.out, "parts")
    parts = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))
    page = os.path.join(options.out, "groups.html")
    result = subprocess.run([options.tool, "group", "--merge", "--format", "json", "--html", page, *parts], stdout=subprocess.PIPE)
    if result.returncode not in (0, 1):
        raise FleetError(f"group --merge ended with status {result.returncode}")
    replace(os.path.join(options.out, "groups.json"), result.stdout.decode())


if __name__ == "__main__":
    main()
