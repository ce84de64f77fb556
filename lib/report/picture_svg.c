/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/picture_svg.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/picture_layout.h"

/* Pixels. */
enum {
    LETTER = 7,
    LINE = 17,
    LEAST_GAP = 70,
    BEND = 26, /* how far an edge bows out where the one back does so on the other side */
    HEAD = 7,  /* before a box */
    NODE_LINES = 3,
    MOST_WITH_FUNCTION = 6 /* ranks of a circle: the boxes of a longer one are narrow */
};

struct drawing {
    const struct mpiq_page *page;
    const struct mpiq_wait_picture *picture;
    struct mpiq_buffer *out;
    struct mpiq_buffer labels; /* stand on top of all */
    struct mpiq_layout layout;
    bool other_comm; /* not all is on MPI_COMM_WORLD: the edges say where */
};

static bool is_world(const struct mpiq_page *page, uint32_t comm)
{
    return comm == MPIQ_NONE || strcmp(mpiq_job_communicator_name(page->job, comm), "MPI_COMM_WORLD") == 0;
}

void mpiq_put_edge_words(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                         const struct mpiq_picture_edge *edge)
{
    mpiq_buffer_string(buffer, edge->label);
    mpiq_buffer_string(buffer, edge->more ? " and more" : "");
    if (edge->comm == MPIQ_NONE)
        return;
    mpiq_buffer_string(buffer, " on ");
    mpiq_put_communicator(page->job, buffer, edge->comm);
}

/* ---- boxes -------------------------------------------------------------------------------------------- */

/* The lines of a node's label: who, what they do, where. */
static void put_node_line(const struct drawing *d, size_t node, int line, struct mpiq_buffer *text)
{
    const struct mpiq_rank_diagnosis *rank = d->picture->nodes[node].example;
    text->length = 0;
    if (line == 0)
        mpiq_put_who(text, &d->picture->nodes[node].ranks, 3);
    else if (!rank)
        mpiq_buffer_string(text, line == 1 ? "in other places" : "");
    else if (line == 1)
        mpiq_put_plain(text, rank->call           ? rank->call
                             : rank->library_call ? rank->library_call
                                                  : mpiq_rank_activity_word(rank->activity));
    else if (d->picture->circle_count <= MOST_WITH_FUNCTION)
        mpiq_put_site(d->page->job, text, rank->site);
    else if (rank->site != MPIQ_NONE)
        mpiq_put_place(text, mpiq_job_string(d->page->job, d->page->job->sites[rank->site].file),
                       d->page->job->sites[rank->site].line, NULL, NULL);
}

static void measure_node(struct drawing *d, size_t node)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    size_t widest = 0;
    for (int line = 0; line < NODE_LINES; line++) {
        put_node_line(d, node, line, &text);
        widest = text.length > widest ? text.length : widest;
    }
    d->layout.boxes[node].half_width = (double)(widest * LETTER) / 2 + 12;
    d->layout.boxes[node].half_height = NODE_LINES * LINE / 2.0 + 8;
}

static void put_node(struct drawing *d, size_t node)
{
    const struct mpiq_picture_node *what = &d->picture->nodes[node];
    const struct mpiq_box *box = &d->layout.boxes[node];
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    mpiq_buffer_printf(
        d->out, "<g class=\"node%s%s\"><rect x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%ld\" rx=\"8\"/>\n",
        what->circle ? " circle" : "", what->suspect ? " suspect" : "",
        lround(box->middle.x - box->half_width), lround(box->middle.y - box->half_height),
        lround(2 * box->half_width), lround(2 * box->half_height));
    for (int line = 0; line < NODE_LINES; line++) {
        put_node_line(d, node, line, &text);
        if (text.length == 0)
            continue;
        mpiq_buffer_printf(d->out, "<text class=\"%s\" x=\"%ld\" y=\"%ld\">", line == 0 ? "name" : "what",
                           lround(box->middle.x), lround(box->middle.y + (line - 1) * LINE + 5));
        mpiq_put_escaped(d->out, MPIQ_ESCAPE_HTML, mpiq_buffer_text(&text));
        mpiq_buffer_string(d->out, "</text>\n");
    }
    mpiq_buffer_string(d->out, "</g>\n");
}

/* ---- edges -------------------------------------------------------------------------------------------- */

static const struct mpiq_box *box_of(const struct drawing *d, uint32_t node)
{
    return node == MPIQ_PICTURE_ALL_OF_CIRCLE ? &d->layout.frame : &d->layout.boxes[node];
}

/* Where the line from the middle of a box towards a point leaves it, a little outside. */
static struct mpiq_point border(const struct mpiq_box *box, struct mpiq_point towards, double outside)
{
    double dx = towards.x - box->middle.x;
    double dy = towards.y - box->middle.y;
    double length = hypot(dx, dy);
    if (length < 1)
        return box->middle;
    double share = fmin(fabs(dx) > 0 ? box->half_width / fabs(dx) : HUGE_VAL,
                        fabs(dy) > 0 ? box->half_height / fabs(dy) : HUGE_VAL);
    share = fmin(share + outside / length, 1);
    return (struct mpiq_point){box->middle.x + dx * share, box->middle.y + dy * share};
}

