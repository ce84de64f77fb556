/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpiq.h"
#include "options.h"
#include "say.h"

/* Whether a list of words separated by any of `between` has one. */
static bool lists(const char *list, const char *word, const char *between)
{
    size_t length = strlen(word);
    for (const char *at = list; at && *at; at += strspn(at, between)) {
        size_t end = strcspn(at, between);
        if (end == length && strncmp(at, word, length) == 0)
            return true;
        at += end;
    }
    return false;
}

/* VARIABLE=word + between + what it was. */
static bool put_first(const char *variable, const char *word, const char *between)
{
    const char *old = getenv(variable);
    char *value = NULL;
    if (old && lists(old, word, between))
        return true;
    if (asprintf(&value, "%s%.1s%s", word, old && *old ? between : "", old ? old : "") < 0)
        return false;
    int failed = setenv(variable, value, 1);
    free(value);
    return !failed;
}

bool record_preload(void)
{
    char *path = NULL;
    struct mpiq_error *error = mpiq_recorder_path(&path);
    if (error) {
        say_error(error);
        return false;
    }
    bool good =
        put_first("LD_PRELOAD", path, ": ") && put_first("OMPI_MCA_mca_base_env_list", "LD_PRELOAD", ";");
    free(path);
    if (!good)
        fprintf(stderr, "mpiq: out of memory\n");
    return good;
}

int record(int argc, char **argv)
{
    int first = argc > 2 && strcmp(argv[2], "--") == 0 ? 3 : 2;
    if (first >= argc || (first == 2 && argv[2][0] == '-')) {
        fprintf(stderr, "mpiq: record needs a program: mpirun -n 4 mpiq record -- ./solver "
                        "(mpiq --help shows the usage)\n");
        return EXIT_USAGE;
    }
    if (!record_preload())
        return EXIT_NOTHING_READ;
    execvp(argv[first], &argv[first]);
    fprintf(stderr, "mpiq: cannot start %s: %s\n", argv[first], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
