/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions and which frames of a stack are MPI's, and how the user's are called. */
#include <stdio.h>
#include <string.h>

#include "rank/rank.h"
#include "suite.h"

static void mpi_functions_are_told(void)
{
    static const struct {
        const char *symbol;
        const char *name;
    } rows[] = {{"MPI_Recv", "MPI_Recv"},
                {"PMPI_Recv", "MPI_Recv"},
                {"mpi_recv_", "MPI_Recv"},
                {"mpi_recv__", "MPI_Recv"},
                {"mpi_recv", "MPI_Recv"},
                {"MPI_RECV", "MPI_Recv"},
                {"PMPI_RECV_", "MPI_Recv"},
                {"pmpi_recv_", "MPI_Recv"},
                {"ompi_recv_f", "MPI_Recv"},
                {"mpi_recv_f08_", "MPI_Recv"},
                {"pmpi_recv_f08_", "MPI_Recv"},
                {"ompi_comm_create_group_f", "MPI_Comm_create_group"},
                {"mpi_type_create_f90_real_", "MPI_Type_create_f90_real"},
                {"MPI_Win_lock_all", "MPI_Win_lock_all"},
                {"MPIX_Comm_agree", "MPIX_Comm_agree"},
                {"PMPIX_Comm_shrink", "MPIX_Comm_shrink"},
                {"mpix_comm_agree_", "MPIX_Comm_agree"},
                {"mpix_comm_agree_f08", "MPIX_Comm_agree"},
                {"pmpix_comm_agree_", "MPIX_Comm_agree"},
                {"ompix_comm_iagree_f", "MPIX_Comm_iagree"},
                {"MPI_Comm_agree", NULL},
                {"MPIX_Exchange", NULL},
                {"MPIX_Recv", NULL},
                {"MPIX_comm_agree", "MPIX_Comm_agree"},
                {"MPI_MPIX_Comm_agree", NULL},
                {"mpi_mpix_comm_agree_", NULL},
                {"MPIX_", NULL},
                {"ompi_recv_", NULL},
                {"ompi_request_wait_completion", NULL},
                {"ompi_coll_base_bcast_intra_basic_linear", NULL},
                {"mpi_exchange", NULL},
                {"mpi_work_", NULL},
                {"MPI_Exchange", NULL},
                {"MPI_recv", "MPI_Recv"}, /* Fortran's: C's are spelt right or are none */
                {"setup_mpi_init", NULL},
                {"mpi_", NULL},
                {"MPI_", NULL},
                {"MPIR_Breakpoint", NULL},
                {"main", NULL},
                {"", NULL},
                {NULL, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[48] = "";
        bool is_one = mpiq_mpi_function(rows[i].symbol, name, sizeof name);
        CU_ASSERT_EQUAL(is_one, rows[i].name != NULL);
        if (rows[i].name)
            CU_ASSERT_STRING_EQUAL(name, rows[i].name);
        if (is_one != (rows[i].name != NULL) || (is_one && strcmp(name, rows[i].name) != 0))
            printf("\n%s: %s\n", rows[i].symbol, name);
    }
    char small[8];
    CU_ASSERT_FALSE(mpiq_mpi_function("MPI_Recv", small, sizeof small));
}

/* Innermost first. */
static void mpi_frames_are_told_by_name_and_object(void)
{
    static const struct {
        struct mpiq_frame frames[3];
        const char *expected; /* of the last one; NULL: it is the user's */
    } rows[] = {
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "PMPI_Recv", .object = "/usr/lib/libmpi.so.40"},
          {.function = "MPI_Recv", .object = "/home/me/a.out"}},
         "MPI_Recv"},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "MPI_Recv", .object = "/usr/lib/libmpich.so.12"},
          {.function = "mpi_recv_", .object = "/usr/lib/libmpichfort.so.12"}},
         "MPI_Recv"},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "MPI_Recv", .object = "/usr/lib/libmpi.so.40"},
          {.function = "mpi_exchange", .object = "/home/me/a.out"}},
         NULL},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "work", .object = "/home/me/a.out"},
          {.function = "mpi_wait", .object = "/home/me/a.out"}},
         NULL},
        {{{.function = "MPIDI_Progress", .object = "/home/me/a.out"},
          {.function = "PMPI_Wait", .object = "/home/me/a.out"},
          {.function = "mpi_wait_", .object = "/home/me/a.out"}},
         "MPI_Wait"},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "work", .object = "/home/me/a.out"},
          {.function = "mpi_recv_", .object = "/home/me/libsolver.so"}},
         NULL},
        /* A function of the user's that is called like one of MPI's, and calls another. */
        {{{.function = "MPIDI_Progress", .object = "/home/me/a.out"},
          {.function = "PMPI_Recv", .object = "/home/me/a.out"},
          {.function = "mpi_test", .object = "/home/me/a.out"}},
         NULL},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "work", .object = "/home/me/a.out"},
          {.function = "solver_mpi_finalize", .object = "/home/me/libsolver_mpi.so"}},
         NULL},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "work", .object = "/home/me/a.out"},
          {.function = "mpi_recv_", .object = "/home/me/libsolver_mpi.so"}},
         NULL},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "PMIx_Fence", .object = "/usr/lib/libpmix.so.2"},
          {.function = "ompi_mpi_finalize", .object = "/usr/lib/libmpi.so.40"}},
         "MPI_Finalize"},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "opal_progress", .object = "/usr/lib/libopen-pal.so.40"},
          {.function = "mca_pml_base_bsend_detach", .object = "/usr/lib/libmpi.so.40"}},
         "MPI_Buffer_detach"},
        {{{.function = "poll", .object = "/lib/libc.so.6"},
          {.function = "work", .object = "/home/me/a.out"},
          {.function = "ompi_mpi_finalize", .object = "/home/me/libsolver_mpi.so"}},
         NULL},
    };
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    snprintf(state->executable, sizeof state->executable, "/home/me/a.out");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[48] = "";
        bool is_one = mpiq_mpi_frame(state, rows[i].frames, 2, name, sizeof name);
        CU_ASSERT_EQUAL(is_one, rows[i].expected != NULL);
        if (rows[i].expected)
            CU_ASSERT_STRING_EQUAL(name, rows[i].expected);
    }
    mpiq_rank_state_destroy(state);
}

