/* SPDX-License-Identifier: BSD-3-Clause */
/* The time lost waiting as a page: what the text says, and a lane of each rank over time. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/history.h"
#include "report/late_private.h"
#include "report/views.h"

enum { LEFT = 80, WIDTH = 1080, TOP = 28, LANE = 26, BAR = 22, MARKS = 6 };

/* Less than this of a part is not drawn. */
static const double least = 0.01;

static int compare_ranks(const void *left, const void *right)
{
    const struct mpiq_late_lane *a = left;
    const struct mpiq_late_lane *b = right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Parts of the trace that have something in them: the last one ends at the trace's end. */
static unsigned bins_of(const struct mpiq_late_report *report)
{
    double width = report->lanes[0].width;
    double bins = width > 0 ? ceil(report->seconds / width) : MPIQ_LATE_BINS;
    return bins >= 1 && bins <= MPIQ_LATE_BINS ? (unsigned)bins : MPIQ_LATE_BINS;
}

static long x_of(unsigned bin, unsigned bins)
{
    return LEFT + lround((double)(WIDTH - LEFT) * bin / bins);
}

/* One part: its height is the share of its time. */
static void put_bar(struct mpiq_page *page, const struct mpiq_late_lane *lane, unsigned bin, unsigned bins,
                    long y, bool caused)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    double seconds = caused ? lane->caused[bin] : lane->waited[bin];
    double share = lane->width > 0 ? seconds / lane->width : 0;
    if (share < least)
        return;
    long height = lround(fmin(share, 1) * BAR);
    height = height < 1 ? 1 : height;
    mpiq_buffer_printf(&text, "rank %u, ", lane->rank);
    mpiq_put_span(&text, bin * lane->width);
    mpiq_buffer_string(&text, " after the start: ");
    mpiq_buffer_string(&text, caused ? "others waited " : "waited ");
    mpiq_put_span(&text, seconds);
    mpiq_buffer_string(&text, caused ? " for it, of " : " of ");
    mpiq_put_span(&text, lane->width);
    /* Waiting grows from the bottom, what it costs others from the top. */
    mpiq_buffer_printf(&page->out,
                       "<rect class=\"%s\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%ld\"><title>",
                       caused ? "caused" : "waited", x_of(bin, bins), caused ? y : y + BAR - height,
                       x_of(bin + 1, bins) - x_of(bin, bins), height);
    mpiq_put_escaped(&page->out, MPIQ_ESCAPE_HTML, mpiq_buffer_text(&text));
    mpiq_buffer_string(&page->out, "</title></rect>\n");
}

static void put_lane(struct mpiq_page *page, const struct mpiq_late_lane *lane, unsigned bins, long y)
{
    mpiq_buffer_printf(&page->out,
                       "<rect class=\"floor\" x=\"%d\" y=\"%ld\" width=\"%d\" height=\"%d\"/>\n"
                       "<text class=\"lane\" x=\"%d\" y=\"%ld\">rank %u</text>\n",
                       LEFT, y, WIDTH - LEFT, BAR, LEFT - 8, y + 15, lane->rank);
    for (unsigned bin = 0; bin < bins; bin++) {
        put_bar(page, lane, bin, bins, y, false);
        put_bar(page, lane, bin, bins, y, true);
    }
}

static void put_axis(struct mpiq_page *page, const struct mpiq_late_report *report, unsigned bins,
                     long bottom)
{
    for (unsigned i = 1; i < MARKS; i++) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        unsigned bin = bins * i / MARKS;
        if (bin == 0)
            continue;
        mpiq_put_span(&text, bin * report->lanes[0].width);
        mpiq_buffer_printf(&page->out,
                           "<path class=\"mark\" d=\"M%ld,%dV%ld\"/>\n"
                           "<text class=\"time\" x=\"%ld\" y=\"%ld\">%s</text>\n",
                           x_of(bin, bins), TOP - 4, bottom + 4, x_of(bin, bins), bottom + 18,
                           mpiq_buffer_text(&text));
    }
}

static void put_lanes(struct mpiq_page *page, struct mpiq_late_report *report)
{
    if (report->lane_count == 0)
        return;
    qsort(report->lanes, report->lane_count, sizeof *report->lanes, compare_ranks);
    unsigned bins = bins_of(report);
    long bottom = TOP + (long)report->lane_count * LANE;
    mpiq_buffer_printf(&page->out,
                       "<section id=\"lanes\">\n<h2 id=\"lanes-title\">When they waited</h2>\n"
                       "<div class=\"scroll\"><svg class=\"late\" viewBox=\"0 0 %d %ld\" width=\"%d\" "
                       "height=\"%ld\" role=\"img\" aria-labelledby=\"lanes-title\">\n"
                       "<rect class=\"waited\" x=\"%d\" y=\"4\" width=\"12\" height=\"12\"/>"
                       "<text x=\"%d\" y=\"14\">waits, from the bottom</text>\n"
                       "<rect class=\"caused\" x=\"%d\" y=\"4\" width=\"12\" height=\"12\"/>"
                       "<text x=\"%d\" y=\"14\">others wait for it, from the top</text>\n",
                       WIDTH, bottom + 26, WIDTH, bottom + 26, LEFT, LEFT + 17, LEFT + 190, LEFT + 207);
    for (size_t i = 0; i < report->lane_count; i++)
        put_lane(page, &report->lanes[i], bins, TOP + (long)i * LANE);
    put_axis(page, report, bins, bottom);
    mpiq_buffer_string(&page->out, "</svg></div>\n");
    mpiq_buffer_string(&page->out,
                       "<p class=\"small\">A full bar from the bottom: the rank waits all that time. "
                       "From the top: others wait for it that long in all, or longer.</p>\n");
    if (report->lane_count < report->ranks) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_put_count(&text, report->ranks - report->lane_count, "other rank");
        mpiq_buffer_string(&text, " waited less, or not at all.");
        mpiq_print(page, 0, "%s", mpiq_buffer_text(&text));
    }
    mpiq_buffer_string(&page->out, "</section>\n");
}

void mpiq_html_late(struct mpiq_page *page, struct mpiq_late_report *report)
{
    mpiq_html_begin(page, "late");
    mpiq_buffer_string(&page->out, "<main>\n");
    mpiq_show_late(page, report);
    put_lanes(page, report);
    mpiq_buffer_string(&page->out, "</main>\n</body>\n</html>\n");
}
