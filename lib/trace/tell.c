/* SPDX-License-Identifier: BSD-3-Clause */
/* What late has found, as JSON: an object a line. */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "trace/tell.h"

/* Ranks whose waiting is told over time. */
enum { LANES_MOST = 64 };

/* So many frames of a path are told: the innermost ones. */
enum { FRAMES_MOST = 24, LINES_MOST = 200000 };

static uint64_t ns_of(const struct mpiq_late *late, double ticks)
{
    double ns = ticks / (double)late->replay.definitions->resolution * 1e9;
    return ns <= 0 ? 0 : ns >= 9e18 ? (uint64_t)9e18 : (uint64_t)(ns + 0.5);
}

static const struct mpiq_trace_region *region_of(const struct mpiq_late *late, uint32_t path)
{
    const struct mpiq_trace_paths *paths = &late->replay.paths;
    uint32_t region = path < paths->count ? paths->paths[path].region : MPIQ_TRACE_NONE;
    return region == MPIQ_TRACE_NONE ? NULL : &late->replay.definitions->regions[region];
}

static void put_path(const struct mpiq_late *late, struct mpiq_text *text, uint32_t path)
{
    const char *names[FRAMES_MOST];
    uint32_t count = 0;
    struct mpiq_buffer joined = {0};
    for (; path != 0 && path < late->replay.paths.count && count < FRAMES_MOST;
         path = late->replay.paths.paths[path].parent) {
        const struct mpiq_trace_region *region = region_of(late, path);
        names[count++] = region ? region->name : "?";
    }
    mpiq_buffer_string(&joined, path != 0 ? "… > " : "");
    for (uint32_t i = count; i-- > 0;) {
        mpiq_buffer_string(&joined, names[i]);
        mpiq_buffer_string(&joined, i > 0 ? " > " : "");
    }
    mpiq_text_put_string(text, "path", mpiq_buffer_text(&joined));
    mpiq_buffer_deinit(&joined);
}

static void put_site(const struct mpiq_late *late, struct mpiq_text *text, uint32_t path)
{
    const struct mpiq_trace_region *own = region_of(late, path);
    uint32_t user = path < late->replay.paths.count ? late->replay.paths.paths[path].user : 0;
    const struct mpiq_trace_region *region = region_of(late, user);
    if (own && own->call != MPIQ_TRACE_OUTSIDE)
        mpiq_text_put_string(text, "call", own->name);
    if (region) {
        mpiq_text_put_string(text, "function", region->name);
        mpiq_text_put_string(text, "file", region->file);
        if (region->line > 0)
            mpiq_text_put_unsigned(text, "line", (uint64_t)region->line);
    }
    put_path(late, text, path);
}

struct teller {
    mpiq_late_callback *callback;
    void *context;
};

/* Ends the line's two objects and gives it. */
static struct mpiq_error *give(const struct teller *teller, struct mpiq_text *text)
{
    char *line = NULL;
    mpiq_text_close(text, '}');
    mpiq_text_close(text, '}');
    struct mpiq_error *error = mpiq_text_end(text, &line);
    if (!error)
        error = teller->callback(teller->context, line, strlen(line));
    free(line);
    return error;
}

static void begin(struct mpiq_text *text, const char *what)
{
    mpiq_text_open(text, '{');
    mpiq_text_key(text, what);
    mpiq_text_open(text, '{');
}

static struct mpiq_error *tell_wait(const struct mpiq_late *late, const struct teller *teller,
                                    const struct mpiq_late_wait *wait)
{
    struct mpiq_text text = {0};
    begin(&text, "wait");
    mpiq_text_put_string(&text, "kind", mpiq_late_word((enum mpiq_late_kind)wait->kind));
    mpiq_text_put_unsigned(&text, "rank", wait->rank);
    put_site(late, &text, wait->path);
    mpiq_text_put_unsigned(&text, "count", wait->count);
    mpiq_text_put_unsigned(&text, "ns", ns_of(late, (double)wait->ticks));
    mpiq_text_put_unsigned(&text, "longest_ns", ns_of(late, (double)wait->most));
    return give(teller, &text);
}

static struct mpiq_error *tell_delay(const struct mpiq_late *late, const struct teller *teller,
                                     const struct mpiq_late_delay *delay)
{
    struct mpiq_text text = {0};
    begin(&text, "delay");
    mpiq_text_put_unsigned(&text, "rank", delay->rank);
    put_site(late, &text, delay->path);
    mpiq_text_put_unsigned(&text, "late_ns", ns_of(late, delay->ticks));
    mpiq_text_put_unsigned(&text, "direct_ns", ns_of(late, delay->brief));
    mpiq_text_put_unsigned(&text, "further_ns", ns_of(late, delay->further));
    return give(teller, &text);
}

static void put_bins(const struct mpiq_late *late, struct mpiq_text *text, const char *key,
                     const uint64_t *bins)
{
    mpiq_text_key(text, key);
    mpiq_text_open(text, '[');
    for (unsigned i = 0; i < MPIQ_LATE_BINS; i++)
        mpiq_buffer_unsigned(mpiq_text_value(text), ns_of(late, (double)bins[i]));
    mpiq_text_close(text, ']');
}

static struct mpiq_error *tell_lane(const struct mpiq_late *late, const struct teller *teller, uint32_t rank)
{
    struct mpiq_text text = {0};
    begin(&text, "lane");
    mpiq_text_put_unsigned(&text, "rank", rank);
    mpiq_text_put_unsigned(&text, "ns", ns_of(late, (double)((uint64_t)1 << late->lanes.shift)));
    put_bins(late, &text, "waited", late->lanes.lanes[rank].waited);
    put_bins(late, &text, "caused", late->lanes.lanes[rank].caused);
    return give(teller, &text);
}

