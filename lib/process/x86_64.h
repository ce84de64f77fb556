/* SPDX-License-Identifier: BSD-3-Clause */
/* x86_64 - instructions of x86-64, and the System V calling convention. */
#ifndef MPIQ_X86_64_H
#define MPIQ_X86_64_H

#include "process/instruction.h"

extern const struct mpiq_architecture mpiq_x86_64;

#endif
