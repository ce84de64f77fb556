/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/objects.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The ranks of a job have the same objects, at each look: the last lists, and whose they were. */
struct known {
    struct mpiq_target_object *list; /* only compared: the strings may be gone by now */
    char *paths;                     /* one after the other, each with its end */
    uint8_t *owners;
    size_t count;
};

enum { KNOWN = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known known[KNOWN];
static size_t next_known;

/* All that decides whose an object is.  An id is used once: equal pointers of one id are to the same. */
static bool same_list(const struct known *one, const struct mpiq_target_object *list, size_t count)
{
    const char *path = one->paths;
    if (!one->list || one->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_target_object *a = &one->list[i], *b = &list[i];
        if (a->id != b->id || a->soname != b->soname || a->needs != b->needs ||
            a->need_count != b->need_count || a->defines != b->defines || a->program != b->program ||
            a->unread != b->unread || strcmp(path, b->path) != 0)
            return false;
        path += strlen(path) + 1;
    }
    return true;
}

static bool find_known(const struct mpiq_target_object *list, size_t count, uint8_t *owners)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < KNOWN && !found; i++) {
        found = same_list(&known[i], list, count);
        if (found)
            memcpy(owners, known[i].owners, count);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Without memory, or where an object has no id, the next rank's are told anew. */
static void keep(const struct mpiq_target_object *list, size_t count, const uint8_t *owners)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (!list[i].id && !list[i].unread)
            return;
        size += strlen(list[i].path) + 1;
    }
    struct known one = {.list = calloc(count + 1, sizeof *list),
                        .paths = malloc(size + 1),
                        .owners = malloc(count + 1),
                        .count = count};
    char *path = one.paths;
    if (one.list && path && one.owners) {
        memcpy(one.list, list, count * sizeof *list);
        memcpy(one.owners, owners, count);
        for (size_t i = 0; i < count; i++)
            path = stpcpy(path, list[i].path) + 1;
        pthread_mutex_lock(&lock);
        struct known old = known[next_known];
        known[next_known] = one;
        next_known = (next_known + 1) % KNOWN;
        pthread_mutex_unlock(&lock);
        one = old;
    }
    free(one.list);
    free(one.paths);
    free(one.owners);
}

void mpiq_rank_objects_init(struct mpiq_rank_objects *objects, struct mpiq_target *target)
{
    *objects = (struct mpiq_rank_objects){.target = target};
}

static bool tell(const struct mpiq_target_object *list, size_t count, uint8_t *owners)
{
    struct mpiq_loaded_object *loaded = mpiq_memory_checked(calloc(count + 1, sizeof *loaded));
    for (size_t i = 0; loaded && i < count; i++) {
        loaded[i] = (struct mpiq_loaded_object){.path = list[i].path,
                                                .soname = list[i].soname,
                                                .needs = list[i].needs,
                                                .need_count = list[i].need_count,
                                                .defines = list[i].defines,
                                                .program = list[i].program,
                                                .unread = list[i].unread};
    }
    bool told = loaded && mpiq_tell_owners(loaded, count, owners);
    free(loaded);
    if (told)
        keep(list, count, owners);
    return told;
}

static void ask(struct mpiq_rank_objects *objects)
{
    struct mpiq_target_object *list = NULL;
    size_t count = 0;
    objects->asked = true;
    struct mpiq_error *error = mpiq_target_objects(objects->target, mpiq_telling_symbols, &list, &count);
    if (error) {
        mpiq_error_destroy(error);
        return;
    }
    uint8_t *owners = mpiq_memory_checked(calloc(count + 1, sizeof *owners));
    if (owners && (find_known(list, count, owners) || tell(list, count, owners))) {
        objects->list = list;
        objects->owners = owners;
        objects->count = count;
    } else {
        free(list);
        free(owners);
    }
}

void mpiq_rank_objects_deinit(struct mpiq_rank_objects *objects)
{
    free(objects->list);
    free(objects->owners);
    *objects = (struct mpiq_rank_objects){0};
}

enum mpiq_object_owner mpiq_rank_objects_owner(struct mpiq_rank_objects *objects, const char *path)
{
    if (path && !objects->asked)
        ask(objects);
    for (size_t i = 0; path && i < objects->count; i++) {
        if (strcmp(objects->list[i].path, path) == 0)
            return (enum mpiq_object_owner)objects->owners[i];
    }
    return path && objects->count ? MPIQ_OWNER_USER : MPIQ_OWNER_UNKNOWN;
}
