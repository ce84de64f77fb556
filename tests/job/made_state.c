/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_state.h"

#include <CUnit/CUnit.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which job of which test the last one was. */
static const char *test;
static unsigned number;

FILE *made_state_begin(void)
{
    const char *directory = getenv("MPIQ_MADE_STATES");
    CU_pTest current = CU_get_current_test();
    if (!directory || !current)
        return NULL;
    number = test == current->pName ? number + 1 : 1;
    test = current->pName;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.made", directory, program_invocation_short_name);
    FILE *file = fopen(path, "a");
    CU_ASSERT_FATAL(file != NULL);
    fputs("case ", file);
    for (const char *at = test; *at; at++)
        fputc(isalnum((unsigned char)*at) ? *at : '_', file);
    fprintf(file, ":%u made %s.c\n", number, program_invocation_short_name);
    return file;
}

void made_state_add(FILE *file, int look, const struct mpiq_rank_state *state)
{
    char *json = NULL;
    if (!file)
        return;
    struct mpiq_error *error = mpiq_rank_state_to_json(state, &json);
    CU_ASSERT(error == NULL);
    mpiq_error_destroy(error);
    if (json)
        fprintf(file, "%d %s\n", look, json);
    free(json);
}

void made_state_end(FILE *file)
{
    if (file)
        CU_ASSERT_EQUAL(fclose(file), 0);
}
