#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""gdb_variables.py SOURCE: fails if gdb's plug-in takes other variables for a rank or a size than lib/names/variables.c."""
import pathlib
import re
import sys


def listed(path, pattern):
    """The quoted words of the one list that the pattern finds."""
    return re.findall(r'"(\w+)"', re.search(pattern, path.read_text(encoding="ascii"), re.S)[1])


def main():
    source, failed = pathlib.Path(sys.argv[1]), False
    for what in ("rank", "size"):
        ours = listed(source / "lib/names/variables.c", rf"\bmpiq_{what}_variables\[\] = {{(.*?)}};")
        gdb = listed(source / "gdb-plugin/mpiq_gdb/world.py", rf"_{what.upper()}_VARIABLES = \((.*?)\)")
        if not ours or ours != gdb:
            print(f"mpiq_{what}_variables in lib/names/variables.c has {ours}, _{what.upper()}_VARIABLES in "
                  f"gdb-plugin/mpiq_gdb/world.py has {gdb}: write the same names there, in the same order")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
