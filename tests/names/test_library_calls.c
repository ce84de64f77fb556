/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU's call is told by its library and name; a function of the user's that looks like one is not. */
#include "names/library_calls.h"

#include "suite.h"

static void libraries_own(void)
{
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libcudart.so.12", "cudaStreamWaitEvent", false),
                    MPIQ_LIBRARY_CALL_DEVICE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libcuda.so.1", "cuCtxSynchronize", false),
                    MPIQ_LIBRARY_CALL_DEVICE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/opt/rocm/lib/libamdhip64.so.6", "hipDeviceSynchronize", true),
                    MPIQ_LIBRARY_CALL_DEVICE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libnccl.so.2", "pncclAllReduce", false),
                    MPIQ_LIBRARY_CALL_DEVICE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libucc.so.1", "ucc_collective_test", false),
                    MPIQ_LIBRARY_CALL_DEVICE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libpmix.so.2.5", "PMIx_Fence", true),
                    MPIQ_LIBRARY_CALL_RUNTIME);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libpmi2.so.0", "PMI2_KVS_Fence", false),
                    MPIQ_LIBRARY_CALL_RUNTIME);
}

static void linked_into_others(void)
{
    CU_ASSERT_EQUAL(mpiq_library_call_of("/home/me/a.out", "cudaStreamSynchronize", false),
                    MPIQ_LIBRARY_CALL_DEVICE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libmpich.so.12", "PMI_Barrier", false),
                    MPIQ_LIBRARY_CALL_RUNTIME);
    CU_ASSERT_EQUAL(mpiq_library_call_of(NULL, "ncclAllReduce", false), MPIQ_LIBRARY_CALL_DEVICE);
}

static void others(void)
{
    /* the user's own: it has a line, or is none that waits */
    CU_ASSERT_EQUAL(mpiq_library_call_of("/home/me/a.out", "cudaMemcpy", true), MPIQ_LIBRARY_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/home/me/a.out", "cudaSolve", false), MPIQ_LIBRARY_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/home/me/a.out", "hipster", false), MPIQ_LIBRARY_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libcuda.so.1", "cut", false), MPIQ_LIBRARY_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libcudart.so.12", NULL, false), MPIQ_LIBRARY_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("/usr/lib/libcudartfoo.so", "cudaSomething", false),
                    MPIQ_LIBRARY_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_library_call_of("", "", false), MPIQ_LIBRARY_CALL_NONE);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a library's own functions", libraries_own},
        {"functions linked into other objects", linked_into_others},
        {"functions of others", others},
        CU_TEST_INFO_NULL,
    };
    return suite_run("library calls", tests);
}
