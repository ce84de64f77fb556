/* SPDX-License-Identifier: BSD-3-Clause */
/* choose_dll - which message-queue DLL a process gets, opened. */
#ifndef MPIQ_RANK_CHOOSE_DLL_H
#define MPIQ_RANK_CHOOSE_DLL_H

#include "rank/rank.h"

enum mpiq_dll_origin {
    MPIQ_DLL_EXPLICIT,  /* as the user asked */
    MPIQ_DLL_OURS,      /* for Open MPI */
    MPIQ_DLL_ANNOUNCED, /* MPIR_dll_name of the process */
};

struct mpiq_chosen_dll {
    char *path;     /* for messages: what is loaded is the descriptor's file */
    int descriptor; /* -1: none */
    enum mpiq_dll_origin origin;
    bool has_own; /* it is the recorder's, and the MPI library under it has one too */
};

/*
 * The DLL for target: explicit_path if not NULL; the recorder's (MPIQ_RECORD_DLL, else where it is installed
 * or built) if the process runs under the recorder and its library is not patched; else ours for Open MPI
 * (MPIQ_MQS_DLL, likewise) if it has that; else the one the process announces, if it may name code for us
 * (trust.h). *ours is NULL at first and keeps the path of our DLL, which is searched for once; the caller
 * frees it in the end.  NOT_FOUND says that no MPI library is there, or no DLL; PERMISSION that the announced
 * one is not trusted.
 */
struct mpiq_error *mpiq_rank_choose_dll(struct mpiq_target *target,
                                        const struct mpiq_dll_host_options *options, char **ours,
                                        struct mpiq_chosen_dll *ret);
/* Frees the path, closes the descriptor. */
void mpiq_chosen_dll_deinit(struct mpiq_chosen_dll *dll);

#endif
