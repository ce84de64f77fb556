/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last MPI calls as a picture: classes of ranks down (of each the first rank; suspects by themselves),
 * time across, one bar per call, the hang at the right edge.
 *
 * Up to the last event, time is to scale.  If nothing has happened for long since then, the rest up to the
 * look is a strip of fixed width with its own scale, so that a hang of hours leaves the calls before it
 * visible.  Polling makes no events: the history of a rank that polls only reaches back over its last calls
 * of MPI_Test.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/history.h"
#include "report/print.h"

enum {
    MOST_RANKS = 24,
    MOST_LANES = 32,
    MOST_CALLS = 40, /* of most lanes: the time shown begins there */
    WIDTH = 1080,
    LEFT = 96,
    RIGHT = 8,
    TOP = 34,
    LANE = 26,
    BAR = 20,
    STRIP = 190, /* of the time since the last event */
    LETTER = 7,
    MOST_ALONE = 8,      /* ranks of a job in which each has its own lane */
    MOST_MESSAGES = 200, /* lines from lane to lane */
};

/* The strip is for a pause that would take more than this share of the picture. */
#define MOST_PAUSE 0.3

struct lane {
    const struct mpiq_history *history;
    uint32_t process;
    const struct mpiq_rank_set *alike; /* ranks that do the same now, this one among them; NULL: none */
    int32_t tid;
    bool several; /* its rank has other lanes */
    bool polls;   /* it has done nothing else for as long as its history reaches */
};

struct drawing {
    struct mpiq_page *page;
    struct mpiq_history histories[MOST_RANKS];
    size_t history_count;
    struct lane lanes[MOST_LANES];
    size_t lane_count;
    struct mpiq_behaviours classes;
    uint32_t left_out; /* ranks */
    int64_t start, last, look;
    bool strip;
    double plot; /* pixels from `start` to `last` (to `look` without a strip) */
};

/* ---- what to show ------------------------------------------------------------------------------------ */

static bool polls(const struct lane *lane)
{
    enum { ENOUGH = 32 };
    size_t count = 0;
    for (size_t i = 0; i < lane->history->count; i++) {
        const struct mpiq_history_call *call = &lane->history->calls[i];
        if (call->tid == lane->tid && !mpiq_is_poll(call->call))
            return false;
        count += call->tid == lane->tid;
    }
    return count >= ENOUGH;
}

static void add_lanes(struct drawing *d, const struct mpiq_history *history, uint32_t process)
{
    size_t first = d->lane_count;
    for (size_t i = history->count; i-- > 0 && d->lane_count < MOST_LANES;) {
        size_t lane = first;
        while (lane < d->lane_count && d->lanes[lane].tid != history->calls[i].tid)
            lane++;
        if (lane == d->lane_count)
            d->lanes[d->lane_count++] =
                (struct lane){.history = history, .process = process, .tid = history->calls[i].tid};
    }
    for (size_t lane = first; lane < d->lane_count; lane++) {
        d->lanes[lane].several = d->lane_count - first > 1;
        d->lanes[lane].polls = polls(&d->lanes[lane]);
    }
}

/* Whether a rank has something to show, and is a suspect or is not, as asked for. */
static bool wanted(const struct drawing *d, const struct mpiq_rank_set *suspects, uint32_t process,
                   bool suspect)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(d->page->job, process);
    struct mpiq_world_rank name = mpiq_job_world_rank(d->page->job, process);
    return rank && rank->past_count > 0 && mpiq_page_wants(d->page, process) &&
           mpiq_rank_set_contains(suspects, name.world, name.rank) == suspect;
}

static bool add_history(struct drawing *d, uint32_t process, const struct mpiq_rank_set *alike)
{
    struct mpiq_history *history = &d->histories[d->history_count++];
    size_t first = d->lane_count;
    if (!mpiq_history_collect(d->page, process, history))
        return false;
    add_lanes(d, history, process);
    for (size_t lane = first; lane < d->lane_count; lane++)
        d->lanes[lane].alike = alike;
    return true;
}

/* Those that were asked for, in their order. */
static bool choose_asked(struct drawing *d)
{
    for (uint32_t process = 0; process < d->page->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(d->page->job, process);
        if (!rank || rank->past_count == 0 || !mpiq_history_wanted(d->page, process))
            continue;
        if (d->history_count == MOST_RANKS)
            d->left_out++;
        else if (!add_history(d, process, NULL))
            return false;
    }
    return true;
}

