/* SPDX-License-Identifier: BSD-3-Clause */
/* objects - whose each of a process's loaded objects is. */
#ifndef MPIQ_RANK_OBJECTS_H
#define MPIQ_RANK_OBJECTS_H

#include "names/objects.h"
#include "process/target.h"

struct mpiq_rank_objects {
    struct mpiq_target *target;
    bool asked;                      /* the target, when the first owner was wanted */
    struct mpiq_target_object *list; /* strings are the target's */
    uint8_t *owners;
    size_t count;
};

/* None where the target has no such list (a wire) or cannot be read.  Valid until it is told to forget. */
void mpiq_rank_objects_init(struct mpiq_rank_objects *objects, struct mpiq_target *target);
void mpiq_rank_objects_deinit(struct mpiq_rank_objects *objects);

/* Whose the object at path is; UNKNOWN for NULL, and without a list. */
enum mpiq_object_owner mpiq_rank_objects_owner(struct mpiq_rank_objects *objects, const char *path);

#endif
