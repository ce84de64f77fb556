/* SPDX-License-Identifier: BSD-3-Clause */
/* job - what a look has read and decided; behind mpiq.h's struct mpiq_job. */
#ifndef MPIQ_SESSION_JOB_H
#define MPIQ_SESSION_JOB_H

#include "job/diagnose.h"
#include "session/remote.h"
#include "session/sources.h"
#include "mpiq.h"

struct mpiq_job {
    struct mpiq_look_sources sources;
    struct mpiq_remote *remote; /* ranks on other hosts; NULL: none */
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis;
};

/* Options as this library knows them, whatever size the caller's have. */
struct mpiq_options mpiq_options_known(const struct mpiq_options *given);

/* Puts what was read side by side, and diagnoses it. */
struct mpiq_error *mpiq_job_decide(struct mpiq_job *job, const struct mpiq_diagnose_options *options);
/* Diagnoses it anew, with other options. */
struct mpiq_error *mpiq_job_decide_again(struct mpiq_job *job, const struct mpiq_diagnose_options *options);

#endif
