/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "state/arena.h"

/* The end of a thread's stack. */
struct place {
    uint32_t world;
    uint32_t rank;
    uint32_t node;
};

struct mpiq_stack_building {
    struct mpiq_hash_table table; /* of nodes: by parent and frame */
    struct place *places;
    size_t place_count, place_capacity;
    uint32_t node_capacity;
};

struct mpiq_stack_tree *mpiq_stack_tree_create(void)
{
    struct mpiq_stack_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->strings = mpiq_arena_create();
    tree->building = calloc(1, sizeof *tree->building);
    tree->nodes = calloc(1, sizeof *tree->nodes);
    if (!tree->strings || !tree->building || !tree->nodes) {
        mpiq_stack_tree_destroy(tree);
        return NULL;
    }
    tree->node_count = tree->building->node_capacity = 1;
    return tree;
}

static void end_building(struct mpiq_stack_tree *tree)
{
    if (!tree->building)
        return;
    mpiq_hash_table_deinit(&tree->building->table);
    free(tree->building->places);
    free(mpiq_steal(tree->building));
}

void mpiq_stack_tree_destroy(struct mpiq_stack_tree *tree)
{
    if (!tree)
        return;
    end_building(tree);
    for (uint32_t i = 0; tree->nodes && i < tree->node_count; i++) {
        mpiq_rank_set_deinit(&tree->nodes[i].ranks);
        mpiq_rank_set_deinit(&tree->nodes[i].here);
    }
    free(tree->nodes);
    mpiq_arena_destroy(tree->strings);
    free(tree);
}

/* ---- frames ------------------------------------------------------------------------------------------- */

static bool is_interpreters(const struct mpiq_frame *frame)
{
    return frame->pc != 0 && mpiq_is_interpreter(frame->function, frame->object);
}

/* The frames that a person wants to see, outermost first, as indexes: how many. */
static size_t choose_frames(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                            uint32_t *ret)
{
    const struct mpiq_frame *frames = thread->frames;
    size_t count = thread->frame_count, chosen = 0;
    size_t interpreter = 0, python = 0, after_python = 0;
    while (interpreter < count && !is_interpreters(&frames[interpreter]))
        interpreter++;
    while (python < interpreter && frames[python].pc != 0)
        python++;
    for (after_python = python; after_python < interpreter && frames[after_python].pc == 0;)
        after_python++;
    bool known = interpreter < count && after_python > python;
    for (size_t i = count; i-- > (known ? interpreter : 0);) {
        bool start = chosen == 0 && !thread->truncated &&
                     (mpiq_frame_owner(state, &frames[i]) == MPIQ_OWNER_SYSTEM ||
                      (frames[i].function && strcmp(frames[i].function, "_start") == 0));
        if (!start && !(known && is_interpreters(&frames[i])))
            ret[chosen++] = (uint32_t)i;
    }
    if (known) {
        for (size_t i = after_python; i-- > python;)
            ret[chosen++] = (uint32_t)i;
        for (size_t i = interpreter; i-- > after_python;)
            ret[chosen++] = (uint32_t)i;
        for (size_t i = python; i-- > 0;)
            ret[chosen++] = (uint32_t)i;
    }
    for (size_t i = count; chosen == 0 && i-- > 0;) /* nothing but the system's: all of it */
        ret[count - 1 - i] = (uint32_t)i;
    return chosen ? chosen : count;
}

/* Whether the thread's call of MPI goes through the recorder.  *ret: the first frame further in that is
   neither the recorder's nor the system's; SIZE_MAX: the call has not been passed on. */
static bool through_recorder(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                             size_t *ret)
{
    *ret = SIZE_MAX;
    if (thread->mpi_frame < 0 || (size_t)thread->mpi_frame >= thread->frame_count ||
        mpiq_frame_owner(state, &thread->frames[thread->mpi_frame]) != MPIQ_OWNER_RECORDER)
        return false;
    for (size_t i = (size_t)thread->mpi_frame; i-- > 0 && *ret == SIZE_MAX;) {
        enum mpiq_object_owner owner = mpiq_frame_owner(state, &thread->frames[i]);
        *ret = owner == MPIQ_OWNER_RECORDER || owner == MPIQ_OWNER_SYSTEM ? SIZE_MAX : i;
    }
    return true;
}

