/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rank/identity.h"

/* ---- problems --------------------------------------------------------------------------------------- */

/* The DLL's message for a person, with one %s for the image's name, after its prefix. */
static void queues_problem(struct mpiq_reading *reading, int code, const char *message, const char *doing)
{
    char text[512] = "";
    if (message) {
        const char *hole = strstr(message, "%s");
        int before = hole ? (int)(hole - message) : (int)strnlen(message, sizeof text);
        snprintf(text, sizeof text, "%.*s%s%.300s", before < 200 ? before : 200, message,
                 hole ? "the process" : "", hole ? hole + 2 : "");
        text[strcspn(text, "\r\n")] = '\0';
    }
    _cleanup_free_ char *whole = NULL;
    if (text[0] && asprintf(&whole, "%s: %s", doing, text) < 0) {
        whole = NULL;
        mpiq_memory_miss();
    }
    mpiq_reading_problem(reading, "queues", code, whole ? whole : doing);
}

/* ---- identity --------------------------------------------------------------------------------------- */

static bool read_identity(struct mpiq_reading *reading)
{
    struct mpiq_rank_state *state = reading->state;
    mqs_process_identity identity;

    memset(&identity, 0, sizeof identity);
    if (!reading->dll->extensions.get_identity)
        return false;
    mpiq_reading_phase = "identifying the process";
    int code = reading->dll->extensions.get_identity(&reading->process, &identity);
    if (code != mqs_ok) {
        mpiq_reading_problem(reading, "identity", code, "the process's identity cannot be read");
        return false;
    }
    /* Before MPI_Init a library has not been told who it is. */
    if (identity.world_size > 0 && identity.name.vpid <= INT32_MAX)
        state->name = (struct mpiq_name){.job = identity.name.jobid, .rank = (int32_t)identity.name.vpid};
    state->world_size = identity.world_size > 0 ? identity.world_size : 0;
    if (identity.phase >= mqs_phase_unknown && identity.phase <= mqs_phase_finalized)
        state->phase = (uint8_t)identity.phase;
    state->thread_level =
        identity.thread_level >= 0 && identity.thread_level <= 3 ? (int8_t)identity.thread_level : -1;
    state->recording = identity.recording < 0 ? MPIQ_UNKNOWN : identity.recording > 0 ? MPIQ_YES : MPIQ_NO;
    state->source = identity.layout_source == mqs_layout_tables       ? MPIQ_SOURCE_PATCHED
                    : identity.layout_source == mqs_layout_debug_info ? MPIQ_SOURCE_DEBUG_INFO
                    : identity.layout_source == mqs_layout_built_in   ? MPIQ_SOURCE_LAYOUTS
                    : identity.layout_source == mqs_layout_recorder   ? MPIQ_SOURCE_RECORDER
                                                                      : MPIQ_SOURCE_NONE;
    MPIQ_COPY(state->nspace, identity.nspace);
    MPIQ_COPY(state->library, identity.library);
    MPIQ_COPY(state->pml, identity.pml);
    /* YES comes once they have been read; without a PML there are none yet. */
    state->queues = identity.queues > 0 || !state->pml[0] ? MPIQ_UNKNOWN : MPIQ_NO;
    return true;
}

static bool get_layout(struct mpiq_reading *reading, mqs_layout_details *ret)
{
    memset(ret, 0, sizeof *ret);
    mpiq_reading_phase = "asking where the layout came from";
    return reading->dll->extensions.get_layout &&
           reading->dll->extensions.get_layout(&reading->process, ret) == mqs_ok;
}