static void user_names_lose_their_mangling(void)
{
    char buffer[64];
    CU_ASSERT_STRING_EQUAL(mpiq_user_name("__solver_MOD_step", buffer, sizeof buffer), "solver::step");
    CU_ASSERT_STRING_EQUAL(mpiq_user_name("MAIN__", buffer, sizeof buffer), "main program");
    CU_ASSERT_STRING_EQUAL(mpiq_user_name("__init", buffer, sizeof buffer), "__init");
}

/* MPICH's Fortran layer has each function by all of these names, of which a debugger takes any. */
static void calls_of_fortran_are_told(void)
{
    static const char *const c[] = {"MPI_Recv", "PMPI_Recv", "MPIX_Comm_agree"}, *const fortran[] = {
                                                                                     "MPI_RECV", "PMPI_RECV",
                                                                                     "mpi_recv", "pmpi_recv_",
                                                                                     "mpi_recv_f08_"};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        CU_ASSERT_TRUE(mpiq_is_c_call(c[i]));
    for (size_t i = 0; i < sizeof fortran / sizeof *fortran; i++)
        CU_ASSERT_FALSE(mpiq_is_c_call(fortran[i]));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"MPI functions are recognised", mpi_functions_are_told},
        {"MPI frames are recognised by name and object", mpi_frames_are_told_by_name_and_object},
        {"user names lose their mangling", user_names_lose_their_mangling},
        {"calls of Fortran are told from C's", calls_of_fortran_are_told},
        CU_TEST_INFO_NULL,
    };
    return suite_run("MPI function", tests);
}