/* "MPI_Recv" and "PMPI_Recv" are one function. */
static bool is_same_call(const char *a, const char *b)
{
    return a && b && strcmp(a + (a[0] == 'P'), b + (b[0] == 'P')) == 0;
}

/* Takes the recorder's frames out of `order`: its function for the call stands for the library's, and what it
   does itself, to hold a call, is nobody's concern.  Returns how many are left. */
static size_t drop_recorder(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                            uint32_t *order, size_t count)
{
    size_t kept = 0, passed_on;
    bool recorders = through_recorder(state, thread, &passed_on);
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_frame *frame = &thread->frames[order[i]];
        bool call = recorders && (int64_t)order[i] == thread->mpi_frame;
        bool own = recorders && passed_on == SIZE_MAX && (int64_t)order[i] < thread->mpi_frame;
        bool again = recorders && order[i] == passed_on &&
                     is_same_call(frame->function, thread->frames[thread->mpi_frame].function);
        if (call || (!own && !again && mpiq_frame_owner(state, frame) != MPIQ_OWNER_RECORDER))
            order[kept++] = order[i];
    }
    return kept;
}

/* The frame as a node; the recorder's function for a call is shown as the library's. */
static struct mpiq_stack_node node_of(const struct mpiq_rank_state *state, const struct mpiq_thread *thread,
                                      uint32_t index)
{
    const struct mpiq_frame *frame = &thread->frames[index];
    enum mpiq_object_owner owner = mpiq_frame_owner(state, frame);
    struct mpiq_stack_node node = {.function = frame->function,
                                   .file = frame->file,
                                   .object = frame->object,
                                   .line = frame->line,
                                   .owner = (uint8_t)owner,
                                   .inside = (int64_t)index < thread->mpi_frame &&
                                             !mpiq_owner_is_user((uint8_t)owner)};
    size_t passed_on;
    if ((int64_t)index == thread->mpi_frame && through_recorder(state, thread, &passed_on)) {
        node.file = NULL;
        node.line = 0;
        node.object = passed_on == SIZE_MAX ? NULL : thread->frames[passed_on].object;
    }
    return node;
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

/* The child of *at that is this frame becomes *at. */
static bool descend(struct mpiq_stack_tree *tree, const struct mpiq_stack_node *wanted, uint32_t *at)
{
    struct mpiq_stack_building *building = tree->building;
    uint64_t hash =
        mpiq_hash_two(MPIQ_HASH_START, *at, (uint64_t)(uint32_t)wanted->line << 1 | wanted->inside);
    hash = mpiq_hash_string(mpiq_hash_string(mpiq_hash_string(hash, wanted->function), wanted->file),
                            wanted->object);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&building->table, hash, &cursor)) != UINT32_MAX;) {
        const struct mpiq_stack_node *node = &tree->nodes[i];
        if (node->parent == *at && node->line == wanted->line && node->inside == wanted->inside &&
            mpiq_same_string(node->function, wanted->function) &&
            mpiq_same_string(node->file, wanted->file) && mpiq_same_string(node->object, wanted->object)) {
            *at = i;
            return true;
        }
    }
    if (!mpiq_array_reserve(&tree->nodes, &building->node_capacity, (size_t)tree->node_count + 1))
        return false;
    struct mpiq_stack_node *node = &tree->nodes[tree->node_count];
    *node = *wanted;
    node->parent = *at;
    node->function = mpiq_arena_string(tree->strings, wanted->function);
    node->file = mpiq_arena_string(tree->strings, wanted->file);
    node->object = mpiq_arena_string(tree->strings, wanted->object);
    if ((wanted->function && !node->function) || (wanted->file && !node->file) ||
        (wanted->object && !node->object) || !mpiq_hash_table_add(&building->table, hash, tree->node_count))
        return false;
    *at = tree->node_count++;
    return true;
}

