/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signature - which predefined types data consists of, and how many of each.  Their order is not kept:
 * different signatures mean different types, but equal ones do not prove equal types.
 *
 * A predefined type has a code for its kind and size: MPI_INT matches MPI_INTEGER but not MPI_FLOAT.
 * MPI_BYTE matches only MPI_BYTE, MPI_PACKED matches anything.  A derived type is broken down into its
 * elements.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

enum { CACHED = 512, DEPTH = 16, CONTENTS_MAX = 1 << 20 };

/* Cache of the types seen so far, by handle. */
static struct {
    uint64_t handle;
    int64_t size;
    struct signature one;
} cache[CACHED];
static struct mpiq_record_base *bases;
static int named_combiner;

bool signature_init(void)
{
    bases = arena_allocate(MPIQ_RECORD_MAX_BASES * sizeof *bases);
    mpiq_record_root.bases = arena_offset(bases);
    return bases != NULL;
}

/* All predefined types have the same combiner as MPI_BYTE, which every library has. */
void signature_begin(void)
{
    int counts[3] = {0};
    if (recorder_abi.byte)
        ASK(Type_get_envelope, recorder_abi.byte, (word)&counts[0], (word)&counts[1], (word)&counts[2],
            (word)&named_combiner);
}

/* ---- predefined types -------------------------------------------------------------------------------- */

/* Kinds: signed, unsigned, floating, complex, logical, text, wide text, byte; one for each pair type. */
static const struct {
    const char *name; /* after MPI_ */
    char kind;
} kinds[] = {
    {"CHAR", 't'},
    {"CHARACTER", 't'},
    {"WCHAR", 'w'},
    {"BYTE", 'b'},
    {"SIGNED_CHAR", 's'},
    {"SHORT", 's'},
    {"INT", 's'},
    {"LONG", 's'},
    {"LONG_LONG_INT", 's'},
    {"LONG_LONG", 's'},
    {"INT8_T", 's'},
    {"INT16_T", 's'},
    {"INT32_T", 's'},
    {"INT64_T", 's'},
    {"INTEGER", 's'},
    {"INTEGER1", 's'},
    {"INTEGER2", 's'},
    {"INTEGER4", 's'},
    {"INTEGER8", 's'},
    {"AINT", 's'},
    {"OFFSET", 's'},
    {"COUNT", 's'},
    {"UNSIGNED_CHAR", 'u'},
    {"UNSIGNED_SHORT", 'u'},
    {"UNSIGNED", 'u'},
    {"UNSIGNED_LONG", 'u'},
    {"UNSIGNED_LONG_LONG", 'u'},
    {"UINT8_T", 'u'},
    {"UINT16_T", 'u'},
    {"UINT32_T", 'u'},
    {"UINT64_T", 'u'},
    {"FLOAT", 'f'},
    {"DOUBLE", 'f'},
    {"LONG_DOUBLE", 'f'},
    {"REAL", 'f'},
    {"DOUBLE_PRECISION", 'f'},
    {"REAL4", 'f'},
    {"REAL8", 'f'},
    {"REAL16", 'f'},
    {"COMPLEX", 'c'},
    {"DOUBLE_COMPLEX", 'c'},
    {"C_COMPLEX", 'c'},
    {"C_FLOAT_COMPLEX", 'c'},
    {"C_DOUBLE_COMPLEX", 'c'},
    {"C_LONG_DOUBLE_COMPLEX", 'c'},
    {"CXX_FLOAT_COMPLEX", 'c'},
    {"CXX_DOUBLE_COMPLEX", 'c'},
    {"CXX_LONG_DOUBLE_COMPLEX", 'c'},
    {"COMPLEX8", 'c'},
    {"COMPLEX16", 'c'},
    {"COMPLEX32", 'c'},
    {"LOGICAL", 'l'},
    {"C_BOOL", 'l'},
    {"CXX_BOOL", 'l'},
    {"FLOAT_INT", 'A'},
    {"DOUBLE_INT", 'B'},
    {"LONG_INT", 'C'},
    {"SHORT_INT", 'D'},
    {"2INT", 'E'},
    {"2INTEGER", 'E'},
    {"LONG_DOUBLE_INT", 'F'},
    {"2REAL", 'G'},
    {"2DOUBLE_PRECISION", 'G'},
};

char signature_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && strncmp(name, "MPI_", 4) == 0; i++) {
        if (strcmp(name + 4, kinds[i].name) == 0)
            return kinds[i].kind;
    }
    return 0;
}

