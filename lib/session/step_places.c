/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/step_places.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "words/put.h"

static void free_place(struct mpiq_step_place *place)
{
    free(place->object);
    free(place->file);
    free(place->text);
}

void mpiq_step_places_deinit(struct mpiq_step_places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free_place(&places->list[i]);
    free(places->list);
    *places = (struct mpiq_step_places){0};
}

const struct mpiq_step_place *mpiq_step_places_at(const struct mpiq_step_places *places,
                                                  const struct mpiq_step_memory *memory, uint64_t caller)
{
    char path[PATH_MAX];
    uint64_t offset;
    if (!mpiq_step_memory_place(memory, caller, path, sizeof path, &offset))
        return NULL;
    for (size_t i = 0; i < places->count; i++) {
        const struct mpiq_step_place *place = &places->list[i];
        if (place->object && place->offset == offset && strcmp(place->object, path) == 0)
            return place;
    }
    return NULL;
}

const struct mpiq_step_place *mpiq_step_places_find(const struct mpiq_step_places *places,
                                                    const struct mpiq_step_memory *memory,
                                                    const struct mpiq_step_thread *thread)
{
    for (size_t i = places->count; i-- > 0;) {
        const struct mpiq_step_place *place = &places->list[i];
        if (!place->object && place->tid == thread->hold.tid && place->number == thread->hold.number)
            return place;
    }
    return mpiq_step_places_at(places, memory, thread->hold.caller);
}

/* Of an interpreter's, the last hold of a thread is enough. */
static struct mpiq_step_place *new_place(struct mpiq_step_places *places, uint32_t tid)
{
    for (size_t i = 0; i < places->count && tid; i++) {
        struct mpiq_step_place *place = &places->list[i];
        if (!place->object && place->tid == tid) {
            free_place(place);
            return place;
        }
    }
    return mpiq_array_reserve(&places->list, &places->capacity, places->count + 1)
               ? &places->list[places->count++]
               : NULL;
}

static void add(struct mpiq_step_places *places, const struct mpiq_step_memory *memory,
                const struct mpiq_step_thread *thread, const struct mpiq_frame *frame)
{
    char path[PATH_MAX];
    struct mpiq_step_place place = {.line = frame ? frame->line : 0};
    struct mpiq_buffer text = {0};
    bool interpreted = frame && frame->pc == 0;
    if (!interpreted &&
        !mpiq_step_memory_place(memory, thread->hold.caller, path, sizeof path, &place.offset))
        interpreted = true;
    if (interpreted) {
        place.tid = thread->hold.tid;
        place.number = thread->hold.number;
    }
    if (frame)
        mpiq_put_place(&text, frame->file, frame->line, frame->function, frame->object);
    place.object = interpreted ? NULL : strdup(path);
    place.file = frame && frame->file ? strdup(frame->file) : NULL;
    mpiq_error_destroy(mpiq_buffer_end(&text, &place.text));
    struct mpiq_step_place *row =
        place.text && (place.object || interpreted) ? new_place(places, place.tid) : NULL;
    if (row)
        *row = place;
    else
        free_place(&place);
}

/* Where the user's code called MPI, of a thread that a look has seen in that hold; or in the call itself,
   told by its return address.  False: it was seen elsewhere. */
static bool find_frame(const struct mpiq_step_thread *thread, const struct mpiq_thread *seen,
                       const struct mpiq_frame **ret)
{
    bool known = seen->user_frame >= 0 && (size_t)seen->user_frame < seen->frame_count;
    *ret = known ? &seen->frames[seen->user_frame] : NULL;
    if (seen->tid != (int32_t)thread->hold.tid)
        return false;
    if (thread->inside)
        return *ret && (*ret)->pc != 0 && (*ret)->pc == thread->hold.caller;
    return thread->held && seen->stepped[0] && seen->stepped_number == thread->hold.number;
}

void mpiq_step_places_learn(struct mpiq_step_places *places, const struct mpiq_step_memory *memory,
                            const struct mpiq_step_thread *threads, size_t count,
                            const struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < state->thread_count; k++) {
            const struct mpiq_frame *frame;
            if (find_frame(&threads[i], &state->threads[k], &frame) &&
                !mpiq_step_places_find(places, memory, &threads[i]))
                add(places, memory, &threads[i], frame);
        }
    }
}