/* In a small job each of the others. */
static bool choose_each(struct drawing *d, const struct mpiq_rank_set *suspects)
{
    for (uint32_t process = 0; process < d->page->job->process_count; process++) {
        if (wanted(d, suspects, process, false) && !add_history(d, process, NULL))
            return false;
    }
    return true;
}

/* The suspects; of the others the first one of each class that has a history. */
static bool choose(struct drawing *d)
{
    const struct mpiq_rank_set *asked = d->page->options->history;
    if (asked && asked->size > 0)
        return choose_asked(d);
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    if (!mpiq_page_suspects(d->page, &suspects) || !mpiq_behaviours_collect(d->page, &suspects, &d->classes))
        return false;
    for (uint32_t process = 0; process < d->page->job->process_count; process++) {
        if (!wanted(d, &suspects, process, true))
            continue;
        if (d->history_count == MOST_RANKS / 2)
            d->left_out++;
        else if (!add_history(d, process, NULL))
            return false;
    }
    if (d->page->job->process_count <= MOST_ALONE)
        return choose_each(d, &suspects);
    for (size_t i = 0; i < d->classes.count; i++) {
        const struct mpiq_rank_set *ranks = &d->classes.items[i].ranks;
        uint32_t process = MPIQ_NONE;
        for (uint32_t k = 0; k < ranks->count && process == MPIQ_NONE; k++) {
            for (uint64_t rank = ranks->ranges[k].first; rank <= ranks->ranges[k].last; rank++) {
                uint32_t one = mpiq_job_process(d->page->job, ranks->ranges[k].world, (uint32_t)rank);
                if (one == MPIQ_NONE || !wanted(d, &suspects, one, false))
                    continue;
                process = one;
                break;
            }
        }
        if (process == MPIQ_NONE)
            continue;
        if (d->history_count == MOST_RANKS)
            d->left_out += (uint32_t)ranks->size;
        else if (!add_history(d, process, ranks->size > 1 ? ranks : NULL))
            return false;
    }
    return true;
}

static int64_t end_of(const struct mpiq_history_call *call)
{
    return call->end_ns > call->begin_ns ? call->end_ns : call->begin_ns;
}

/* Where a lane's newest calls begin: MPI_Init is long, and of no interest. */
static int64_t lane_start(const struct lane *lane)
{
    int64_t start = INT64_MAX;
    size_t seen = 0;
    for (size_t i = lane->history->count; i-- > 0 && seen < MOST_CALLS;) {
        const struct mpiq_history_call *call = &lane->history->calls[i];
        if (call->tid != lane->tid)
            continue;
        seen++;
        start = strncmp(call->call, "MPI_Init", strlen("MPI_Init")) == 0 ? end_of(call) : call->begin_ns;
    }
    return start;
}

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* From all lanes, or from those alone that do not only poll; false if there are none. */
static bool choose_from(struct drawing *d, bool all)
{
    int64_t starts[MOST_LANES];
    size_t count = 0;
    for (size_t i = 0; i < d->lane_count; i++) {
        const struct mpiq_history *history = d->lanes[i].history;
        if (d->lanes[i].polls && !all)
            continue;
        starts[count++] = lane_start(&d->lanes[i]);
        for (size_t j = 0; j < history->count; j++)
            d->last = end_of(&history->calls[j]) > d->last ? end_of(&history->calls[j]) : d->last;
    }
    if (count == 0)
        return false;
    qsort(starts, count, sizeof *starts, compare_times);
    d->start = starts[count / 2];
    return true;
}

static void choose_times(struct drawing *d)
{
    if (!choose_from(d, false))
        choose_from(d, true);
    for (size_t i = 0; i < d->lane_count; i++)
        d->look = d->lanes[i].history->taken_ns > d->look ? d->lanes[i].history->taken_ns : d->look;
    if (d->start >= d->last)
        d->start = d->last - 1000;
    d->strip = (double)(d->look - d->last) > MOST_PAUSE * (double)(d->look - d->start);
    d->plot = WIDTH - LEFT - RIGHT - (d->strip ? STRIP : 0);
}

/* ---- drawing ----------------------------------------------------------------------------------------- */

static double x_of(const struct drawing *d, int64_t time)
{
    int64_t begin = d->start;
    int64_t end = d->strip ? d->last : d->look;
    double left = LEFT;
    double width = d->plot;
    if (d->strip && time > d->last) {
        begin = d->last;
        end = d->look;
        left = WIDTH - RIGHT - STRIP;
        width = STRIP;
    }
    double share = end > begin ? (double)(time - begin) / (double)(end - begin) : 0;
    return left + fmin(fmax(share, 0), 1) * width;
}

