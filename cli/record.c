/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiq.h"
#include "names/programs.h"
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
    bool good = put_first("LD_PRELOAD", path, ": ");
    free(path);
    if (!good)
        fprintf(stderr, "mpiq: out of memory\n");
    return good;
}

/* What the recorder heeds, as far as it is set. */
static const char *const variables[] = {"LD_PRELOAD", "MPIQ_STRICT", "MPIQ_CHECK", "MPIQ_STEP",
                                        "MPIQ_REMAINS"};
enum { VARIABLES = sizeof variables / sizeof *variables };

static bool is_program(const char *word)
{
    struct stat status;
    return strchr(word, '/') && stat(word, &status) == 0 && S_ISREG(status.st_mode) &&
           access(word, X_OK) == 0;
}

static bool is_variable(const char *word)
{
    size_t length = word ? strcspn(word, "=") : 0;
    return length > 0 && !isdigit((unsigned char)word[0]) &&
           strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") >= length;
}

/* Whether the launcher itself is given -x: what stands behind its program is the program's. */
static bool names_variables(char **program)
{
    for (int i = 1; program[i] && !is_program(program[i]); i++) {
        bool x = strcmp(program[i], "-x") == 0 || strcmp(program[i], "--x") == 0;
        if (x && is_variable(program[i + 1]))
            return true;
    }
    return false;
}

char **record_forward(char **program)
{
    if (!(mpiq_program(program[0]) & MPIQ_PROGRAM_OPEN_MPI))
        return program;
    if (!names_variables(program)) {
        for (size_t i = 0; i < VARIABLES; i++) {
            if (getenv(variables[i]) && !put_first("OMPI_MCA_mca_base_env_list", variables[i], ";"))
                return NULL;
        }
        return program;
    }
    size_t count = 0;
    while (program[count])
        count++;
    char **longer = calloc(count + 1 + 2 * (size_t)VARIABLES, sizeof *longer);
    size_t at = 0;
    if (!longer) {
        fprintf(stderr, "mpiq: out of memory\n");
        return NULL;
    }
    longer[at++] = program[0];
    for (size_t i = 0; i < VARIABLES; i++) {
        if (!getenv(variables[i]))
            continue;
        longer[at++] = (char *)"-x";
        longer[at++] = (char *)variables[i];
    }
    memcpy(&longer[at], &program[1], count * sizeof *longer);
    return longer;
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
