/* SPDX-License-Identifier: BSD-3-Clause */
/* aarch64 - instructions of 64-bit Arm, and its procedure call standard (AAPCS64, as Linux has it). */
#ifndef MPIQ_AARCH64_H
#define MPIQ_AARCH64_H

#include "process/instruction.h"

extern const struct mpiq_architecture mpiq_aarch64;

#endif
