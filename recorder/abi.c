/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi - which MPI ABI the process uses, and its constants.
 *
 * Sources: mpi.h of Open MPI 4.1 and 5.0, of MPICH 3.4 to 4.2 (the ABI that Intel MPI, MVAPICH and Cray MPICH
 * share), and the MPI 5.0 standard, section "Application Binary Interface".
 */
#include <dlfcn.h>
#include <string.h>

#include "recorder.h"

struct abi recorder_abi;

static const struct abi open_mpi = {
    .kind = MPIQ_RECORD_ABI_OPEN_MPI,
    .handle_size = sizeof(void *),
    .any_source = -1,
    .any_tag = -1,
    .proc_null = -2,
    .root = -4,
    .in_place = 1,
    .no_check = 1,
    .no_precede = 2,
    .no_put = 4,
    .no_succeed = 16,
    .lock_exclusive = 1,
    .status_size = 24,
    .source_at = 0,
    .tag_at = 4,
    .cart = 1,
    .graph = 2,
    .dist_graph = 3,
    .truncate = 15,
    .in_status = 18,
    .pending = 19,
};

static const struct abi mpich = {
    .kind = MPIQ_RECORD_ABI_MPICH,
    .handle_size = 4,
    .any_source = -2,
    .any_tag = -1,
    .proc_null = -1,
    .root = -3,
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .request_null = 0x2c000000,
    .message_no_proc = 0x6c000000,
    .win_null = 0x20000000,
    .packed = 0x4c00010f,
    .byte = 0x4c00010d,
    .group_empty = 0x48000000,
    .type_null = 0x0c000000,
    .info_null = 0x1c000000,
    .status_ignore = 1,
    .in_place = (word)-1,
    .no_check = 1024,
    .no_precede = 8192,
    .no_put = 4096,
    .no_succeed = 16384,
    .lock_exclusive = 234,
    .status_size = 20,
    .source_at = 8,
    .tag_at = 12,
    .cart = 2,
    .graph = 1,
    .dist_graph = 3,
    .truncate = 14,
    .in_status = 17,
    .pending = 18,
};

static const struct abi standard = {
    .kind = MPIQ_RECORD_ABI_STANDARD,
    .handle_size = sizeof(void *),
    .any_source = -1,
    .any_tag = -2,
    .proc_null = -3,
    .root = -4,
    .comm_world = 0x101,
    .comm_self = 0x102,
    .comm_null = 0x100,
    .request_null = 0x180,
    .message_no_proc = 0x129,
    .win_null = 0x110,
    .packed = 0x207,
    .byte = 0x247,
    .group_empty = 0x109,
    .type_null = 0x200,
    .info_null = 0x130,
    .in_place = 1,
    .no_check = 1024,
    .no_precede = 2048,
    .no_put = 4096,
    .no_succeed = 16384,
    .lock_exclusive = 301,
    .status_size = 32,
    .source_at = 0,
    .tag_at = 4,
    .cart = 211,
    .graph = 212,
    .dist_graph = 213,
    .truncate = 15,
    .in_status = 19,
    .pending = 18,
};

/* Open MPI's handles are addresses of its objects.  A copy in the program (copy relocation) takes
   precedence. */
static uint64_t address_of(void *object, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address && object)
        address = dlsym(object, name);
    return (uintptr_t)address;
}

bool abi_detect(const void *function)
{
    Dl_info where;
    if (!dladdr(function, &where) || !where.dli_fname)
        return false;
    const char *file = strrchr(where.dli_fname, '/');
    file = file ? file + 1 : where.dli_fname;
    void *object = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    uint64_t world = address_of(object, "ompi_mpi_comm_world");
    if (strstr(file, "mpi_abi")) {
        recorder_abi = standard;
    } else if (world) {
        recorder_abi = open_mpi;
        recorder_abi.comm_world = world;
        recorder_abi.comm_self = address_of(object, "ompi_mpi_comm_self");
        recorder_abi.comm_null = address_of(object, "ompi_mpi_comm_null");
        recorder_abi.request_null = address_of(object, "ompi_request_null");
        recorder_abi.request_empty = address_of(object, "ompi_request_empty");
        recorder_abi.message_no_proc = address_of(object, "ompi_message_no_proc");
        recorder_abi.win_null = address_of(object, "ompi_mpi_win_null");
        recorder_abi.packed = address_of(object, "ompi_mpi_packed");
        recorder_abi.byte = address_of(object, "ompi_mpi_byte");
        recorder_abi.group_empty = address_of(object, "ompi_mpi_group_empty");
        recorder_abi.type_null = address_of(object, "ompi_mpi_datatype_null");
        recorder_abi.info_null = address_of(object, "ompi_mpi_info_null");
    } else {
        recorder_abi = mpich;
    }
    if (object)
        dlclose(object);
    return true;
}

int64_t abi_status_bytes(const unsigned char *status)
{
    int32_t low;
    int32_t high;
    uint64_t bytes;
    switch (recorder_abi.kind) {
    case MPIQ_RECORD_ABI_OPEN_MPI:
        memcpy(&bytes, status + 16, sizeof bytes);
        return (int64_t)bytes;
    case MPIQ_RECORD_ABI_MPICH: /* the lowest bit of the upper half is the cancelled flag */
        memcpy(&low, status, sizeof low);
        memcpy(&high, status + 4, sizeof high);
        return (int64_t)((uint64_t)(uint32_t)high >> 1 << 32 | (uint32_t)low);
    default:
        return -1;
    }
}

uint64_t abi_open_mpi_op(const char *name);

/* "SUM" is the object ompi_mpi_op_sum. */
uint64_t abi_open_mpi_op(const char *name)
{
    char symbol[48] = "ompi_mpi_op_";
    size_t length = strlen(symbol);
    for (; *name && length < sizeof symbol - 1; name++)
        symbol[length++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
    symbol[length] = '\0';
    return address_of(NULL, symbol);
}
