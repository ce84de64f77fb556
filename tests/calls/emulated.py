# SPDX-License-Identifier: BSD-3-Clause
"""A program of another machine under qemu's user emulation, stopped where it waits for its standard input, and its core file
as that machine's kernel would write it."""
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import time

EM_AARCH64 = 183
PAGE = 4096
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE = 1, 3, 6, 0x46494C45
# The emulator puts a program's memory at its own addresses, which are lower than all that the emulator itself uses.
ADDRESS_MOST = 1 << 40
# Of the stack that is not in use.
STACK_BELOW = 1 << 16


class Emulated:
    """The process; its standard input and output are pipes."""

    def __init__(self, program, folder, emulator="qemu-aarch64", root="/usr/aarch64-linux-gnu", environment=None):
        place = pathlib.Path(folder) / "gdb.socket"
        place.unlink(missing_ok=True)
        self.process = subprocess.Popen([emulator, "-g", place, "-L", root, program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**os.environ, **(environment or {})})
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(str(place)):
            if self.process.poll() is not None:
                raise RuntimeError(f"{emulator} has ended")
            time.sleep(0.01)
        self.rest = b""
        self.ask("?")

    def send(self, text):
        """Sends a packet of the debugger's protocol."""
        data = text.encode()
        self.socket.sendall(b"$%s#%02x" % (data, sum(data) % 256))

    def more(self):
        """Waits for what the emulator sends; false: it has ended."""
        data = self.socket.recv(1 << 16)
        self.rest += data
        return bool(data)

    def receive(self):
        """The next packet."""
        while True:
            start, end = self.rest.find(b"$"), self.rest.find(b"#")
            if 0 <= start < end <= len(self.rest) - 3:
                packet, self.rest = self.rest[start + 1:end], self.rest[end + 3:]
                self.socket.sendall(b"+")
                return unescaped(packet)
            if not self.more():
                raise RuntimeError("the emulator has ended")

    def ask(self, text):
        """Sends a packet and returns the answer."""
        self.send(text)
        return self.receive()

    def resume(self):
        """Lets it run."""
        self.send("c")

    def lines(self):
        """What it says, line by line, until it ends."""
        output, rest = self.process.stdout.fileno(), b""
        while True:
            ready = select.select([output, self.socket], [], [])[0]
            if output in ready:
                more = os.read(output, 1 << 16)
                *whole, rest = (rest + more).split(b"\n")
                yield from (line.decode() for line in whole)
                if not more:
                    return
            elif not self.more() or b"$W" in self.rest or b"$X" in self.rest:
                return

    def stop(self):
        """Stops it once it reads from its standard input."""
        waits = pathlib.Path(f"/proc/{self.process.pid}/syscall")
        while not waits.read_text(encoding="utf-8").startswith("0 0x0 ") and self.process.poll() is None:
            time.sleep(0.0005)
        self.process.send_signal(signal.SIGUSR1)
        self.receive()

    def auxv(self):
        """Its auxiliary vector."""
        data = b""
        while True:
            answer = self.ask(f"qXfer:auxv:read::{len(data):x},400")
            data += answer[1:]
            if answer[:1] != b"m":
                return data

    def mappings(self):
        """(start, end, flags, offset, path) of what is its own, not the emulator's: they share one address space."""
        found = []
        for line in pathlib.Path(f"/proc/{self.process.pid}/maps").read_text(encoding="utf-8").splitlines():
            words = line.split(maxsplit=5)
            start, end = (int(word, 16) for word in words[0].split("-"))
            path = words[5] if len(words) > 5 else ""
            if end <= ADDRESS_MOST:
                found.append((start, end, words[1], int(words[2], 16), path))
        return found

    def core(self, path):
        """Writes its core file."""
        registers = bytes.fromhex(self.ask("g").decode())[:33 * 8 + 4] + bytes(4)
        status = struct.pack("<12xh2xQQ4i", 0, 0, 0, self.process.pid, 1, 1, 1).ljust(112, b"\0") + registers + bytes(8)
        below = struct.unpack_from("<Q", registers, 31 * 8)[0] - STACK_BELOW
        mappings = [(max(start, below // PAGE * PAGE), *rest) if start < below < rest[0] else (start, *rest)
                    for start, *rest in self.mappings()]
        files = [one for one in mappings if one[4].startswith("/")]
        listed = struct.pack("<QQ", len(files), PAGE)
        listed += b"".join(struct.pack("<QQQ", start, end, offset // PAGE) for start, end, _, offset, _ in files)
        listed += b"".join(one[4].encode() + b"\0" for one in files)
        notes = b"".join(note(kind, data) for kind, data in
                         [(NT_PRSTATUS, status), (NT_PRPSINFO, prpsinfo(self.process.pid)), (NT_AUXV, self.auxv()),
                          (NT_FILE, listed)])
        self.write(path, mappings, notes)

    def write(self, path, mappings, notes):
        """Program headers, notes and memory; of a file's code only the first page."""
        count = len(mappings) + 1
        at = 64 + 56 * count
        headers = [struct.pack("<IIQQQQQQ", 4, 0, at, 0, 0, len(notes), 0, 4)]
        at += len(notes)
        with open(f"/proc/{self.process.pid}/mem", "rb", buffering=0) as memory, open(path, "wb") as core:
            for start, end, flags, offset, name in mappings:
                size = end - start if "w" in flags or not name.startswith("/") else PAGE if offset == 0 else 0
                data = b""
                try:
                    memory.seek(start)
                    data = memory.read(size) if "r" in flags else b""
                except OSError:
                    pass
                at = (at + PAGE - 1) // PAGE * PAGE
                bits = 4 * ("r" in flags) + 2 * ("w" in flags) + ("x" in flags)
                headers.append(struct.pack("<IIQQQQQQ", 1, bits, at, start, 0, len(data), end - start, PAGE))
                for place in range(0, len(data), PAGE):
                    if data[place:place + PAGE].strip(b"\0"):
                        core.seek(at + place)
                        core.write(data[place:place + PAGE])
                at += len(data)
            core.truncate(at)
            core.seek(0)
            ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
            core.write(ident + struct.pack("<HHIQQQIHHHHHH", 4, EM_AARCH64, 1, 0, 64, 0, 0, 64, 56, count, 0, 0, 0))
            core.write(b"".join(headers) + notes)

    def close(self):
        """Ends it."""
        self.socket.close()
        self.process.kill()
        self.process.communicate()


def unescaped(packet):
    """A packet's bytes: '}' says that the next one is changed."""
    parts = packet.split(b"}")
    return parts[0] + b"".join(bytes([part[0] ^ 0x20]) + part[1:] for part in parts[1:] if part)


def note(kind, data):
    """One note of a core."""
    return struct.pack("<III", 5, len(data), kind) + b"CORE\0\0\0\0" + data + bytes(-len(data) % 4)


def prpsinfo(pid):
    """elf_prpsinfo."""
    return struct.pack("<4BQII4i16s80s", 0, ord("S"), 0, 0, 0, os.getuid(), os.getgid(), pid, 1, pid, pid, b"program",
                       b"program").ljust(136, b"\0")


def checked(check, program, folder):
    """What check-words says of a program's calls, each seen in a core file of its own."""
    core = pathlib.Path(folder) / "core"
    with subprocess.Popen([check, "--cores"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as checking:
        process = Emulated(program, folder)
        said = []
        try:
            process.resume()
            for line in process.lines():
                process.stop()
                process.core(core)
                checking.stdin.write(f"{core}\t{line}\n")
                checking.stdin.flush()
                said += iter(checking.stdout.readline, "seen\n")
                process.process.stdin.write(b"\n")
                process.process.stdin.flush()
                process.resume()
        finally:
            process.close()
        said += checking.communicate()[0].splitlines(keepends=True)
    return "".join(said)