/* Index in `bases`; MPIQ_RECORD_BASE_ANY for an unknown type.  The caller must not hold the lock. */
static unsigned base_of(uint64_t handle, int64_t size)
{
    char name[256] = "";
    int length = 0;
    uint32_t code = 0;
    if (ASK(Type_get_name, handle, (word)name, (word)&length) != 0)
        return MPIQ_RECORD_BASE_ANY;
    name[sizeof name - 1] = '\0';
    char kind = signature_kind(name);
    if (kind && size > 0 && size < 256)
        code = (uint32_t)kind << 8 | (uint32_t)size;
    if (!code)
        return MPIQ_RECORD_BASE_ANY;
    arena_lock();
    unsigned base = MPIQ_RECORD_BASE_ANY + 1;
    while (base < MPIQ_RECORD_MAX_BASES && bases[base].code && bases[base].code != code)
        base++;
    if (base == MPIQ_RECORD_MAX_BASES) {
        base = MPIQ_RECORD_BASE_ANY;
    } else if (!bases[base].code) {
        snprintf(bases[base].name, sizeof bases[base].name, "%.39s", name);
        bases[base].code = code;
    }
    arena_unlock();
    return base;
}

/* ---- derived types ----------------------------------------------------------------------------------- */

static const struct signature unknown = {.known = false};

static void add_parts(struct signature *to, const struct signature *from, uint64_t times)
{
    if (!from->known)
        *to = unknown;
    for (unsigned i = 0; to->known && i < from->part_count && times > 0; i++) {
        unsigned at = 0;
        while (at < to->part_count && to->parts[at].base != from->parts[i].base)
            at++;
        if (at == MOST_PARTS) {
            *to = unknown;
            return;
        }
        if (at == to->part_count)
            to->parts[to->part_count++] = (struct part){.base = from->parts[i].base};
        to->parts[at].count += from->parts[i].count * times;
    }
}

static bool analyse(uint64_t handle, unsigned depth, struct signature *ret);

/* Analyses what MPI_Type_get_contents returns, and frees the new handles of derived types. */
static void analyse_contents(uint64_t handle, const int *counts, unsigned depth, struct signature *ret)
{
    int *integers = malloc(((size_t)counts[0] + 1) * sizeof *integers);
    word *addresses = malloc(((size_t)counts[1] + 1) * sizeof *addresses);
    uint64_t *types = calloc((size_t)counts[2] + 1, sizeof *types);
    bool read = integers && addresses && types &&
                ASK(Type_get_contents, handle, (word)counts[0], (word)counts[1], (word)counts[2],
                    (word)integers, (word)addresses, (word)types) == 0;
    ret->known = read && (counts[2] == 1 || (integers[0] == counts[2] && counts[0] > counts[2]));
    for (int i = 0; read && i < counts[2]; i++) {
        struct signature inner;
        uint64_t type = handle_at(types, (size_t)i);
        int64_t size = type_size_now(type);
        bool derived = analyse(type, depth + 1, &inner);
        int64_t own = counts[2] == 1 ? type_size_now(handle) : -1;
        if (counts[2] > 1)
            add_parts(ret, &inner, ret->known && integers[1 + i] > 0 ? (uint64_t)integers[1 + i] : 0);
        else if (size > 0 && own >= 0)
            add_parts(ret, &inner, (uint64_t)(own / size));
        if (derived)
            ASK(Type_free, recorder_abi.handle_size == 4 ? (word)((uint32_t *)types + i) : (word)(types + i));
    }
    free(integers);
    free(addresses);
    free(types);
}

/* Finds a type's signature; true: a derived type. */
static bool analyse(uint64_t handle, unsigned depth, struct signature *ret)
{
    int counts[3] = {0};
    int combiner = -1;
    *ret = unknown;
    if (depth > DEPTH || handle == recorder_abi.packed ||
        ASK(Type_get_envelope, handle, (word)&counts[0], (word)&counts[1], (word)&counts[2],
            (word)&combiner) != 0)
        return false;
    if (combiner == named_combiner) {
        unsigned base = base_of(handle, type_size_now(handle));
        ret->known = base != MPIQ_RECORD_BASE_ANY;
        ret->part_count = ret->known;
        ret->parts[0] = (struct part){.base = base, .count = 1};
        return false;
    }
    bool sane = counts[0] >= 0 && counts[0] < CONTENTS_MAX && counts[1] >= 0 && counts[1] < CONTENTS_MAX &&
                counts[2] > 0 && counts[2] < CONTENTS_MAX;
    if (sane)
        analyse_contents(handle, counts, depth, ret);
    return true;
}

int64_t type_size_now(uint64_t handle)
{
    int size = -1;
    return ASK(Type_size, handle, (word)&size) == 0 ? size : -1;
}

