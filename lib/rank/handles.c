/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/handles.h"

#include <string.h>

/* Constants and handles of an MPI library.  Sources: mpi.h of Open MPI 4.1 and 5.0 and of MPICH 3.4 to 4.2,
   and the MPI 5.0 standard, section "Application Binary Interface". */
static const struct mpiq_constants open_mpi = {-1, -1, -2, 24, 8};
static const struct mpiq_constants mpich = {-2, -1, -1, 20, 4};
static const struct mpiq_constants standard = {-1, -2, -3, 32, 8};

static const struct mpiq_handle communicators[] = {
    {"MPI_COMM_WORLD", "ompi_mpi_comm_world", 0x44000000, 0x101, 0},
    {"MPI_COMM_SELF", "ompi_mpi_comm_self", 0x44000001, 0x102, 0},
};

static const struct mpiq_handle datatypes[] = {
    {"MPI_CHAR", "ompi_mpi_char", 0x4c000101, 0, 1},
    {"MPI_SIGNED_CHAR", "ompi_mpi_signed_char", 0x4c000118, 0, 1},
    {"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char", 0x4c000102, 0, 1},
    {"MPI_BYTE", "ompi_mpi_byte", 0x4c00010d, 0, 1},
    {"MPI_WCHAR", "ompi_mpi_wchar", 0x4c00040e, 0, 4},
    {"MPI_SHORT", "ompi_mpi_short", 0x4c000203, 0, 2},
    {"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short", 0x4c000204, 0, 2},
    {"MPI_INT", "ompi_mpi_int", 0x4c000405, 0, 4},
    {"MPI_UNSIGNED", "ompi_mpi_unsigned", 0x4c000406, 0, 4},
    {"MPI_LONG", "ompi_mpi_long", 0x4c000807, 0, 8},
    {"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long", 0x4c000808, 0, 8},
    {"MPI_LONG_LONG", "ompi_mpi_long_long_int", 0x4c000809, 0, 8},
    {"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long", 0x4c000819, 0, 8},
    {"MPI_FLOAT", "ompi_mpi_float", 0x4c00040a, 0, 4},
    {"MPI_DOUBLE", "ompi_mpi_double", 0x4c00080b, 0, 8},
    {"MPI_LONG_DOUBLE", "ompi_mpi_long_double", 0x4c00100c, 0, 16},
    {"MPI_PACKED", "ompi_mpi_packed", 0x4c00010f, 0, 1},
    {"MPI_2INT", "ompi_mpi_2int", 0x4c000816, 0, 8},
    {"MPI_C_BOOL", "ompi_mpi_c_bool", 0x4c00013f, 0, 1},
    {"MPI_INT8_T", "ompi_mpi_int8_t", 0x4c000137, 0, 1},
    {"MPI_INT16_T", "ompi_mpi_int16_t", 0x4c000238, 0, 2},
    {"MPI_INT32_T", "ompi_mpi_int32_t", 0x4c000439, 0, 4},
    {"MPI_INT64_T", "ompi_mpi_int64_t", 0x4c00083a, 0, 8},
    {"MPI_UINT8_T", "ompi_mpi_uint8_t", 0x4c00013b, 0, 1},
    {"MPI_UINT16_T", "ompi_mpi_uint16_t", 0x4c00023c, 0, 2},
    {"MPI_UINT32_T", "ompi_mpi_uint32_t", 0x4c00043d, 0, 4},
    {"MPI_UINT64_T", "ompi_mpi_uint64_t", 0x4c00083e, 0, 8},
    {"MPI_AINT", "ompi_mpi_aint", 0x4c000843, 0, 8},
    {"MPI_OFFSET", "ompi_mpi_offset", 0x4c000844, 0, 8},
    {"MPI_C_FLOAT_COMPLEX", "ompi_mpi_c_float_complex", 0x4c000840, 0, 8},
    {"MPI_C_DOUBLE_COMPLEX", "ompi_mpi_c_double_complex", 0x4c001041, 0, 16},
    {"MPI_CHARACTER", "ompi_mpi_character", 0x4c00011a, 0, 1},
    {"MPI_LOGICAL", "ompi_mpi_logical", 0x4c00041d, 0, 4},
    {"MPI_INTEGER", "ompi_mpi_integer", 0x4c00041b, 0, 4},
    {"MPI_INTEGER8", "ompi_mpi_integer8", 0x4c000831, 0, 8},
    {"MPI_REAL", "ompi_mpi_real", 0x4c00041c, 0, 4},
    {"MPI_REAL8", "ompi_mpi_real8", 0x4c000829, 0, 8},
    {"MPI_DOUBLE_PRECISION", "ompi_mpi_dblprec", 0x4c00081f, 0, 8},
    {"MPI_COMPLEX", "ompi_mpi_cplex", 0x4c00081e, 0, 8},
    {"MPI_DOUBLE_COMPLEX", "ompi_mpi_dblcplex", 0x4c001022, 0, 16},
};

