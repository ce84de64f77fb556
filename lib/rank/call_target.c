/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/call_target.h"

#include <string.h>

#include "rank/identity.h"
#include "rank/rank.h"

static bool read_at(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    struct mpiq_error *error = mpiq_target_read(target, address, size, buffer);
    mpiq_error_destroy(error);
    return !error;
}

/* What an instruction with a displacement from its own end refers to. */
static uint64_t relative(uint64_t end, const uint8_t *displacement)
{
    int32_t distance;
    memcpy(&distance, displacement, sizeof distance);
    return end + (uint64_t)(int64_t)distance;
}

/* Where an entry of a procedure linkage table jumps to: jmp *slot, after endbr64 or bnd; 0: it is none. */
static uint64_t linked(struct mpiq_target *target, uint64_t entry)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[11];
    uint64_t to;
    if (!read_at(target, entry, sizeof code, code))
        return 0;
    size_t at = memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    at += code[at] == 0xf2;
    if (at + 6 > sizeof code || code[at] != 0xff || code[at + 1] != 0x25)
        return 0;
    return read_at(target, relative(entry + at + 6, &code[at + 2]), sizeof to, &to) ? to : 0;
}

/* What the call that returns to an address has called, by call and call *slot; 0: not known. */
static uint64_t called_from(struct mpiq_target *target, uint64_t back)
{
    uint8_t code[6];
    uint64_t to;
    if (back < sizeof code || !read_at(target, back - sizeof code, sizeof code, code))
        return 0;
    if (code[0] == 0xff && code[1] == 0x15)
        return read_at(target, relative(back, &code[2]), sizeof to, &to) ? to : 0;
    return code[1] == 0xe8 ? linked(target, relative(back, &code[2])) : 0;
}

bool mpiq_rank_function_at(struct mpiq_target *target, uint64_t address, char *ret, size_t size,
                           bool *ret_fortran)
{
    struct mpiq_target_stack place = {0};
    struct mpiq_error *error = mpiq_target_place(target, address + 1, &place);
    /* The last one is the function itself, the others are inlined into it. */
    const char *name = !error && place.count ? place.frames[place.count - 1].function : NULL;
    uint64_t own = 0;
    bool found = name && mpiq_mpi_function(name, ret, size);
    if (found) {
        /* It begins there. */
        error = mpiq_target_find_symbol(target, name, &own);
        found = !error && own == address;
        *ret_fortran = !mpiq_is_c_call(name);
    }
    mpiq_error_destroy(error);
    mpiq_target_stack_deinit(&place);
    return found;
}

void mpiq_rank_find_called(struct mpiq_target *target, const struct mpiq_rank_state *state,
                           struct mpiq_thread *thread)
{
    if (thread->mpi_frame >= 0 || strcmp(state->architecture, "x86-64") != 0)
        return;
    /* The innermost frame of the user's: further out the library may have called that back. */
    size_t own = 0;
    while (own < thread->frame_count && !mpiq_owner_is_user(mpiq_frame_owner(state, &thread->frames[own])))
        own++;
    if (own == 0 || own >= thread->frame_count || thread->frames[own].pc == 0 ||
        mpiq_frame_owner(state, &thread->frames[own - 1]) != MPIQ_OWNER_MPI)
        return;
    uint64_t address = called_from(target, thread->frames[own].pc);
    char name[sizeof thread->mpi_call];
    bool fortran;
    if (!address || !mpiq_rank_function_at(target, address, name, sizeof name, &fortran) || fortran)
        return;
    memcpy(thread->mpi_call, name, sizeof name);
    thread->mpi_frame = (int32_t)own - 1;
    thread->user_frame = (int32_t)own;
}