static void put_escaped(struct drawing *d, struct mpiq_buffer *text)
{
    mpiq_put_escaped(&d->page->out, MPIQ_ESCAPE_HTML, mpiq_buffer_text(text));
    text->length = 0;
}

static void put_text(struct drawing *d, const char *class, double x, double y, struct mpiq_buffer *text)
{
    mpiq_buffer_printf(&d->page->out, "<text class=\"%s\" x=\"%ld\" y=\"%ld\">", class, lround(x), lround(y));
    put_escaped(d, text);
    mpiq_buffer_string(&d->page->out, "</text>\n");
}

/* Calls that are too short to be told apart stand together: those of one kind are one bar. */
struct bar {
    const struct mpiq_history_call *call; /* the first one */
    size_t count;
    double left, right;
    enum mpiq_history_kind kind;
};

static void put_title(struct drawing *d, const struct lane *lane, const struct bar *bar)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    if (bar->count > 1)
        mpiq_buffer_printf(&text, "%zu calls, the first: ", bar->count);
    mpiq_put_history_call(d->page, &text, lane->history, bar->call);
    mpiq_buffer_string(&d->page->out, "<title>");
    put_escaped(d, &text);
    mpiq_buffer_string(&d->page->out, "</title>");
}

static void put_bar(struct drawing *d, const struct lane *lane, const struct bar *bar, double y)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    const struct mpiq_rank_diagnosis *rank = &d->page->diagnosis->ranks[lane->process];
    bool stuck = bar->call->open && rank->stuck;
    const char *name = bar->call->call;
    name += strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
    double width = bar->right - bar->left;
    long left = lround(bar->left); /* whole numbers: the same bytes in every locale */
    long right = lround(bar->right) > left ? lround(bar->right) : left + 1;
    mpiq_buffer_printf(&d->page->out,
                       "<rect class=\"call k%d%s\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%d\" rx=\"2\">",
                       (int)bar->kind, stuck ? " stuck" : "", left, lround(y), right - left, BAR);
    put_title(d, lane, bar);
    mpiq_buffer_string(&d->page->out, "</rect>\n");
    if (bar->count > 1 || width < (double)(strlen(name) * LETTER + 8))
        return;
    mpiq_put_plain(&text, name);
    /* Of a call that has not returned, the name stands where the hang is. */
    double strip = WIDTH - RIGHT - STRIP;
    bool inside = bar->call->open && d->strip && bar->left < strip;
    put_text(d, "in", inside ? strip + 8 : bar->left + 5, y + 14, &text);
}

static void place(const struct drawing *d, const struct mpiq_history_call *call, struct bar *bar)
{
    *bar = (struct bar){.call = call, .count = 1, .kind = mpiq_history_kind_of(call->call)};
    bar->left = x_of(d, call->begin_ns);
    bar->right = call->open ? WIDTH - RIGHT : x_of(d, end_of(call));
    bar->left = fmin(bar->left, WIDTH - RIGHT - 1.5);
    bar->right = fmax(bar->right, bar->left + 1.5);
}

static void put_lane_name(struct drawing *d, const struct lane *lane, const struct mpiq_rank_set *suspects,
                          double y)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    struct mpiq_world_rank name = mpiq_job_world_rank(d->page->job, lane->process);
    bool suspect = mpiq_rank_set_contains(suspects, name.world, name.rank);
    mpiq_buffer_string(&text, lane->several ? "" : "rank ");
    mpiq_put_process(d->page->job, &text, lane->process);
    if (lane->several)
        mpiq_buffer_printf(&text, ", thread %d", lane->tid);
    else if (lane->alike)
        mpiq_buffer_printf(&text, " (of %llu)", (unsigned long long)lane->alike->size);
    put_text(d, suspect ? "lane suspect" : "lane", LEFT - 8, y + 14, &text);
}

/* A rank that does not stand in a call: what it does instead, where the hang is. */
static void put_activity(struct drawing *d, const struct lane *lane, double y)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    const struct mpiq_rank_diagnosis *rank = &d->page->diagnosis->ranks[lane->process];
    if (!d->strip)
        return;
    mpiq_put_plain(&text, mpiq_rank_activity_word(rank->activity));
    put_text(d, "activity", WIDTH - RIGHT - STRIP + 8, y + 14, &text);
}