static bool add_thread(struct mpiq_stack_tree *tree, struct place place, const struct mpiq_rank_state *state,
                       const struct mpiq_thread *thread)
{
    struct mpiq_stack_building *building = tree->building;
    uint32_t *order _cleanup_free_ = calloc(thread->frame_count, sizeof *order);
    if (!order ||
        !mpiq_array_reserve(&building->places, &building->place_capacity, building->place_count + 1))
        return false;
    size_t count = drop_recorder(state, thread, order, choose_frames(state, thread, order));
    size_t first = count > MPIQ_STACK_FRAMES_MOST ? count - MPIQ_STACK_FRAMES_MOST : 0;
    if ((first > 0 || thread->truncated) &&
        !descend(tree, &(struct mpiq_stack_node){.owner = MPIQ_OWNER_UNKNOWN}, &place.node))
        return false;
    for (size_t i = first; i < count; i++) {
        const struct mpiq_stack_node node = node_of(state, thread, order[i]);
        if (!descend(tree, &node, &place.node))
            return false;
    }
    building->places[building->place_count++] = place;
    return true;
}

bool mpiq_stack_tree_add(struct mpiq_stack_tree *tree, uint32_t world, uint32_t rank,
                         const struct mpiq_rank_state *state, bool all_threads)
{
    const struct mpiq_thread *first = NULL;
    bool in_mpi = false;
    for (size_t i = 0; i < state->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        if (thread->frame_count == 0)
            continue;
        in_mpi = in_mpi || thread->mpi_frame >= 0;
        if (!first || thread->tid == state->pid)
            first = thread;
    }
    for (size_t i = 0; i < state->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        bool wanted = all_threads || (in_mpi ? thread->mpi_frame >= 0 : thread == first);
        if (wanted && thread->frame_count > 0 &&
            !add_thread(tree, (struct place){.world = world, .rank = rank}, state, thread))
            return false;
    }
    return true;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->world != y->world)
        return x->world < y->world ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int compare_strings(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Fewest ranks first; of as many those of the lowest rank, and then whatever is the same every time. */
static int compare_nodes(const void *a, const void *b, void *context)
{
    const struct mpiq_stack_tree *tree = context;
    const struct mpiq_stack_node *x = &tree->nodes[*(const uint32_t *)a],
                                 *y = &tree->nodes[*(const uint32_t *)b];
    const struct mpiq_rank_range *first = x->ranks.ranges, *second = y->ranks.ranges;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->ranks.size != y->ranks.size)
        return x->ranks.size < y->ranks.size ? -1 : 1;
    if (first->world != second->world)
        return first->world < second->world ? -1 : 1;
    if (first->first != second->first)
        return first->first < second->first ? -1 : 1;
    if (x->threads != y->threads)
        return x->threads < y->threads ? -1 : 1;
    int order = compare_strings(x->function, y->function);
    order = order ? order : compare_strings(x->file, y->file);
    order = order ? order : compare_strings(x->object, y->object);
    if (order)
        return order;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : (int)x->inside - (int)y->inside;
}

/* Links each node to its parent, in order. */
static bool link_nodes(struct mpiq_stack_tree *tree)
{
    uint32_t count = tree->node_count - 1;
    uint32_t *order _cleanup_free_ = calloc((size_t)count + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i + 1;
    qsort_r(order, count, sizeof *order, compare_nodes, tree);
    for (uint32_t i = count; i-- > 0;) {
        struct mpiq_stack_node *node = &tree->nodes[order[i]], *parent = &tree->nodes[node->parent];
        node->next = parent->first_child;
        parent->first_child = order[i];
    }
    return true;
}

bool mpiq_stack_tree_finish(struct mpiq_stack_tree *tree)
{
    struct mpiq_stack_building *building = tree->building;
    if (building->place_count > 0)
        qsort(building->places, building->place_count, sizeof *building->places, compare_places);
    for (size_t i = 0; i < building->place_count; i++) {
        const struct place *place = &building->places[i];
        if (!mpiq_rank_set_add(&tree->nodes[place->node].here, place->world, place->rank))
            return false;
        for (uint32_t at = place->node;; at = tree->nodes[at].parent) {
            tree->nodes[at].threads++;
            if (!mpiq_rank_set_add(&tree->nodes[at].ranks, place->world, place->rank))
                return false;
            if (at == 0)
                break;
        }
    }
    /* Children come after their parents. */
    for (uint32_t i = tree->node_count; i-- > 1;) {
        const struct mpiq_stack_node *node = &tree->nodes[i];
        tree->nodes[node->parent].leads_out |= !node->inside || node->leads_out;
    }
    end_building(tree);
    return link_nodes(tree);
}