static void put_point(struct mpiq_buffer *out, struct mpiq_point point)
{
    mpiq_buffer_printf(out, " %ld,%ld", lround(point.x), lround(point.y));
}

/* "tag 7", and below it the communicator. */
static void put_label(struct drawing *d, struct mpiq_point at, const struct mpiq_picture_edge *edge)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    for (int line = 0; line < 2; line++) {
        text.length = 0;
        if (line == 0) {
            mpiq_buffer_string(&text, edge->label);
            mpiq_buffer_string(&text, edge->more ? " +" : "");
        } else if (d->other_comm && edge->comm != MPIQ_NONE) {
            mpiq_put_communicator(d->page->job, &text, edge->comm);
        }
        if (text.length == 0)
            continue;
        mpiq_buffer_printf(&d->labels, "<text class=\"label\" x=\"%ld\" y=\"%ld\">", lround(at.x),
                           lround(at.y + line * 14));
        mpiq_put_escaped(&d->labels, MPIQ_ESCAPE_HTML, mpiq_buffer_text(&text));
        mpiq_buffer_string(&d->labels, "</text>\n");
    }
}

static void begin_path(struct drawing *d, const struct mpiq_picture_edge *edge, struct mpiq_point begin)
{
    static const char *const classes[] = {
        [MPIQ_LINE_WAIT] = "edge", [MPIQ_LINE_CIRCLE] = "edge circle", [MPIQ_LINE_STRAY] = "edge stray"};
    static const char *const heads[] = {
        [MPIQ_LINE_WAIT] = "head", [MPIQ_LINE_CIRCLE] = "circle-head", [MPIQ_LINE_STRAY] = "stray-head"};
    mpiq_buffer_printf(d->out, "<path class=\"%s\" marker-end=\"url(#%s)\" d=\"M", classes[edge->line],
                       heads[edge->line]);
    put_point(d->out, begin);
}

/* A node that waits for itself: a loop above it. */
static void put_loop(struct drawing *d, const struct mpiq_picture_edge *edge)
{
    const struct mpiq_box *box = &d->layout.boxes[edge->from];
    double top = box->middle.y - box->half_height;
    begin_path(d, edge, (struct mpiq_point){box->middle.x - 18, top});
    mpiq_buffer_char(d->out, 'C');
    put_point(d->out, (struct mpiq_point){box->middle.x - 46, top - 44});
    put_point(d->out, (struct mpiq_point){box->middle.x + 46, top - 44});
    put_point(d->out, (struct mpiq_point){box->middle.x + 18, top - HEAD});
    mpiq_buffer_string(d->out, "\"/>\n");
    put_label(d, (struct mpiq_point){box->middle.x, top - 38}, edge);
}

/* From the last rank of a ring of several rows around its left side up to the first one. */
static void put_around(struct drawing *d, const struct mpiq_picture_edge *edge)
{
    const struct mpiq_box *from = &d->layout.boxes[edge->from];
    const struct mpiq_box *to = &d->layout.boxes[edge->to];
    double left = to->middle.x - to->half_width - 28;
    begin_path(d, edge, (struct mpiq_point){from->middle.x - from->half_width, from->middle.y});
    mpiq_buffer_printf(d->out, "H %ld V %ld H %ld\"/>\n", lround(left), lround(to->middle.y),
                       lround(to->middle.x - to->half_width - HEAD));
    put_label(d, (struct mpiq_point){left + 6, (from->middle.y + to->middle.y) / 2}, edge);
}

static bool has_edge(const struct mpiq_wait_picture *picture, uint32_t from, uint32_t to,
                     const struct mpiq_picture_edge *but)
{
    for (size_t i = 0; i < picture->edge_count; i++) {
        const struct mpiq_picture_edge *edge = &picture->edges[i];
        bool same = (edge->from == from && edge->to == to) || (edge->from == to && edge->to == from);
        if (same && edge != but)
            return true;
    }
    return false;
}