/* Before its oldest call nothing is known: the lane begins there. */
static void put_floor(struct drawing *d, const struct lane *lane, double y)
{
    double left = WIDTH - RIGHT;
    for (size_t i = lane->history->count; i-- > 0;) {
        if (lane->history->calls[i].tid == lane->tid)
            left = fmin(left, x_of(d, lane->history->calls[i].begin_ns));
    }
    mpiq_buffer_printf(&d->page->out,
                       "<rect class=\"floor\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%d\"/>\n",
                       lround(left), lround(y), lround(WIDTH - RIGHT - left), BAR);
}

static void put_lane(struct drawing *d, size_t index, const struct mpiq_rank_set *suspects)
{
    const struct lane *lane = &d->lanes[index];
    double y = TOP + (double)index * LANE;
    struct bar bar = {0};
    bool open = false;
    put_floor(d, lane, y);
    put_lane_name(d, lane, suspects, y);
    for (size_t i = 0; i < lane->history->count; i++) {
        const struct mpiq_history_call *call = &lane->history->calls[i];
        struct bar next;
        if (call->tid != lane->tid || (!call->open && end_of(call) < d->start))
            continue;
        place(d, call, &next);
        open |= call->open && next.right - next.left > BAR;
        if (bar.call && next.kind == bar.kind && !call->open && next.right - next.left < 2.5 &&
            next.left - bar.right < 1) {
            bar.right = fmax(bar.right, next.right);
            bar.count++;
            continue;
        }
        if (bar.call)
            put_bar(d, lane, &bar, y);
        bar = next;
    }
    if (bar.call)
        put_bar(d, lane, &bar, y);
    if (!open)
        put_activity(d, lane, y);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

/* The lane that has a past call, and the call in it; false: none has. */
static bool find_call(const struct drawing *d, uint32_t process, uint32_t past, size_t *lane,
                      const struct mpiq_history_call **ret)
{
    for (size_t i = 0; i < d->lane_count; i++) {
        const struct mpiq_history *history = d->lanes[i].history;
        for (size_t k = 0; d->lanes[i].process == process && k < history->count; k++) {
            if (history->calls[k].past != past || history->calls[k].tid != d->lanes[i].tid)
                continue;
            *lane = i;
            *ret = &history->calls[k];
            return true;
        }
    }
    return false;
}

/* From where a send begins to where the receive ends; one that was posted before has ended when nobody knows.
 */
static bool put_message(struct drawing *d, size_t from, const struct mpiq_history_call *send)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    const struct mpiq_history_call *receive;
    size_t to;
    if (send->begin_ns < d->start || !find_call(d, send->peer, send->partner, &to, &receive))
        return false;
    double down = to > from ? BAR : 0;
    int64_t taken = end_of(receive) > send->begin_ns ? end_of(receive) : send->begin_ns;
    mpiq_buffer_printf(&d->page->out,
                       "<path class=\"message\" marker-end=\"url(#message-head)\" d=\"M%ld,%ld L%ld,%ld\">",
                       lround(x_of(d, send->begin_ns)), lround(TOP + (double)from * LANE + down),
                       lround(x_of(d, taken)), lround(TOP + (double)to * LANE + BAR - down));
    mpiq_buffer_printf(&text, "tag %d from rank ", send->tag);
    mpiq_put_process(d->page->job, &text, d->lanes[from].process);
    mpiq_buffer_string(&text, " to rank ");
    mpiq_put_process(d->page->job, &text, send->peer);
    mpiq_buffer_string(&d->page->out, "<title>");
    put_escaped(d, &text);
    mpiq_buffer_string(&d->page->out, "</title></path>\n");
    return true;
}

/* The newest ones between the lanes, of which there are at most so many. */
static void put_messages(struct drawing *d)
{
    size_t count = 0;
    for (size_t lane = 0; lane < d->lane_count; lane++) {
        const struct mpiq_history *history = d->lanes[lane].history;
        for (size_t i = history->count; i-- > 0 && count < MOST_MESSAGES;) {
            const struct mpiq_history_call *call = &history->calls[i];
            bool sends = call->tid == d->lanes[lane].tid &&
                         mpiq_history_kind_of(call->call) == MPIQ_HISTORY_SEND &&
                         call->partner < MPIQ_PAST_UNRECEIVED;
            count += sends && put_message(d, lane, call);
        }
    }
}

