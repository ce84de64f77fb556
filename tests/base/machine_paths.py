#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails if a recorded input, a fuzz seed or an expected answer holds a path of the machine that made it.

Usage: machine_paths.py TESTS.  Frames of zstd, as snapshots have them, are read too.
"""
import ctypes
import pathlib
import re
import sys

# Where people build: homes, work directories, mktemp's names.  Whoever makes a path up lives in /home/user.
OURS = re.compile(rb"/(?:root|work|Users|home/(?!user/)[a-z]+|tmp/tmp\.[A-Za-z0-9]{6,}|tmp/pytest-of-)(?:/|\b)[\w./-]*")
FOLDERS = ["fuzz/*", "*/recorded", "replay/answers", "report/expected", "state/inputs", "conformance/expected"]
ZSTD = b"\x28\xb5\x2f\xfd"
MOST = 1 << 26
BUFFER = ctypes.create_string_buffer(MOST)


def unpacked(data):
    """The contents of all frames of zstd in data, one after another."""
    library = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_findFrameCompressedSize", "ZSTD_decompress"):
        getattr(library, name).restype = ctypes.c_size_t
    at = data.find(ZSTD)
    contents = []
    while at >= 0:
        frame = data[at:]
        size = library.ZSTD_findFrameCompressedSize(frame, ctypes.c_size_t(len(frame)))
        if size > len(frame):
            break
        got = library.ZSTD_decompress(BUFFER, ctypes.c_size_t(MOST), frame, ctypes.c_size_t(size))
        contents.append(ctypes.string_at(BUFFER, got) if got <= MOST else b"")
        at = data.find(ZSTD, at + size)
    return b"".join(contents)


def main():
    tests = pathlib.Path(sys.argv[1])
    files = sorted({file for pattern in FOLDERS for folder in tests.glob(pattern) if folder.is_dir()
                    for file in folder.rglob("*") if file.is_file()})
    assert len(files) > 50, f"only {len(files)} files were found below {tests}"
    bad = 0
    for file in files:
        data = file.read_bytes()
        for path in sorted(set(OURS.findall(data + b"\n" + unpacked(data)))):
            print(f"{file.relative_to(tests)}: {path.decode(errors='replace')}")
            bad += 1
    print(f"{len(files)} files read, {bad} paths of a machine found")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
