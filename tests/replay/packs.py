# SPDX-License-Identifier: BSD-3-Clause
"""Recorded cases as the repository keeps them: recorded/LINE/FAMILY.zst, one frame of zstd with lines of text.

  case NAME DATE COMMIT   a case and when it was recorded, with mpiq of which commit
  source FILE:LINE TEXT   a source line that its answer may name, as it was then
  1 JSON, 2 JSON          a rank at the first or the second look, as a snapshot has it

What differs from run to run and decides nothing is made the same: process and thread numbers, hosts, addresses,
paths, and times, of which the order alone is kept.
"""
import ctypes
import functools
import json
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
RECORDED = HERE / "recorded"

LEVEL = 19
MOST = 1 << 28
SNAPSHOT = b"mpiq snapshot 1\n"

# Times: all that was before the looks is ten seconds old, and a second look comes a quarter of a second later.
LOOK_NS = 1_700_000_000_000_000_000
AGE_NS = 10_000_000_000
PAUSE_NS = 250_000_000
STAMPS = ("begin_ns", "end_ns", "taken_ns", "last_mpi_end_ns")
# Arguments of calls that are addresses where handles are.
HANDLES = ("comm", "datatype", "sendtype", "recvtype", "op")
ADDRESSES = ("pc", "caller", "made_caller", "handle", "parent", "buffer", "request", "inner")
PIDS = ("pid", "tid", "lock_holder", "owner", "partner", "tracer") # a frame's "owner" is a word
PATHS = ("file", "object", "executable", "library_file")


@functools.cache
def zstd():
    library = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_compress", "ZSTD_decompress", "ZSTD_compressBound"):
        getattr(library, name).restype = ctypes.c_size_t
    return library


def compressed(data):
    room = zstd().ZSTD_compressBound(ctypes.c_size_t(len(data)))
    buffer = ctypes.create_string_buffer(room)
    size = zstd().ZSTD_compress(buffer, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), LEVEL)
    assert size <= room, "zstd cannot compress"
    return buffer.raw[:size]


def decompressed(data):
    room = 64 * len(data)
    while True:
        buffer = ctypes.create_string_buffer(room)
        size = zstd().ZSTD_decompress(buffer, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)))
        if size <= room:
            return ctypes.string_at(buffer, size)
        room *= 4
        assert room <= MOST, "no frame of zstd, or one of more than we make"


@functools.cache
def commit():
    done = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short=10", "HEAD"], stdout=subprocess.PIPE, text=True,
                          check=True)
    return done.stdout.strip()


@functools.cache
def neutral_path(path):
    """A path without what is of this machine."""
    path = os.path.normpath(path)
    for pattern, neutral in ((r".*/tests/hangs/", "/home/user/"),
                             (r".*/(?=recorder/[\w.]+$)", "/home/user/mpiq/"),
                             (r".*/mpiq-record-\w+/[^/]+/", "/home/user/"),
                             (r".*/openmpi-([\d.]+)-[0-9a-f]+/", r"/opt/openmpi-\1/"),
                             (r"/(?:root|work|tmp|home/(?!user/)\w+|Users)/.*/", "/home/user/src/")):
        neutral_one = re.sub("^" + pattern, neutral, path)
        if neutral_one != path:
            return neutral_one
    return path


def is_pid(key, value):
    return key in PIDS and isinstance(value, int) and value > 0


