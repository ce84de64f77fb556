/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scenes - processes with something of everything in them, made up and recorded, for those who break them.
 */
#ifndef SCENES_H
#define SCENES_H

#include "made_up.h"

#define SCENES_MADE_UP 6

/* How many there are; the first SCENES_MADE_UP are made up: word sizes, byte orders, release lines. */
int scene_count(void);

/* One that is made at the first call and lives as long as the program. */
struct made_up *scene_get(int index);

#endif
