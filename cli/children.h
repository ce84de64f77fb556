/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * children - the processes that have mpiq as their parent.
 *
 * These are the processes that mpiq starts and, while children_adopt is in effect, those they leave behind:
 * a script's mpirun, an mpirun's ranks.
 */
#ifndef MPIQ_CLI_CHILDREN_H
#define MPIQ_CLI_CHILDREN_H

/* From now on a descendant whose parent ends becomes a child of ours, not init's. */
void children_adopt(void);

/* Ends all children and what they leave behind: asks each of them once (SIGTERM), and kills those that are
   there after so many seconds.  Returns when none is left, or when that takes as long again. */
void children_end(int grace_seconds);

#endif
