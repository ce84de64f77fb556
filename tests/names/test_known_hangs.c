/* SPDX-License-Identifier: BSD-3-Clause */
/* A known hang is told only of the releases, the function and the way of messages that it is known of. */
#include "names/known_hangs.h"

#include "suite.h"

static const char *fixed_in(const char *library, const char *pml, const char *call)
{
    const struct mpiq_known_hang *hang = mpiq_known_hang_find(library, pml, call);
    return hang ? hang->fixed_in : "";
}

static void told(void)
{
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.1", "ucx", "MPI_Fetch_and_op"), "4.0.2");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.0", "ucx", "MPI_Fetch_and_op"), "4.0.2");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 3.1.4", "ucx", "MPI_Finalize"), "4.0.0");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.4", "ob1", "MPI_File_read_at_all"), "4.0.5");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.4", NULL, "MPI_File_read_at_all"), "4.0.5");
    CU_ASSERT_STRING_EQUAL(fixed_in("MPICH 3.3", NULL, "MPI_Waitany"), "3.3.1");
}

static void not_told(void)
{
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.2", "ucx", "MPI_Fetch_and_op"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.1", "ob1", "MPI_Fetch_and_op"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.1", NULL, "MPI_Fetch_and_op"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 4.0.1", "ucx", "MPI_Fetch"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI 3.9.9", NULL, "MPI_File_read_at_all"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("MPICH 3.3.1", NULL, "MPI_Waitany"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("MPICH", NULL, "MPI_Waitany"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in("Open MPI", "ucx", "MPI_Finalize"), "");
    CU_ASSERT_STRING_EQUAL(fixed_in(NULL, NULL, NULL), "");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"of those releases", told},
        {"of no others", not_told},
        CU_TEST_INFO_NULL,
    };
    return suite_run("known hangs", tests);
}
