/* SPDX-License-Identifier: BSD-3-Clause */
/* order - which findings come first, and which of them say nothing that another one has not said. */
#ifndef MPIQ_ORDER_H
#define MPIQ_ORDER_H

#include "state/finding.h"

/* Drops what is said already and puts the rest in order: what is certain, and nearest to the cause, first. */
void mpiq_order_findings(const struct mpiq_job_state *job, struct mpiq_diagnosis *diagnosis);

#endif