/* 1, 2 or 5 times a power of ten: a distance of marks of which there are a handful. */
static double step_of(double seconds)
{
    double raw = seconds / 6;
    double power = pow(10, floor(log10(raw)));
    double share = raw / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static void put_line(struct drawing *d, const char *class, double x, double bottom)
{
    mpiq_buffer_printf(&d->page->out, "<path class=\"%s\" d=\"M%ld,%dV%ld\"/>\n", class, lround(x), TOP - 4,
                       lround(bottom));
}

/* Marks count backwards from the last event, or from the look where the time is to scale up to there. */
static void put_axis(struct drawing *d, double bottom)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    int64_t zero = d->strip ? d->last : d->look;
    double span = (double)(zero - d->start) * 1e-9;
    double step = step_of(span);
    for (int i = 1; i * step < span * 0.98; i++) {
        double x = x_of(d, zero - (int64_t)(i * step * 1e9));
        put_line(d, "mark", x, bottom + 4);
        mpiq_put_span(&text, i * step);
        mpiq_buffer_string(&text, " before");
        put_text(d, "time", x, bottom + 18, &text);
    }
    if (d->strip) {
        put_line(d, "break", WIDTH - RIGHT - STRIP, bottom + 6);
        mpiq_buffer_string(&text, "then nothing for ");
        mpiq_put_span(&text, (double)(d->look - d->last) * 1e-9);
        put_text(d, "time", WIDTH - RIGHT - STRIP / 2.0, bottom + 18, &text);
    } else {
        mpiq_buffer_string(&text, "now");
        put_text(d, "time", WIDTH - RIGHT - 14, bottom + 18, &text);
    }
}

static void put_legend(struct drawing *d)
{
    static const char *const words[MPIQ_HISTORY_KIND_COUNT] = {
#define WORD(id, words) [MPIQ_HISTORY_##id] = (words),
        MPIQ_HISTORY_KINDS(WORD)
#undef WORD
    };
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&d->page->out);
    double x = LEFT;
    for (int kind = 0; kind < MPIQ_HISTORY_KIND_COUNT; kind++) {
        mpiq_buffer_printf(
            &d->page->out,
            "<rect class=\"call k%d\" x=\"%ld\" y=\"4\" width=\"12\" height=\"12\" rx=\"2\"/>\n", kind,
            lround(x));
        mpiq_buffer_string(&text, words[kind]);
        put_text(d, "key", x + 17, 14, &text);
        x += 17 + (double)strlen(words[kind]) * LETTER + 18;
    }
}

static void draw(struct drawing *d)
{
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    double bottom = TOP + (double)d->lane_count * LANE;
    d->page->out.failed |= !mpiq_page_suspects(d->page, &suspects);
    mpiq_buffer_printf(
        &d->page->out,
        "<div class=\"scroll\"><svg class=\"history\" data-left=\"%d\" viewBox=\"0 0 %d %ld\" width=\"%d\" "
        "height=\"%ld\" role=\"img\" aria-labelledby=\"time-title\">\n",
        LEFT, WIDTH, lround(bottom + 26), WIDTH, lround(bottom + 26));
    mpiq_buffer_string(&d->page->out, "<g class=\"fixed\">\n");
    put_legend(d);
    mpiq_buffer_string(&d->page->out, "</g>\n");
    mpiq_buffer_string(&d->page->out,
                       "<defs><marker id=\"message-head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" "
                       "markerWidth=\"6\" markerHeight=\"6\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                       "<path class=\"message-head fixed\" d=\"M0,0 10,5 0,10z\"/></marker></defs>\n");
    for (size_t i = 0; i < d->lane_count; i++)
        put_lane(d, i, &suspects);
    put_messages(d);
    put_axis(d, bottom);
    mpiq_buffer_string(&d->page->out, "</svg></div>\n");
}

void mpiq_put_history_svg(struct mpiq_page *page)
{
    struct drawing *d _cleanup_free_ = calloc(1, sizeof *d);
    if (!d) {
        page->out.failed = true;
        return;
    }
    bool folded = false;
    d->page = page;
    page->out.failed |= !choose(d);
    if (!page->out.failed && d->lane_count > 0) {
        choose_times(d);
        mpiq_buffer_string(&page->out,
                           "<section id=\"time\">\n<h2 id=\"time-title\">The last MPI calls</h2>\n");
        for (size_t i = 0; i < d->lane_count; i++)
            folded |= d->lanes[i].alike != NULL;
        if (folded)
            mpiq_buffer_string(&page->out,
                               "<p class=\"small\">Of ranks that do the same now, the first one's calls "
                               "are shown.</p>\n");
        draw(d);
        if (d->left_out > 0)
            mpiq_print(page, 2, "%u more ranks have a history: --ranks LIST shows those of some ranks",
                       d->left_out);
        mpiq_buffer_string(&page->out, "</section>\n");
    }
    for (size_t i = 0; i < d->history_count; i++)
        mpiq_history_deinit(&d->histories[i]);
    mpiq_behaviours_deinit(&d->classes);
}