/* Those ranks that made others wait the most, then those that waited the most. */
static struct mpiq_error *tell_lanes(const struct mpiq_late *late, const struct teller *teller)
{
    const struct mpiq_trace_lanes *lanes = &late->lanes;
    struct mpiq_error *error = NULL;
    uint64_t *caused = calloc((size_t)lanes->count + 1, sizeof *caused);
    uint64_t *waited = calloc((size_t)lanes->count + 1, sizeof *waited);
    if (!caused || !waited)
        error = mpiq_error_no_memory();
    for (uint32_t rank = 0; rank < lanes->count && !error; rank++) {
        caused[rank] = mpiq_trace_lane_sum(lanes->lanes[rank].caused);
        waited[rank] = mpiq_trace_lane_sum(lanes->lanes[rank].waited);
    }
    for (unsigned i = 0; i < LANES_MOST && !error; i++) {
        const uint64_t *sums = i < LANES_MOST / 2 ? caused : waited;
        uint32_t best = 0;
        for (uint32_t rank = 1; rank < lanes->count; rank++)
            best = sums[rank] > sums[best] ? rank : best;
        if (sums[best] == 0)
            continue;
        caused[best] = waited[best] = 0; /* told */
        error = tell_lane(late, teller, best);
    }
    free(caused);
    free(waited);
    return error;
}

static uint64_t unreceived(const struct mpiq_late *late)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < late->replay.channel_room; i++) {
        for (const struct mpiq_trace_channel *channel = late->replay.channels[i]; channel;
             channel = channel->next) {
            for (const struct mpiq_trace_send *send = channel->sends; send; send = send->next)
                count++;
        }
    }
    return count;
}

static uint64_t broken(const struct mpiq_late *late)
{
    const struct mpiq_trace_definitions *definitions = late->replay.definitions;
    uint64_t count = 0;
    for (uint32_t i = 0; i < definitions->rank_count; i++) {
        uint64_t events;
        count +=
            definitions->masters[i] == MPIQ_TRACE_NONE ||
            mpiq_trace_stream_end(late->replay.stream, definitions->masters[i], &events) != MPIQ_TRACE_WHOLE;
    }
    return count;
}

static struct mpiq_error *tell_summary(const struct mpiq_late *late, const struct teller *teller)
{
    const struct mpiq_trace_replay *replay = &late->replay;
    struct mpiq_text text = {0};
    begin(&text, "summary");
    mpiq_text_put_string(&text, "creator", mpiq_trace_stream_creator(replay->stream));
    mpiq_text_put_unsigned(&text, "ranks", replay->definitions->rank_count);
    mpiq_text_put_unsigned(&text, "broken", broken(late));
    mpiq_text_put_unsigned(&text, "events", replay->events);
    mpiq_text_put_unsigned(&text, "ns", ns_of(late, (double)(replay->now - replay->start)));
    mpiq_text_put_unsigned(&text, "messages", replay->messages);
    mpiq_text_put_unsigned(&text, "unreceived", unreceived(late));
    mpiq_text_put_unsigned(&text, "collectives", late->collectives);
    mpiq_text_put_unsigned(&text, "waiting_ns", ns_of(late, (double)late->waited));
    mpiq_text_put_unsigned(&text, "mpi_ns", ns_of(late, (double)late->mpi_ticks));
    mpiq_text_put_unsigned(&text, "contradictions", late->unordered);
    mpiq_text_put_unsigned(&text, "backwards", mpiq_trace_stream_backwards(replay->stream));
    mpiq_text_put_unsigned(&text, "wrong_orders", late->wrong_orders);
    mpiq_text_put_unsigned(&text, "wrong_order_ns", ns_of(late, (double)late->wrong_order));
    mpiq_text_put_unsigned(&text, "barrier_completion_ns", ns_of(late, (double)late->completion[1]));
    mpiq_text_put_unsigned(&text, "nxn_completion_ns", ns_of(late, (double)late->completion[0]));
    mpiq_text_put_unsigned(&text, "unattributed_ns", ns_of(late, late->unattributed));
    return give(teller, &text);
}

static int compare_waits(const void *left, const void *right)
{
    const struct mpiq_late_wait *a = left;
    const struct mpiq_late_wait *b = right;
    return a->ticks > b->ticks ? -1 : a->ticks < b->ticks;
}

static int compare_delays(const void *left, const void *right)
{
    const struct mpiq_late_delay *a = left;
    const struct mpiq_late_delay *b = right;
    double first = a->brief + a->further;
    double second = b->brief + b->further;
    return first > second ? -1 : first < second;
}

struct mpiq_error *mpiq_late_tell(struct mpiq_late *late, mpiq_late_callback *callback, void *context)
{
    const struct teller teller = {callback, context};
    mpiq_trace_lanes_reach(&late->lanes, late->replay.now - late->replay.start);
    if (late->wait_count > 0)
        qsort(late->waits, late->wait_count, sizeof *late->waits, compare_waits);
    if (late->delay_count > 0)
        qsort(late->delays, late->delay_count, sizeof *late->delays, compare_delays);
    struct mpiq_error *error = tell_summary(late, &teller);
    for (uint32_t i = 0; i < late->delay_count && i < LINES_MOST && !error; i++)
        error = tell_delay(late, &teller, &late->delays[i]);
    for (uint32_t i = 0; i < late->wait_count && i < LINES_MOST && !error; i++)
        error = tell_wait(late, &teller, &late->waits[i]);
    return error ? error : tell_lanes(late, &teller);
}
