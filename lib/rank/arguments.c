/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/arguments.h"

#include <string.h>

#include "base/memory.h"
#include "names/parameters.h"

/* Constants and handles of an MPI library.  Sources: mpi.h of Open MPI 4.1 and 5.0 and of MPICH 3.4 to 4.2,
   and the MPI 5.0 standard, section "Application Binary Interface". */
struct constants {
    int32_t any_source, any_tag, proc_null;
    uint32_t status_size;
    int handle_size;
};

static const struct constants open_mpi = {-1, -1, -2, 24, 8};
static const struct constants mpich = {-2, -1, -1, 20, 4};
static const struct constants standard = {-1, -2, -3, 32, 8};

/* A predefined handle: by Open MPI's symbol or by its number; 0: it is not told. */
struct handle {
    const char *name;
    const char *symbol;
    uint32_t mpich;
    uint32_t standard;
    uint32_t size; /* of a datatype: bytes */
};

static const struct handle communicators[] = {
    {"MPI_COMM_WORLD", "ompi_mpi_comm_world", 0x44000000, 0x101, 0},
    {"MPI_COMM_SELF", "ompi_mpi_comm_self", 0x44000001, 0x102, 0},
};

static const struct handle datatypes[] = {
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

static const struct handle operations[] = {
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

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The call that is read. */
struct call {
    struct mpiq_target *target;
    struct mpiq_rank_state *state;
    const struct constants *constants;
    const char *parameters;
    bool fortran; /* arguments are references */
    struct mpiq_call_word words[MPIQ_CALL_WORDS];
    size_t count;
};

static const struct constants *constants_of(const struct mpiq_rank_state *state)
{
    const char *slash = strrchr(state->library_file, '/');
    if (strstr(slash ? slash : state->library_file, "mpi_abi"))
        return &standard;
    if (strncmp(state->library, "Open MPI", 8) == 0)
        return &open_mpi;
    return strncmp(state->library, "MPICH", 5) == 0 ? &mpich : NULL;
}

static const struct handle *find_handle(const struct call *call, const struct handle *rows, size_t count,
                                        uint64_t value)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t known = call->constants == &mpich ? rows[i].mpich : rows[i].standard;
        if (call->constants == &open_mpi) {
            struct mpiq_error *error = mpiq_target_find_symbol(call->target, rows[i].symbol, &known);
            known = error ? 0 : known;
            mpiq_error_destroy(error);
        }
        if (known != 0 && known == value)
            return &rows[i];
    }
    return NULL;
}

static const struct handle *handle_of(const struct call *call, char letter, uint64_t value)
{
    if (letter == 'm')
        return find_handle(call, communicators, COUNT(communicators), value);
    if (letter == 'o')
        return find_handle(call, operations, COUNT(operations), value);
    return find_handle(call, datatypes, COUNT(datatypes), value);
}

/* ---- what the callee may have written by now ---------------------------------------------------------- */

static size_t position_of(const struct call *call, char letter)
{
    const char *at = strchr(call->parameters, letter);
    return at ? (size_t)(at - call->parameters) : SIZE_MAX;
}

/* The plain value of an argument, which memory may hold that the callee writes: only where to look for that
   depends on it. */
static bool plain_value(const struct call *call, char letter, uint64_t *ret)
{
    size_t at = position_of(call, letter);
    if (at >= call->count || !call->words[at].known)
        return false;
    *ret = call->words[at].value;
    uint32_t number;
    if (call->fortran) {
        struct mpiq_error *error = mpiq_target_read(call->target, *ret, sizeof number, &number);
        mpiq_error_destroy(error);
        if (error)
            return false;
        *ret = number;
    }
    return true;
}

/* Bytes that a receive buffer has at most; UINT64_MAX: not known. */
static uint64_t extent_of(const struct call *call, char count_letter, char type_letter)
{
    uint64_t count, type;
    if (!plain_value(call, count_letter, &count) || !plain_value(call, type_letter, &type) ||
        (int32_t)count < 0)
        return UINT64_MAX;
    const struct handle *handle = handle_of(call, type_letter, type);
    return handle ? (uint64_t)(uint32_t)count * handle->size : UINT64_MAX;
}

/* How far from its address on the callee may write through a parameter; 0: not at all. */
static uint64_t written_through(const struct call *call, char letter)
{
    switch (letter) {
    case 'B':
        /* Of a collective only where one count and one type say it, and not a share for each member. */
        if (strchr(call->parameters, 'c'))
            return extent_of(call, 'c', 't');
        return strchr(call->parameters, 's') ? extent_of(call, 'R', 'U') : UINT64_MAX;
    case 'S':
        return strchr(call->parameters, 'n') ? UINT64_MAX : call->constants->status_size;
    case 'q':
        return strchr(call->parameters, 'n') ? UINT64_MAX : (uint64_t)call->constants->handle_size;
    case 'p':
        return strchr(call->parameters, 'n') ? UINT64_MAX : 8; /* a handle, an index or a flag */
    default:
        return 0;
    }
}