static const struct mpiq_handle operations[] = {
    {"MPI_MAX", "ompi_mpi_op_max", 0x58000001, 0x23, 0},
    {"MPI_MIN", "ompi_mpi_op_min", 0x58000002, 0x22, 0},
    {"MPI_SUM", "ompi_mpi_op_sum", 0x58000003, 0x21, 0},
    {"MPI_PROD", "ompi_mpi_op_prod", 0x58000004, 0x24, 0},
    {"MPI_LAND", "ompi_mpi_op_land", 0x58000005, 0x30, 0},
    {"MPI_BAND", "ompi_mpi_op_band", 0x58000006, 0x28, 0},
    {"MPI_LOR", "ompi_mpi_op_lor", 0x58000007, 0x31, 0},
    {"MPI_BOR", "ompi_mpi_op_bor", 0x58000008, 0x29, 0},
    {"MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, 0x32, 0},
    {"MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, 0x2a, 0},
    {"MPI_MINLOC", "ompi_mpi_op_minloc", 0x5800000b, 0x38, 0},
    {"MPI_MAXLOC", "ompi_mpi_op_maxloc", 0x5800000c, 0x39, 0},
    {"MPI_REPLACE", "ompi_mpi_op_replace", 0x5800000d, 0x3c, 0},
    {"MPI_NO_OP", "ompi_mpi_op_no_op", 0x5800000e, 0x3d, 0},
};

static const struct mpiq_handle requests[] = {
    {"MPI_REQUEST_NULL", "ompi_request_null", 0x2c000000, 0x180, 0},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const struct mpiq_constants *mpiq_constants_of(const struct mpiq_rank_state *state)
{
    const char *slash = strrchr(state->library_file, '/');
    if (strstr(slash ? slash : state->library_file, "mpi_abi"))
        return &standard;
    if (strncmp(state->library, "Open MPI", 8) == 0)
        return &open_mpi;
    return strncmp(state->library, "MPICH", 5) == 0 ? &mpich : NULL;
}

bool mpiq_constants_pass_numbers(const struct mpiq_constants *constants)
{
    return constants == &mpich;
}

static const struct mpiq_handle *find(struct mpiq_target *target, const struct mpiq_constants *constants,
                                      const struct mpiq_handle *rows, size_t count, uint64_t value)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t known = constants == &mpich ? rows[i].mpich : rows[i].standard;
        if (constants == &open_mpi) {
            struct mpiq_error *error = mpiq_target_find_symbol(target, rows[i].symbol, &known);
            known = error ? 0 : known;
            mpiq_error_destroy(error);
        }
        if (known != 0 && known == value)
            return &rows[i];
    }
    return NULL;
}

const struct mpiq_handle *mpiq_handle_find(struct mpiq_target *target, const struct mpiq_constants *constants,
                                           char letter, uint64_t value)
{
    switch (letter) {
    case 'm':
        return find(target, constants, communicators, COUNT(communicators), value);
    case 'o':
        return find(target, constants, operations, COUNT(operations), value);
    case 'q':
        return find(target, constants, requests, COUNT(requests), value);
    default:
        return find(target, constants, datatypes, COUNT(datatypes), value);
    }
}
