#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/lint.sh BUILD [--tidy] [--no-analyze]: formatting and static checks of all that git tracks, and gcc -fanalyzer
# on lib/, mqs/ and cli/ (80 s of processor time, which --no-analyze saves).  --tidy: clang-tidy too, which takes
# four minutes.
set -uo pipefail
build=$1
shift
tidy=false analyze=true
for option in "$@"; do
    case $option in
    --tidy) tidy=true ;;
    --no-analyze) analyze=false ;;
    *) echo "mpiq: lint: there is no option '$option'" >&2 && exit 1 ;;
    esac
done
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 1
failed=0

check() {
    local what=$1
    shift
    printf 'mpiq: lint: %s\n' "$what" >&2
    "$@" || { failed=1; printf 'mpiq: lint: %s failed\n' "$what" >&2; }
}

# The files that git tracks or would, of these patterns.
files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && printf '%s\n' "$f"; done; }

# Those whose first line names that interpreter, whatever their names end in: scripts 'bash|sh'
scripts() {
    files | while read -r f; do
        head -c 64 "$f" | head -n 1 | tr -d '\0' | grep -qE "^#!.*\b($1)\b" && printf '%s\n' "$f"
    done
}

# shellcheck disable=SC2317 # called by name
licence() {
    local bad
    bad=$(files '*.c' '*.h' '*.py' '*.build' '*.sh' '*.f90' | xargs grep -L 'SPDX-License-Identifier: BSD-3-Clause')
    [ -z "$bad" ] || { printf 'no SPDX line: %s\n' "$bad"; return 1; }
}

# Comments and strings ask for no formatter: only what our own folders hold, not the patch's hooks.
mapfile -t c_files < <(files 'lib/*.c' 'lib/*.h' 'cli/*.c' 'cli/*.h' 'mqs/*.c' 'mqs/*.h' 'examples/*.c' 'tests/*.c' 'tests/*.h')
mapfile -t unit_files < <(files 'lib/*.c' 'cli/*.c' 'mqs/*.c')
# Spack's recipes import all of spack.package, as Spack wants it.
mapfile -t python_files < <({ files '*.py'; scripts 'python3?'; } | grep -v '^packaging/spack/' | sort -u)
mapfile -t shell_files < <(scripts '(ba|da)?sh')

check 'SPDX lines' licence
check clang-format clang-format --dry-run -Werror "${c_files[@]}"
check shellcheck shellcheck -x -S warning "${shell_files[@]}"
check pyflakes pyflakes3 "${python_files[@]}"
# It knows no cleanup guards, so leaks are the sanitizers' to find.
check cppcheck cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
    --suppress=memleak --suppress=resourceLeak --suppress=leakReturnValNotUsed --suppress=objectIndex --std=c11 -j 2 -D__linux__ \
    -Iinclude -Ilib "${unit_files[@]}"

# As cppcheck does, on both processors; it is the slowest of all by far.
# shellcheck disable=SC2317 # called by name
tidy() { printf '%s\0' "${unit_files[@]}" | xargs -0 -n 1 -P 2 clang-tidy --quiet -p "$build"; }

# gcc's own analysis, file by file, with the flags that each file is compiled with.  It says of most pointers with a
# cleanup guard, or put into a structure, that they leak: those are the sanitizers' to find.
# shellcheck disable=SC2317 # called by name
analysis() {
    python3 - "$build" <<'END' | xargs -0 -r -n 1 -P 2 sh -c
import json, shlex, sys
count = 0
for entry in json.load(open(sys.argv[1] + "/compile_commands.json", encoding="utf-8")):
    file, words = entry["file"], shlex.split(entry["command"])
    if not file.startswith(("../lib/", "../mqs/", "../cli/")):
        continue
    words = [word for word in words if not word.startswith(("-o", "-M")) and word not in (entry["output"],)]
    first = 2 if words[0].endswith("ccache") else 1 # meson takes it where it is installed
    words = ["gcc"] + [word for word in words[first:] if not word.endswith((".o", ".o.d"))]
    words += ["-fanalyzer", "-DMPIQ_ANALYZER", "-Wno-analyzer-malloc-leak", "-Werror",
              "-Wno-error=format-nonliteral", "-o", "/dev/null"]
    print("cd " + shlex.quote(entry["directory"]) + " && " + shlex.join(words), end="\0")
    count += 1
if count < 200:
    sys.exit("mpiq: lint: only %d files to analyze: build first" % count)
END
}

if $tidy; then check clang-tidy tidy; fi
if $analyze; then check 'gcc -fanalyzer' analysis; fi
exit $failed
