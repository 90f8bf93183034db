# SPDX-License-Identifier: Apache-2.0
"""Writes dumps of twelve kinds, one in a hundred of them poisoned: see Tests/Poison/include/Poison.h."""
import gzip
import io
import json
import os
import subprocess
import zipfile

SYNTH = [
    ("idump", "--arch", "arm64"), ("idump", "--arch", "x86_64"), ("idump", "--exception", "signal"),
    ("idump", "--exception", "nsexception"), ("idump", "--exception", "simulated"), ("linux", "--arch", "x86_64"),
    ("minidump", "--os", "linux"), ("minidump", "--os", "windows"), ("minidump", "--os", "ios")]
SEEDS = 12
FORMS = 12
DAYS = 5


def poison(kind):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in [f"POISON-{kind}-has-a-long-name"] + [f"a-member-with-a-long-name-{i:04}" for i in range(600)]:
            archive.writestr(zipfile.ZipInfo(name), "x")
    return file.getvalue()


def report(number):
    app = "/private/var/containers/Bundle/Application/X/Shop.app/Shop"
    variant = number // FORMS
    # The system killed the process of the report before, and says so too: a crash that counts once.
    is_twin = variant % 6 == 5
    of = number - FORMS if is_twin else number
    time = f"2026-11-{1 + of % 20:02} 10:00:00.00 +0000"
    # A third of the faults is in each version, others only in the newest or in an old one.
    version = f"2.{(variant // SEEDS % 3, 2, 0)[variant % 3]}"
    incident = f"00000000-0000-4000-8000-{number:012}"
    head = {"app_name": "Shop", "timestamp": time, "app_version": version, "bug_type": "309",
            "os_version": "iPhone OS 18.4 (22E240)", "incident_id": incident}
    frames = [{"imageOffset": 4096 * (1 + variant % SEEDS), "symbol": f"Cart{variant % SEEDS}.total()", "symbolLocation": 4,
               "imageIndex": 0}, {"imageOffset": 99999, "imageIndex": 1}]
    body = {
        "pid": of % 10000, "procName": "Shop", "procPath": app, "captureTime": time, "cpuType": "ARM-64", "incident": incident,
        "crashReporterKey": f"client{number % 5}", "modelCode": "iPhone17,1", "faultingThread": 0,
        "exception": {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV", "subtype": "KERN_INVALID_ADDRESS at 0x10",
                      "codes": "0x0000000000000001, 0x0000000000000010"},
        "threads": [{"triggered": True, "id": 1, "frames": frames}],
        "usedImages": [
            {"source": "P", "arch": "arm64", "base": 4 << 30, "size": 65536, "path": app, "name": "Shop",
             "uuid": "7a3c5e10-0000-4000-8000-000000000001"},
            {"source": "P", "arch": "arm64", "base": 6 << 30, "size": 1000000, "path": "/System/Library/Kit",
             "name": "Kit", "uuid": "7a3c5e10-0000-4000-8000-000000000002"}],
        "osVersion": {"train": "iPhone OS 18.4", "build": "22E240"},
        "bundleInfo": {"CFBundleShortVersionString": version, "CFBundleVersion": "7"}}
    if is_twin:
        body["exception"] = {"type": "EXC_CRASH", "signal": "SIGKILL", "codes": "0x0000000000000000, 0x0000000000000000"}
        body["termination"] = {"namespace": "FRONTBOARD", "code": 2343432205}
    return (json.dumps(head) + "\n" + json.dumps(body)).encode()


def write(count, folder, tool, synth):
    os.makedirs(folder)

    def made(words, seed):
        return subprocess.run([synth, *words, "--seed", str(seed)], stdout=subprocess.PIPE, check=True).stdout

    def as_text(number):
        path = os.path.join(folder, "report.ips")
        with open(path, "wb") as file:
            file.write(report(number))
        text = subprocess.run([tool, "symbolize", "--no-system", "--format", "crash", path], stdout=subprocess.PIPE,
                              check=True).stdout
        os.remove(path)
        return text

    forms = [[(made(words, seed), ".dmp" if words[0] == "minidump" else ".idump") for seed in range(1, SEEDS + 1)]
             for words in SYNTH]
    forms.append([(gzip.compress(dump, mtime=0), ".idump.gz") for dump, _ in forms[0]])
    forms.append([(b"", ".ips")] * SEEDS)
    forms.append([(as_text(FORMS * seed), ".crash") for seed in range(SEEDS)])
    for number in range(count):
        dump, end = forms[number % len(forms)][number // len(forms) % SEEDS]
        if end == ".ips":
            dump = report(number)
        if number % 100 == 7:
            dump, end = poison("hang" if number % 1000 == 7 else ["crash", "memory"][number // 100 % 2]), ".dmp"
        path = os.path.join(folder, f"{number % 100:02}", f"dump-{number:07}{end}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(dump)
        time = 1763000000 + number % DAYS * 86400
        os.utime(path, (time, time))
