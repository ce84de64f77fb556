# SPDX-License-Identifier: BSD-3-Clause
"""Writes C programs whose functions call given() with arguments of all kinds: constants, variables, expressions,
parameters, fields and elements, behind branches, loops, switches and wrappers.  The same seed gives the same text."""
import random

# The parameters of given(): their types.
TYPES = ["void *", "int", "long", "int", "int", "void *", "int", "long", "int", "int", "long", "void *"]

HEAD = """/* generated */
#include <stdlib.h>
struct box { int first; long second; int items[4]; void *link; };
int given(void *a, int b, long c, int d, int e, void *f, int g, long h, int i, int j, long k, void *l);
int number = 3, many[8] = {2, 3, 5, 7, 11, 13, 17, 19};
long wide = 1L << 40;
struct box box = {4, 9, {1, 2, 3, 4}, &number}, other = {5, 10, {6, 7, 8, 9}, many};
char buffer[64];
volatile int zero;
"""


class Function:
    """One function with calls of given() in it."""

    def __init__(self, rng, index, callees):
        self.rng, self.index, self.callees = rng, index, callees
        self.loops = 0

    def integer(self, depth=2):
        r = self.rng
        plain = [str(r.randint(-5, 5000)), "p", "q", "x", "y", "number", "many[%d]" % r.randint(0, 7), "box.first",
                 "b->first", "b->items[%d]" % r.randint(0, 3), "i", "many[i & 7]"]
        if depth == 0 or r.random() < 0.6:
            return r.choice(plain)
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return r.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} % (1 + ({b} & 15)))",
                         f"({a} ? {a} : {b})", f"(({a} + 1) % 8)", f"({a} << 2)", f"({a} ^ {b})", f"-{a}".replace("--", "-")])

    def long(self):
        return self.rng.choice(["wide", "b->second", "z", "0x44000000L", "(long)%s" % self.integer(1), "box.second",
                                "(z + 1)"])

    def pointer(self):
        return self.rng.choice(["buffer", "&box", "b", "&x", "&y", "b->link", "buffer + (i & 3)", "(void *)0", "own",
                                "&own[1]", "(void *)1", "&number", "&many[3]"])

    def call(self):
        kinds = {"void *": self.pointer, "int": self.integer, "long": self.long}
        return "    done += given(%s);" % ", ".join(kinds[kind]() for kind in TYPES)

    def replaced(self):
        """A call with what memory held before it was overwritten, by vector registers where there are any."""
        given = {"void *": "link", "int": "first", "long": "second"}
        arguments = ", ".join("old." + given[kind] if kind != "int" else f"old.{self.rng.choice(['first', 'items[1]'])}"
                              for kind in TYPES)
        return ["    {", "    struct box old = *b;", f"    *b = {self.rng.choice(['other', 'box'])};",
                f"    done += given({arguments});", "    *b = old;", "    }"]

    def statement(self, depth):
        r = self.rng
        kind = r.choice(["call", "call", "set", "if", "loop", "switch", "other", "early", "replaced"] if depth else
                        ["call", "call", "set", "other", "replaced"])
        if kind == "replaced":
            return self.replaced()
        if kind == "call":
            return [self.call()]
        if kind == "set":
            return [f"    {r.choice(['x', 'y', 'number', 'b->first', 'own[2]'])} = {self.integer()};"]
        if kind == "other" and self.callees:
            return [f"    done += f{r.choice(self.callees)}({self.integer(1)}, {self.integer(1)}, b, z);"]
        if kind == "other":
            return ["    x += rand() & 3;"]
        if kind == "early":
            return [f"    if (zero && {self.integer(1)} > 3)", "        return done;"]
        inner = [line for _ in range(r.randint(1, 3)) for line in self.statement(depth - 1)]
        if kind == "if":
            other = [line for _ in range(r.randint(1, 2)) for line in self.statement(depth - 1)]
            return [f"    if ({self.integer(1)} > {self.integer(1)}) {{", *inner, "    } else {", *other, "    }"]
        if kind == "loop":
            # Each loop has a counter of its own, so that it ends.
            self.loops += 1
            return [f"    for (int n{self.loops} = 0; n{self.loops} < {r.randint(1, 3)}; n{self.loops}++) {{",
                    f"    i = n{self.loops};", *inner, "    }"]
        # Compilers make a table of some, comparisons of others.
        cases, count = [], r.choice([3, 5, 7, 20])
        for number in range(count):
            cases += [f"    case {number}:", *self.statement(0)] + ([] if r.random() < 0.3 else ["        break;"])
        return [f"    switch ({self.integer(1)} & {31 if count > 7 else 7}) {{", *cases, "    default:", *self.statement(0), "    }"]

    def text(self):
        body = [line for _ in range(self.rng.randint(2, 5)) for line in self.statement(2)] + [self.call()]
        static = self.rng.choice(["", "static ", "static __attribute__((noinline)) "])
        return "\n".join([f"{static}int f{self.index}(int p, int q, struct box *b, long z)", "{",
                          "    int x = p + 1, y = q, i = 1, done = 0, own[4] = {p, q, 3, 4};", *body,
                          "    return done + x + y + own[2];", "}", ""])


def program(seed, functions=12):
    """A whole program."""
    rng = random.Random(seed)
    parts = [HEAD]
    for index in range(functions):
        parts.append(Function(rng, index, list(range(max(0, index - 2), index))).text())
    calls = "\n".join(f"    done += f{index}({rng.randint(0, 9)}, {rng.randint(0, 9)}, &box, {rng.randint(0, 1 << 36)}L);"
                      for index in range(functions))
    parts.append(f"int main(void)\n{{\n    int done = 0;\n{calls}\n    return done == 42;\n}}\n")
    return "\n".join(parts)