/* Whether what a word was computed from is still what the caller had there. */
static bool is_unwritten(const struct call *call, const struct mpiq_call_word *word)
{
    for (size_t i = 0; word->origin_count && i < call->count && call->parameters[i]; i++) {
        uint64_t size = written_through(call, call->parameters[i]);
        const struct mpiq_call_word *to = &call->words[i];
        if (size == 0)
            continue;
        if (!to->known || to->narrow)
            return false; /* who knows where it writes */
        for (size_t j = 0; j < word->origin_count; j++) {
            const struct mpiq_word_origin *from = &word->origins[j];
            bool before = from->address + from->size <= to->value;
            bool behind = size != UINT64_MAX && from->address >= to->value + size;
            if (to->value > 4096 && !before && !behind)
                return false;
        }
    }
    return true;
}

/* ---- meaning ------------------------------------------------------------------------------------------- */

/* The value of an argument in so many bytes: what a reference refers to; false: not known. */
static bool value_of(const struct call *call, size_t index, int size, uint64_t *ret)
{
    struct mpiq_call_word word = call->words[index];
    if (!word.known || (word.narrow && (size > 4 || call->fortran)))
        return false;
    if (call->fortran) {
        uint32_t number;
        struct mpiq_error *error = mpiq_target_read(call->target, word.value, sizeof number, &number);
        mpiq_error_destroy(error);
        if (error || word.origin_count == MPIQ_WORD_ORIGINS)
            return false;
        word.origins[word.origin_count++] = (struct mpiq_word_origin){word.value, sizeof number};
        word.value = number;
    }
    if (!is_unwritten(call, &word))
        return false;
    *ret = size == 4 ? (uint64_t)(int64_t)(int32_t)word.value : word.value;
    return true;
}

static enum mpiq_given_kind kind_of(char letter)
{
    static const struct {
        char letter;
        uint8_t kind;
    } rows[] = {{'c', MPIQ_GIVEN_COUNT},    {'C', MPIQ_GIVEN_SENDCOUNT}, {'R', MPIQ_GIVEN_RECVCOUNT},
                {'t', MPIQ_GIVEN_DATATYPE}, {'T', MPIQ_GIVEN_SENDTYPE},  {'U', MPIQ_GIVEN_RECVTYPE},
                {'d', MPIQ_GIVEN_DEST},     {'s', MPIQ_GIVEN_SOURCE},    {'g', MPIQ_GIVEN_TAG},
                {'h', MPIQ_GIVEN_SENDTAG},  {'i', MPIQ_GIVEN_RECVTAG},   {'r', MPIQ_GIVEN_ROOT},
                {'o', MPIQ_GIVEN_OP},       {'m', MPIQ_GIVEN_COMM},      {'k', MPIQ_GIVEN_RANK}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].letter == letter)
            return (enum mpiq_given_kind)rows[i].kind;
    }
    return MPIQ_GIVEN_COUNT_OF_KINDS;
}

static void add(const struct call *call, struct mpiq_thread *thread, size_t index)
{
    char letter = call->parameters[index];
    enum mpiq_given_kind kind = kind_of(letter);
    bool handle = strchr("tTUom", letter) != NULL;
    bool wide = strchr("cCR", letter) && strstr(thread->mpi_call, "_c");
    uint64_t value;
    if (kind == MPIQ_GIVEN_COUNT_OF_KINDS || (call->fortran && handle && call->constants != &mpich) ||
        !value_of(call, index,
                  wide     ? 8
                  : handle ? call->constants->handle_size
                           : 4,
                  &value))
        return;
    if (handle && call->constants->handle_size == 4)
        value = (uint32_t)value;
    const struct constants *constants = call->constants;
    const struct handle *known = handle ? handle_of(call, letter, value) : NULL;
    bool rank = kind == MPIQ_GIVEN_SOURCE || kind == MPIQ_GIVEN_DEST;
    bool tag = kind == MPIQ_GIVEN_TAG || kind == MPIQ_GIVEN_RECVTAG;
    struct mpiq_given *given = mpiq_thread_add_given(thread);
    if (!given)
        return;
    given->kind = (uint8_t)kind;
    given->value = (int64_t)value;
    given->any = (kind == MPIQ_GIVEN_SOURCE && given->value == constants->any_source) ||
                 (tag && given->value == constants->any_tag);
    given->null = rank && given->value == constants->proc_null;
    given->name = known ? mpiq_rank_state_intern(call->state, known->name) : NULL;
}

/* The function of a binding that passes everything by reference: mpi_recv_, mpi_recv_f08_. */
static bool is_fortran(const char *function)
{
    return function && strncmp(function, "MPI", 3) != 0 && strncmp(function, "PMPI", 4) != 0;
}

void mpiq_rank_add_arguments(struct mpiq_target *target, struct mpiq_rank_state *state,
                             const struct mpiq_target_stack *stack, struct mpiq_thread *thread)
{
    if (thread->mpi_frame < 0 || (size_t)thread->mpi_frame >= stack->count)
        return;
    const struct mpiq_target_frame *frame = &stack->frames[thread->mpi_frame];
    struct call call = {
        .target = target,
        .state = state,
        .constants = constants_of(state),
        .parameters = mpiq_names_parameters(thread->mpi_call),
        .fortran = is_fortran(frame->function),
    };
    if (!call.constants || !call.parameters || frame->own < 0)
        return;
    call.count = strlen(call.parameters);
    mpiq_target_call_words(target, stack, (size_t)frame->own, call.count, call.words);
    for (size_t i = 0; i < call.count; i++)
        add(&call, thread, i);
}

bool mpiq_rank_tells_arguments(const struct mpiq_rank_state *state)
{
    return constants_of(state) != NULL;
}
