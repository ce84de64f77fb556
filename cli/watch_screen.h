/* SPDX-License-Identifier: BSD-3-Clause */
/* watch_screen - mpiq watch on the whole terminal: looks go on, keys choose what is shown of them. */
#ifndef MPIQ_CLI_WATCH_SCREEN_H
#define MPIQ_CLI_WATCH_SCREEN_H

#include "looks.h"

/* Until the user is done: the exit status. */
int watch_screen(struct looks *looks);

#endif