/* Size and signature of one element of that datatype, cached. */
static int64_t lookup(uint64_t handle, struct signature *ret)
{
    size_t slot = mpiq_record_mix(handle) % CACHED;
    arena_lock();
    bool hit = cache[slot].handle == handle && handle != 0;
    *ret = cache[slot].one;
    int64_t size = cache[slot].size;
    arena_unlock();
    if (hit)
        return size;
    size = type_size_now(handle);
    analyse(handle, 0, ret);
    arena_lock();
    cache[slot].handle = handle;
    cache[slot].size = size;
    cache[slot].one = *ret;
    arena_unlock();
    return size;
}

void signature_forget(uint64_t handle)
{
    size_t slot = mpiq_record_mix(handle) % CACHED;
    arena_lock();
    if (cache[slot].handle == handle)
        cache[slot].handle = 0;
    arena_unlock();
}

/* Signature of `count` elements, or of `bytes` if not negative, of a type given one element's size and
   signature. */
static void multiply(const struct signature *one, int64_t size, int64_t count, int64_t bytes,
                     struct signature *ret)
{
    *ret = unknown;
    if (!one->known || size <= 0 || (bytes < 0 && count < 0))
        return;
    int64_t total = bytes >= 0 ? bytes : count * size;
    if (total % size == 0) {
        ret->known = true;
        add_parts(ret, one, (uint64_t)(total / size));
    } else if (one->part_count == 1 && total % (size / (int64_t)one->parts[0].count) == 0) {
        ret->known = true;
        ret->part_count = 1;
        ret->parts[0] = one->parts[0];
        ret->parts[0].count = (uint64_t)(total / (size / (int64_t)one->parts[0].count));
    }
}

static bool is_empty(int64_t count, int64_t bytes)
{
    return bytes == 0 || (bytes < 0 && count == 0);
}

void signature_of_data(uint64_t datatype, int64_t count, int64_t bytes, struct signature *ret)
{
    struct signature one;
    *ret = is_empty(count, bytes) ? (struct signature){.known = true} : unknown;
    if (!is_empty(count, bytes) && datatype != 0 && datatype != recorder_abi.type_null) {
        int64_t size = lookup(datatype, &one);
        multiply(&one, size, count, bytes, ret);
    }
}

/* ---- of requests ------------------------------------------------------------------------------------- */

/* Distinct types of requests; never removed, since most programs use few. */
enum { NOTED = 1024, REQUEST_LEAST = 128 };
static struct {
    int64_t size;
    struct signature one;
} noted[NOTED];
static unsigned noted_count;
/* Index in `noted`, from 1, by the offset of the request's record. */
static uint16_t noted_of[MPIQ_RECORD_ARENA / REQUEST_LEAST];
_Static_assert(sizeof(struct mpiq_record_request) >= REQUEST_LEAST, "two requests would share a place");

static bool is_same(const struct signature *a, const struct signature *b)
{
    bool same = a->known == b->known && a->part_count == b->part_count;
    for (unsigned i = 0; same && i < a->part_count; i++)
        same = a->parts[i].base == b->parts[i].base && a->parts[i].count == b->parts[i].count;
    return same;
}

void signature_note(const struct mpiq_record_request *request, uint64_t datatype)
{
    struct signature one;
    uint16_t *place = &noted_of[arena_offset(request) / REQUEST_LEAST];
    *place = 0;
    if (datatype == 0 || datatype == recorder_abi.type_null)
        return;
    int64_t size = lookup(datatype, &one);
    arena_lock();
    unsigned at = 0;
    while (at < noted_count && (noted[at].size != size || !is_same(&noted[at].one, &one)))
        at++;
    if (at == noted_count && at < NOTED) {
        noted[at].size = size;
        noted[at].one = one;
        noted_count++;
    }
    *place = at < NOTED ? (uint16_t)(at + 1) : 0;
    arena_unlock();
}

void signature_of_request(const struct mpiq_record_request *request, int64_t count, int64_t bytes,
                          struct signature *ret)
{
    unsigned at = noted_of[arena_offset(request) / REQUEST_LEAST];
    *ret = is_empty(count, bytes) ? (struct signature){.known = true} : unknown;
    if (!is_empty(count, bytes) && at > 0)
        multiply(&noted[at - 1].one, noted[at - 1].size, count, bytes, ret);
}

uint64_t signature_hash(const struct signature *signature)
{
    uint64_t hash = 0;
    if (!signature->known)
        return 0;
    for (unsigned i = 0; i < signature->part_count; i++)
        hash += mpiq_record_mix(bases[signature->parts[i].base].code) * signature->parts[i].count;
    return hash;
}