/* What of a built-in layout does not fit this process, as a problem each. */
static void read_layout(struct mpiq_reading *reading)
{
    mqs_layout_details layout;

    if (!get_layout(reading, &layout) || layout.source != mqs_layout_built_in)
        return;
    for (int i = 0; i < layout.failed && i < (int)(sizeof layout.failures / sizeof layout.failures[0]); i++) {
        char text[320];

        snprintf(text, sizeof text,
                 "not read, because Open MPI %.31s is built differently here: %.47s: %.143s", layout.release,
                 layout.failures[i].structure, layout.failures[i].check);
        mpiq_reading_problem(reading, "layout", mqs_ok, text);
    }
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static int set_internal(struct mpiq_reading *reading)
{
    mpiq_reading_phase = "taking an option";
    if (!reading->dll->extensions.set_option)
        return mqs_ok;
    return reading->dll->extensions.set_option(&reading->process, mqs_option_internal, reading->internal);
}

/* Between setup_process and destroy_process_info. */
static void read_process(struct mpiq_reading *reading)
{
    struct mpiq_dll *dll = reading->dll;
    struct mpiq_rank_state *state = reading->state;
    char *message = NULL;

    bool identified = read_identity(reading);
    mpiq_reading_phase = "looking for the process's queues";
    int code = dll->mqs_process_has_queues(&reading->process, &message);
    mqs_layout_details layout;
    if (code != mqs_ok && get_layout(reading, &layout) && layout.failed > 0)
        /* Checks read where nothing may be; the message says which one failed. */
        mpiq_reading_forget_trouble(reading);
    if (code != mqs_ok && identified && state->queues == MPIQ_NO) {
        _cleanup_free_ char *text = NULL;
        if (asprintf(&text, "message queues cannot be read with PML %s", state->pml[0] ? state->pml : "?") >=
            0)
            queues_problem(reading, code, message, text);
    } else if (code != mqs_ok) {
        queues_problem(reading, code, message, "the process has no message queues to read");
    }
    if (code != mqs_ok && !identified)
        return;

    read_layout(reading);
    set_internal(reading);
    mpiq_read_communicators(reading);
    if (state->source == MPIQ_SOURCE_NONE && state->communicator_count > 0 && !identified)
        state->source = MPIQ_SOURCE_DEBUG_INFO;
    mpiq_read_process_calls(reading);
    mpiq_read_windows(reading);
    mpiq_read_waits(reading);
    mpiq_read_history(reading);
    mpiq_read_facts(reading);
}

static void read_image(struct mpiq_reading *reading)
{
    struct mpiq_dll *dll = reading->dll;
    char *message = NULL;

    mpiq_reading_phase = "looking for the MPI library's types";
    int code = dll->mqs_image_has_queues(&reading->image, &message);
    if (code != mqs_ok)
        queues_problem(reading, code, message, "the MPI library cannot be read");
    /* A DLL without the extension has nothing to say then; ours may still tell who the process is. */
    if (code != mqs_ok && !dll->has_extensions)
        return;
    mpiq_reading_phase = "preparing for the process";
    code = dll->mqs_setup_process(&reading->process, &mpiq_process_callbacks);
    if (code != mqs_ok) {
        mpiq_reading_problem(reading, "queues", code, "the process cannot be prepared for reading");
        return;
    }
    read_process(reading);
    mpiq_reading_phase = "forgetting the process";
    if (reading->process.info)
        dll->mqs_destroy_process_info(reading->process.info);
}

struct mpiq_error *mpiq_read_state(struct mpiq_reading *reading)
{
    unsigned missed = mpiq_memory_missed();
    struct mpiq_error *error = mpiq_target_sizes(reading->target, &reading->sizes);
    if (error)
        return error;
    reading->state = mpiq_rank_state_create();
    if (!reading->state)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a rank's state");
    reading->state->taken_ns = mpiq_now_ns();
    reading->image = (struct mqs_image_){.reading = reading};
    reading->process = (struct mqs_process_){.image = &reading->image};
    if (!reading->dll->extensions.get_identity)
        mpiq_rank_identify(reading->target, reading->state);

    mpiq_reading_phase = "preparing for the program";
    int code = reading->dll->mqs_setup_image(&reading->image, &mpiq_image_callbacks);
    if (code != mqs_ok)
        mpiq_reading_problem(reading, "queues", code, "the program cannot be prepared for reading");
    else
        read_image(reading);
    mpiq_reading_forget_image(reading);
    /* Lists may be shorter than they are in the process. */
    return mpiq_memory_missed() == missed ? NULL
                                          : mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to read it");
}
