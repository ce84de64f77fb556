/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void mpiq_rank_objects_init(struct mpiq_rank_objects *objects, struct mpiq_target *target)
{
    *objects = (struct mpiq_rank_objects){.target = target};
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
    struct mpiq_loaded_object *loaded = mpiq_memory_checked(calloc(count + 1, sizeof *loaded));
    uint8_t *owners = mpiq_memory_checked(calloc(count + 1, sizeof *owners));
    for (size_t i = 0; loaded && i < count; i++) {
        loaded[i] = (struct mpiq_loaded_object){.path = list[i].path,
                                                .soname = list[i].soname,
                                                .needs = list[i].needs,
                                                .need_count = list[i].need_count,
                                                .defines = list[i].defines,
                                                .program = list[i].program,
                                                .unread = list[i].unread};
    }
    if (loaded && owners && mpiq_tell_owners(loaded, count, owners)) {
        objects->list = list;
        objects->owners = owners;
        objects->count = count;
    } else {
        free(list);
        free(owners);
    }
    free(loaded);
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
