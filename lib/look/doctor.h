/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doctor - what this machine and a job allow mpiq to see, and what would make it see more.
 */
#ifndef MPIQ_DOCTOR_H
#define MPIQ_DOCTOR_H

#include <stdio.h>

#include "look/sources.h"

/* Writes the checks of the machine to out, one line each: "ok", "note" or "bad", what is, and behind a
   second line's arrow what to do. */
void mpiq_doctor_machine(FILE *out);

/* Writes what the first look at these sources tells of the job.  The sources have been read. */
void mpiq_doctor_job(FILE *out, const struct mpiq_look_sources *sources);

#endif
