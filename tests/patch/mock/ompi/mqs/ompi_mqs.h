/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator puts the contract here in a release. */
#include "../../../../../include/ompi_mqs.h"