class Neutral:
    """Makes the states of one recording neutral."""

    def __init__(self, states):
        self.pids, self.hosts, self.addresses = {}, {}, {}
        self.source = set()
        stamps = {}
        for _, state in states:
            self.each(state, lambda key, value: self.pid(value) if is_pid(key, value) else None)
        for look, state in states:
            self.each(state, lambda key, value, of=stamps: of.setdefault(value) if key in STAMPS and value else None)
        first = {look: min((state["taken_ns"] for at, state in states if at == look), default=0) for look in (1, 2)}
        self.times = {}
        for index, stamp in enumerate(sorted(stamps)):
            begin = LOOK_NS - AGE_NS
            if stamp >= first[1]:
                begin = LOOK_NS
            if first[2] and stamp >= first[2]:
                begin = LOOK_NS + PAUSE_NS
            self.times[stamp] = begin + 1000 * index

    def each(self, value, call):
        """Calls with each key and plain value of a state."""
        if isinstance(value, dict):
            for key, one in value.items():
                if isinstance(one, (dict, list)):
                    self.each(one, call)
                else:
                    call(key, one)
        elif isinstance(value, list):
            for one in value:
                self.each(one, call)

    def pid(self, value):
        return self.pids.setdefault(value, 1001 + len(self.pids))

    def plain(self, process, key, value):
        if key in STAMPS and value:
            return self.times[value]
        if is_pid(key, value):
            return self.pid(value)
        if key == "text":
            return re.sub(r"\d+", lambda number: str(self.pids.get(int(number[0]), number[0])), value)
        if key == "host":
            return self.hosts.setdefault(value, f"node{len(self.hosts) + 1}")
        if key in ADDRESSES and int(value, 16) >= 1 << 32: # smaller ones are no addresses
            known = self.addresses.setdefault(process, {})
            return hex(known.setdefault(value, 0x100000000000 + 16 * (len(known) + 1)))
        if key in PATHS:
            return neutral_path(value)
        if key == "command":
            return " ".join([neutral_path(value.split(" ")[0]), *value.split(" ")[1:]])
        return value

    def value(self, process, value):
        if isinstance(value, dict):
            where = value.get("file", "")
            if "/tests/hangs/" in where and value.get("line"):
                self.source.add((where, value["line"]))
            if value.get("kind") in HANDLES and value.get("value", 0) >= 1 << 32:
                value = {**value, "value": int(self.plain(process, "handle", hex(value["value"])), 16)}
            return {key: self.value(process, one) if isinstance(one, (dict, list)) else self.plain(process, key, one)
                    for key, one in value.items()}
        if isinstance(value, list):
            return [self.value(process, one) if isinstance(one, (dict, list)) else one for one in value]
        return value


def read_snapshot(path):
    """The states of a snapshot as (look, state)."""
    data = path.read_bytes()
    assert data.startswith(SNAPSHOT), f"{path} is no snapshot"
    lines = decompressed(data[len(SNAPSHOT):]).decode(errors="surrogateescape").splitlines()
    return [(int(line[0]), json.loads(line[2:])) for line in lines]


@functools.cache
def source_lines(file):
    return pathlib.Path(file).read_text(encoding="utf-8").splitlines()


def case_text(name, meta, states):
    """A recording as lines."""
    neutral = Neutral(states)
    lines = [f"{look} {json.dumps(neutral.value(str(state['name']), state), separators=(',', ':'), ensure_ascii=False)}"
             for look, state in states]
    source = []
    for file, number in sorted(neutral.source):
        text = source_lines(file)
        around = " ".join(line.strip() for line in text[max(number - 3, 0):number + 2])
        source.append(f"source {os.path.basename(file)}:{number} {around}")
    return "\n".join([f"case {name} {meta['date']} {meta['commit']}", *source, *lines]) + "\n"


def cases_of(text):
    """The cases of a pack's lines: {name: text}."""
    cases = {}
    for line in text.splitlines(keepends=True):
        if line.startswith("case "):
            name = line.split()[1]
            cases[name] = ""
        cases[name] += line
    return cases


def read(path):
    """The cases of a pack: {name: text}."""
    return cases_of(decompressed(path.read_bytes()).decode(errors="surrogateescape")) if path.exists() else {}


def pack(raw, families, recorded=RECORDED):
    """Takes in every recording below raw; families: the names of the cases of each."""
    for directory in sorted(path for path in raw.iterdir() if path.is_dir()):
        for family, names in families.items():
            fresh = {name: directory / f"{name}.mpiq" for name in names if (directory / f"{name}.mpiq").exists()}
            if not fresh:
                continue
            path = recorded / directory.name.replace(":", "_") / f"{family}.zst"
            cases = {name: text for name, text in read(path).items() if name in names}
            for name, snapshot in fresh.items():
                meta = json.loads(snapshot.with_suffix(".json").read_text(encoding="utf-8"))
                cases[name] = case_text(name, meta, read_snapshot(snapshot))
            path.parent.mkdir(parents=True, exist_ok=True)
            ordered = "".join(cases[name] for name in names if name in cases)
            path.write_bytes(compressed(ordered.encode(errors="surrogateescape")))
            print(f"{path.relative_to(recorded)}: {len(cases)} cases, {path.stat().st_size} bytes", flush=True)