/* Straight, or a curve that bows out to its left where another one goes between the same boxes. */
static void put_edge(struct drawing *d, const struct mpiq_picture_edge *edge)
{
    size_t last = d->picture->circle_count;
    if (edge->from == edge->to) {
        put_loop(d, edge);
        return;
    }
    if (d->layout.around && edge->line == MPIQ_LINE_CIRCLE && edge->to == 0 && edge->from + 1 == last) {
        put_around(d, edge);
        return;
    }
    const struct mpiq_box *from = box_of(d, edge->from);
    const struct mpiq_box *to = box_of(d, edge->to);
    double dx = to->middle.x - from->middle.x;
    double dy = to->middle.y - from->middle.y;
    double length = fmax(hypot(dx, dy), 1);
    double bend = has_edge(d->picture, edge->from, edge->to, edge) ? BEND : 0;
    bend = edge->line == MPIQ_LINE_STRAY ? 2.2 * BEND : bend;
    struct mpiq_point bow = {(from->middle.x + to->middle.x) / 2 + dy / length * bend * 2,
                             (from->middle.y + to->middle.y) / 2 - dx / length * bend * 2};
    struct mpiq_point begin = border(from, bow, 0);
    struct mpiq_point end = border(to, bow, HEAD);
    begin_path(d, edge, begin);
    mpiq_buffer_char(d->out, 'Q');
    put_point(d->out, bow);
    put_point(d->out, end);
    mpiq_buffer_string(d->out, "\"/>\n");
    /* In the middle of the curve; nearer to its beginning where several end at one box. */
    bool group = !d->picture->nodes[edge->from].circle;
    double t = group ? 0.4 : 0.5;
    struct mpiq_point at = {begin.x * (1 - t) * (1 - t) + 2 * bow.x * t * (1 - t) + end.x * t * t,
                            begin.y * (1 - t) * (1 - t) + 2 * bow.y * t * (1 - t) + end.y * t * t +
                                (fabs(dx) > 3 * fabs(dy) ? -6 : 4)};
    put_label(d, at, edge);
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static void put_head(struct mpiq_buffer *out, const char *id)
{
    mpiq_buffer_printf(out,
                       "<marker id=\"%s\" viewBox=\"0 0 10 10\" refX=\"4\" refY=\"5\" markerWidth=\"9\" "
                       "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"%s\" "
                       "d=\"M0,0 10,5 0,10z\"/></marker>\n",
                       id, id);
}

static void measure(struct drawing *d)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    size_t widest = 0;
    for (size_t i = 0; i < d->picture->edge_count; i++)
        d->other_comm |= !is_world(d->page, d->picture->edges[i].comm);
    for (size_t i = 0; i < d->picture->node_count; i++)
        measure_node(d, i);
    for (size_t i = 0; i < d->picture->edge_count; i++) {
        const struct mpiq_picture_edge *edge = &d->picture->edges[i];
        text.length = 0;
        if (d->other_comm && edge->comm != MPIQ_NONE)
            mpiq_put_communicator(d->page->job, &text, edge->comm);
        size_t label = strlen(edge->label) + (edge->more ? 2 : 0);
        widest = label > widest ? label : widest;
        widest = text.length > widest ? text.length : widest;
    }
    d->layout.gap = fmin(fmax((double)widest * LETTER + 30, LEAST_GAP), 260);
}

void mpiq_put_picture_svg(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                          const struct mpiq_wait_picture *picture)
{
    struct drawing d = {.page = page, .picture = picture, .out = buffer, .labels = mpiq_buffer_part(buffer)};
    if (picture->edge_count == 0)
        return;
    measure(&d);
    mpiq_layout_place(&d.layout, picture);
    mpiq_buffer_printf(buffer,
                       "<div class=\"scroll\"><svg class=\"waits\" viewBox=\"0 0 %ld %ld\" width=\"%ld\" "
                       "height=\"%ld\" role=\"img\" aria-labelledby=\"waits-title\">\n"
                       "<defs>\n",
                       lround(d.layout.width), lround(d.layout.height), lround(d.layout.width),
                       lround(d.layout.height));
    put_head(buffer, "head");
    put_head(buffer, "circle-head");
    put_head(buffer, "stray-head");
    mpiq_buffer_string(buffer, "</defs>\n");
    for (size_t i = 0; i < picture->edge_count; i++) {
        const struct mpiq_box *frame = &d.layout.frame;
        if (picture->edges[i].to != MPIQ_PICTURE_ALL_OF_CIRCLE)
            continue;
        mpiq_buffer_printf(
            buffer, "<rect class=\"frame\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%ld\" rx=\"14\"/>\n",
            lround(frame->middle.x - frame->half_width), lround(frame->middle.y - frame->half_height),
            lround(2 * frame->half_width), lround(2 * frame->half_height));
        break;
    }
    /* Lines end beneath the boxes, and no line crosses out a label. */
    for (size_t i = 0; i < picture->edge_count; i++)
        put_edge(&d, &picture->edges[i]);
    for (size_t i = 0; i < picture->node_count; i++)
        put_node(&d, i);
    mpiq_buffer_string(buffer, mpiq_buffer_text(&d.labels));
    mpiq_buffer_deinit(&d.labels);
    mpiq_buffer_string(buffer, "</svg></div>\n");
    if (!d.other_comm)
        mpiq_buffer_string(buffer, "<p class=\"small\">All of this is on MPI_COMM_WORLD.</p>\n");
}
