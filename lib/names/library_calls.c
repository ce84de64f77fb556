/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/library_calls.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "names/objects.h"

/* Functions begin with one of these and, but for a lower-case family, a capital. */
static const struct {
    const char *stem;   /* of the object */
    const char *prefix; /* of its public functions */
    enum mpiq_library_call kind;
} libraries[] = {
    {"libcudart", "cuda", MPIQ_LIBRARY_CALL_DEVICE},  {"libcuda", "cu", MPIQ_LIBRARY_CALL_DEVICE},
    {"libamdhip64", "hip", MPIQ_LIBRARY_CALL_DEVICE}, {"libnccl", "nccl", MPIQ_LIBRARY_CALL_DEVICE},
    {"libnccl", "pnccl", MPIQ_LIBRARY_CALL_DEVICE},   {"librccl", "nccl", MPIQ_LIBRARY_CALL_DEVICE},
    {"librccl", "pnccl", MPIQ_LIBRARY_CALL_DEVICE},   {"libucc", "ucc_", MPIQ_LIBRARY_CALL_DEVICE},
    {"libpmix", "PMIx_", MPIQ_LIBRARY_CALL_RUNTIME},  {"libpmi", "PMI_", MPIQ_LIBRARY_CALL_RUNTIME},
    {"libpmi", "PMI2_", MPIQ_LIBRARY_CALL_RUNTIME},   {"libpmi2", "PMI2_", MPIQ_LIBRARY_CALL_RUNTIME},
};

/* Those that wait, in any object: nvcc links the CUDA runtime statically, MPICH has PMI inside. */
static const struct {
    const char *function;
    enum mpiq_library_call kind;
} linked[] = {
    {"cudaDeviceSynchronize", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaEventSynchronize", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaFree", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaFreeHost", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaLaunchKernel", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaMemcpy", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaMemcpy2D", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaMemcpyAsync", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaMemcpyPeer", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaMemset", MPIQ_LIBRARY_CALL_DEVICE},
    {"cudaStreamSynchronize", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclAllGather", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclAllReduce", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclBroadcast", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclCommAbort", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclCommDestroy", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclCommFinalize", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclCommInitRank", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclCommInitRankConfig", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclCommSplit", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclGroupEnd", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclRecv", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclReduce", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclReduceScatter", MPIQ_LIBRARY_CALL_DEVICE},
    {"ncclSend", MPIQ_LIBRARY_CALL_DEVICE},
    {"PMI2_Init", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMI2_KVS_Fence", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMI2_KVS_Get", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMI_Barrier", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMI_Init", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMI_KVS_Get", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Abort", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Commit", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Connect", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Fence", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Fence_nb", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Finalize", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Get", MPIQ_LIBRARY_CALL_RUNTIME},
    {"PMIx_Init", MPIQ_LIBRARY_CALL_RUNTIME},
};

enum mpiq_library_call mpiq_library_call_of(const char *object, const char *function, bool has_line)
{
    char stem[64] = "";
    if (!function)
        return MPIQ_LIBRARY_CALL_NONE;
    if (object)
        mpiq_object_stem(object, stem, sizeof stem);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        size_t length = strlen(libraries[i].prefix);
        bool whole = libraries[i].prefix[length - 1] == '_';
        if (strcmp(stem, libraries[i].stem) == 0 && strncmp(function, libraries[i].prefix, length) == 0 &&
            (whole || isupper((unsigned char)function[length])))
            return libraries[i].kind;
    }
    for (size_t i = 0; !has_line && i < sizeof linked / sizeof *linked; i++) {
        if (strcmp(function, linked[i].function) == 0)
            return linked[i].kind;
    }
    return MPIQ_LIBRARY_CALL_NONE;
}

bool mpiq_takes_back(const char *call, const char *function)
{
    return function && strcmp(call, "MPI_File_open") == 0 &&
           strcmp(function, "mca_common_ompio_file_close") == 0;
}
