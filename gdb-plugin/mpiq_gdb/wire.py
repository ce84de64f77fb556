# SPDX-License-Identifier: BSD-3-Clause
"""The server's side of the wire (docs/WIRE.md): lines in, lines out, one inferior behind them."""

import json
import os
import re

import gdb

from .process import Failure

VERSION = 1
MAX_LINE = 16 << 20
_READ_PIECE = 1 << 16
# As long as so much waits to be written, no more is read: the client shall take its answers first.
_MAX_UNSENT = 4 << 20

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_.$@]*\Z")
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*\Z")
_MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class ProtocolError(Exception):
    """The other side does not speak the wire; the text is a sentence."""


def _number(word):
    try:
        value = int(word, 16 if word[:2].lower() == "0x" else 10)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise Failure("usage", "%r is not a number" % word)
    return value


def _name(pattern, text, what):
    """text is handed to gdb's expression parser: it must be a name and nothing more."""
    if pattern.match(text) is None:
        raise Failure("usage", "%r is not the name of a %s" % (text, what))
    return text


def _words(rest, count):
    words = rest.split(" ") if rest else []
    if len(words) != count:
        raise Failure("usage", "expected %d words, not %r" % (count, rest))
    return words


class Server:
    """Answers requests about one process."""

    def __init__(self, process):
        self.process = process
        self.ended = False

    def reply(self, line):
        """The reply to a request, both without their line ends."""
        request, _, rest = line.partition(" ")
        handler = getattr(self, "_do_" + request, None) if request.isalpha() else None
        try:
            if handler is None:
                raise Failure("unsupported", "gdb's side of the wire does not know the request %r" % request)
            answer = handler(rest)
        except Failure as failure:
            return "err %s %s" % (failure.code, _one_line(failure))
        except gdb.error as error:
            gone = "No such process" in str(error) or "couldn't get registers" in str(error).lower()
            return "err %s gdb says: %s" % ("gone" if gone else "io", _one_line(error))
        except OSError as error: # /proc changes while it is read
            gone = isinstance(error, (FileNotFoundError, ProcessLookupError))
            return "err %s %s" % ("gone" if gone else "io", _one_line(error))
        return "ok " + answer if answer else "ok"

    def _do_hello(self, rest):
        if _number(*_words(rest, 1)) != VERSION:
            raise Failure("unsupported", "gdb's side of the wire speaks version %d" % VERSION)
        return "%d %d" % (VERSION, self.process.direct)

    def _do_read(self, rest):
        address, size = _words(rest, 2)
        return self.process.read(_number(address), _number(size)).hex()

    def _do_symbol(self, rest):
        return "0x%x" % self.process.symbol(_name(_SYMBOL, rest, "symbol"))

    def _do_type(self, rest):
        return "%d %d" % self.process.type(_name(_TYPE, rest, "type"))

    def _do_field(self, rest):
        number, member = _words(rest, 2)
        return str(self.process.field(_number(number), _name(_MEMBER, member, "member")))

    def _do_sizes(self, rest):
        return " ".join(map(str, self.process.sizes()))

    def _do_status(self, rest):
        return json.dumps(self.process.status())

    def _do_threads(self, rest):
        return json.dumps(self.process.threads())

    def _do_stack(self, rest):
        return json.dumps(self.process.stack(_number(*_words(rest, 1))))

    def _do_place(self, rest):
        return json.dumps(self.process.place(_number(*_words(rest, 1))))

    def _do_environment(self, rest):
        return json.dumps(self.process.environment(_name(_VARIABLE, rest, "variable")))

    def _do_forget(self, rest):
        self.process.forget()

    def _do_end(self, rest):
        self.ended = True


def _one_line(error):
    return " ".join(str(error).split()) or type(error).__name__


class Connection:
    """A server on two descriptors that do not block; owns and closes them."""

    def __init__(self, server, requests, replies):
        self.server = server
        self.requests = requests
        self.replies = replies
        self._pending = bytearray()
        self._unsent = bytearray()
        self.closed = False
        for descriptor in (requests, replies):
            os.set_blocking(descriptor, False)

    def wants_to_read(self):
        return not self.closed and not self.server.ended and len(self._unsent) < _MAX_UNSENT

    def wants_to_write(self):
        return not self.closed and bool(self._unsent)

    def close(self):
        if not self.closed:
            self.closed = True
            os.close(self.requests)
            os.close(self.replies)

    def read(self):
        """Takes what has come and answers the lines that are whole."""
        try:
            piece = os.read(self.requests, _READ_PIECE)
        except BlockingIOError:
            return
        if not piece:
            self.close()
            return
        self._pending += piece
        while not self.server.ended:
            line, end, rest = self._pending.partition(b"\n")
            if not end:
                break
            self._pending = rest
            self._answer(line)
        if len(self._pending) > MAX_LINE:
            raise ProtocolError("mpiq sent a line of more than %d bytes" % MAX_LINE)

    def _answer(self, line):
        try:
            text = line.decode("ascii")
        except UnicodeDecodeError:
            text = ""
        if not text.isprintable() or not text:
            raise ProtocolError("mpiq sent something that is not a request: %r" % bytes(line[:60]))
        self._unsent += self.server.reply(text).encode("utf-8", "backslashreplace") + b"\n"

    def write(self):
        """Sends what it can; after `end` and its reply the connection is over."""
        try:
            sent = os.write(self.replies, self._unsent)
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.close()
            return
        del self._unsent[:sent]
        if self.server.ended and not self._unsent:
            self.close()
