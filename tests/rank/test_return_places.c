/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a call whose return address is known: the user's, never a tool's. */
#include "rank/return_places.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

struct row {
    uint64_t address;
    const char *function;
    const char *file;
    int line;
    const char *object;
    bool inlined;
};

/* Frames of one address, innermost first. */
static const struct row rows[] = {
    {1, "exchange", "solver.c", 71, "/home/me/a.out", false},
    {2, "MPI_Iallreduce", "tool.c", 9, "/opt/lib/libtool.so", false},
    {3, "MPI_Iallreduce", "solver.c", 12, "/home/me/a.out", false},
    {4, "MPI_Iallreduce", "wrap.h", 5, "/home/me/a.out", true},
    {4, "exchange", "solver.c", 73, "/home/me/a.out", false},
    {5, "mpi_iallreduce_", "ftool.f90", 4, "/opt/lib/libtool.so", false},
    {6, "mpi_exchange", "solver.c", 80, "/home/me/a.out", false},
    {7, NULL, NULL, 0, "/usr/lib/libmpi_usempif08.so.40", false},
};

static struct mpiq_error *place(struct mpiq_target *target, uint64_t address, struct mpiq_target_stack *ret)
{
    (void)target;
    ret->frames = calloc(sizeof rows / sizeof *rows, sizeof *ret->frames);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].address == address)
            ret->frames[ret->count++] =
                (struct mpiq_target_frame){.function = rows[i].function ? strdup(rows[i].function) : NULL,
                                           .file = rows[i].file ? strdup(rows[i].file) : NULL,
                                           .line = rows[i].line,
                                           .object = strdup(rows[i].object),
                                           .inlined = rows[i].inlined};
    }
    return NULL;
}

static struct mpiq_place place_of(uint64_t address, struct mpiq_rank_state **ret)
{
    static const struct mpiq_target_ops ops = {.place = place};
    struct mpiq_target target = {.ops = &ops};
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    snprintf(state->executable, sizeof state->executable, "%s", "/home/me/a.out");
    struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
    comm->made_caller = address;
    struct mpiq_rank_objects objects;
    mpiq_rank_objects_init(&objects, &target);
    mpiq_rank_add_return_places(&target, &objects, state);
    mpiq_rank_objects_deinit(&objects);
    *ret = state;
    return comm->made;
}

static void expect(uint64_t address, const char *function, int line)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_place found = place_of(address, &state);
    if (function) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(found.function);
        CU_ASSERT_STRING_EQUAL(found.function, function);
        CU_ASSERT_STRING_EQUAL(found.file, "solver.c");
    } else {
        CU_ASSERT_PTR_NULL(found.function);
        CU_ASSERT_PTR_NULL(found.file);
    }
    CU_ASSERT_EQUAL(found.line, line);
    mpiq_rank_state_destroy(state);
}

static void the_users_line_is_the_place(void)
{
    expect(1, "exchange", 71);
    expect(6, "mpi_exchange", 80);
}

static void a_tool_is_no_place(void)
{
    expect(2, NULL, 0);
    expect(3, NULL, 0);
    expect(5, NULL, 0);
}

static void an_inlined_wrapper_is_walked_through(void)
{
    expect(4, "exchange", 73);
}

static void the_fortran_layer_is_no_place(void)
{
    expect(7, NULL, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a call's place is the user's line", the_users_line_is_the_place},
        {"a tool's wrapper has no place", a_tool_is_no_place},
        {"an inlined wrapper is walked through", an_inlined_wrapper_is_walked_through},
        {"the Fortran layer has no place", the_fortran_layer_is_no_place},
        CU_TEST_INFO_NULL,
    };
    return suite_run("return places", tests);
}
