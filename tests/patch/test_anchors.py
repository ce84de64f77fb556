# SPDX-License-Identifier: BSD-3-Clause
"""Hooks find their place in releases that they were not made for, and nowhere else (ompi-patch/anchors.py)."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "ompi-patch"))
import anchors  # noqa: E402

FILE = """\
#include "config.h"
#include "one.h"
#ifdef HAVE_LATER_H
#include <later.h>
#endif

int begin(int a)
{
    int rc = 0;

    rc = wait_for(a);
    return rc;
}

int end(int a)
{
    int rc = 0;

    rc = wait_for(a);
    return rc;
}
"""


def hunks(text):
    ((_, found),) = anchors.hunks_of("--- a/file.c\n+++ b/file.c\n" + text)
    return found


INCLUDE = '@@ -1,3 +1,4 @@\n #include "config.h"\n #include "one.h"\n+#include "ompi/mqs/wait.h"\n #ifdef HAVE_LATER_H\n'
CALL = """\
@@ -17,5 +18,6 @@ int end(int a)
     int rc = 0;
 
+    say(a);
     rc = wait_for(a);
     return rc;
 }
"""


def test_a_hook_goes_where_it_was_made_for():
    made, moved = anchors.apply(FILE, hunks(INCLUDE + CALL))
    assert moved == []
    assert made == FILE.replace('one.h"\n', 'one.h"\n#include "ompi/mqs/wait.h"\n').replace(
        "int end(int a)\n{\n    int rc = 0;\n\n", "int end(int a)\n{\n    int rc = 0;\n\n    say(a);\n")


def test_lines_that_moved_and_came_refuse_nothing():
    changed = FILE.replace("#include", "/* more */\n#include", 1).replace('one.h"', 'two.h"')
    changed = changed.replace("int end(int a)\n{\n    int rc = 0;\n", "int end(int a)\n{\n    int rc = 0, more = 1;\n")
    made, moved = anchors.apply(changed, hunks(INCLUDE + CALL))
    assert moved == [1, 2]
    assert made.count("say(a);") == 1 and "more = 1;\n\n    say(a);\n    rc = wait_for(a);" in made
    assert '#include "ompi/mqs/wait.h"' in made.partition("#ifdef")[0]


def test_an_include_stands_in_no_if_block():
    made, _ = anchors.apply(FILE, hunks('@@ -1,2 +1,3 @@\n #include "gone.h"\n+#include "ompi/mqs/wait.h"\n\n'))
    assert made.startswith('#include "config.h"\n#include "one.h"\n#include "ompi/mqs/wait.h"\n')


@pytest.mark.parametrize("hunk", [
    "@@ -40,3 +40,4 @@ int middle(int a)\n gone;\n+    say(a);\n     rc = wait_for(a);\n",
    "@@ -17,3 +17,4 @@ int end(int a)\n gone;\n \n+    say(a);\n }\n",
    "@@ -17,2 +17,2 @@ int end(int a)\n-    rc = wait_long(a);\n+    rc = say(a);\n"])
def test_what_a_hook_needs_is_never_guessed(hunk):
    """In two functions and named by none; a brace alone; a call that is not there."""
    with pytest.raises(anchors.Misplaced):
        anchors.apply(FILE, hunks(hunk))


def test_any_arguments_stay_what_they_were():
    made, _ = anchors.apply(FILE, hunks("@@ -17,1 +17,4 @@ int end(int a)\n-    rc = wait_…(…);\n+    {\n"
                                        "+        rc = wait_…(…);\n+    }\n"))
    assert made.count("    {\n        rc = wait_for(a);\n    }\n") == 1
    assert made.index("        rc =") > made.index("int end")


def test_the_first_alternative_that_fits_is_taken():
    first = "@@ -17,1 +17,1 @@ int end(int a)\n-    rc = wait_long(a);\n+    rc = first(a);\n"
    other = "@@ -17,1 +17,1 @@ | or int end(int a)\n-    rc = wait_for(a);\n+    rc = other(a);\n"
    assert "other(a)" in anchors.apply(FILE, hunks(first + other))[0]
    both = anchors.apply(FILE, hunks(first.replace("long", "for") + other))[0]
    assert "first(a)" in both and "other(a)" not in both
