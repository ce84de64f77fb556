/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/picture_svg.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/* Pixels. */
#define LETTER 7
#define LINE 17
#define MARGIN 50
#define BEND 40 /* how far an edge bows out: the one back does so on the other side */

struct point {
    double x, y;
};

struct box {
    struct point middle;
    double half_width, half_height;
};

struct drawing {
    const struct mpiq_page *page;
    const struct mpiq_wait_picture *picture;
    struct mpiq_buffer *out;
    struct box boxes[MPIQ_PICTURE_MOST_NODES];
    double width, height;
};

enum { NODE_LINES = 3 };

/* The lines of a node's label: who, what they do, where. */
static void put_node_line(const struct drawing *d, size_t node, int line, struct mpiq_buffer *text)
{
    const struct mpiq_rank_diagnosis *rank = d->picture->nodes[node].example;
    text->length = 0;
    if (line == 0)
        mpiq_put_who(text, &d->picture->nodes[node].ranks, 4);
    else if (line == 1)
        mpiq_put_plain(text, rank->call ? rank->call : mpiq_rank_doing_word(rank->doing));
    else
        mpiq_put_site(d->page, text, rank->site);
}

static void measure_node(struct drawing *d, size_t node)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    size_t widest = 0;
    for (int line = 0; line < NODE_LINES; line++) {
        put_node_line(d, node, line, &text);
        widest = text.length > widest ? text.length : widest;
    }
    d->boxes[node].half_width = (double)(widest * LETTER) / 2 + 12;
    d->boxes[node].half_height = NODE_LINES * LINE / 2.0 + 8;
}

static bool connected(const struct mpiq_wait_picture *picture, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < picture->edge_count; i++) {
        if (picture->edges[i].from == from && picture->edges[i].to == to)
            return true;
    }
    return false;
}

/* Nodes in the order in which they wait for each other: each is followed by one that it waits for, if such a
   one is left. */
static void order_nodes(const struct mpiq_wait_picture *picture, uint32_t order[MPIQ_PICTURE_MOST_NODES])
{
    bool taken[MPIQ_PICTURE_MOST_NODES] = {0};
    uint32_t count = (uint32_t)picture->node_count;
    for (uint32_t place = 0; place < count; place++) {
        uint32_t next = count;
        for (uint32_t i = 0; i < count && place > 0 && next == count; i++) {
            if (!taken[i] && connected(picture, order[place - 1], i))
                next = i;
        }
        for (uint32_t i = 0; i < count && next == count; i++) {
            if (!taken[i])
                next = i;
        }
        order[place] = next;
        taken[next] = true;
    }
}

static void place_nodes(struct drawing *d)
{
    uint32_t order[MPIQ_PICTURE_MOST_NODES];
    size_t count = d->picture->node_count;
    double widest = 0;
    order_nodes(d->picture, order);
    for (size_t i = 0; i < count; i++) {
        measure_node(d, i);
        widest = fmax(widest, d->boxes[i].half_width);
    }
    /* Neighbours on the ellipse do not touch. */
    double across = count < 2 ? 0 : fmax(widest + 110, (double)count * (widest + 24) / 2.6);
    double down = count < 3 ? 0 : fmax(130, (double)count * 32);
    for (size_t i = 0; i < count; i++) {
        double angle = 2 * M_PI * (double)i / (double)count - (count < 3 ? M_PI : M_PI / 2);
        struct point *middle = &d->boxes[order[i]].middle;
        middle->x = across * cos(angle);
        middle->y = down * sin(angle);
    }
    struct point least = {HUGE_VAL, HUGE_VAL};
    struct point most = {-HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < count; i++) {
        const struct box *box = &d->boxes[i];
        least.x = fmin(least.x, box->middle.x - box->half_width - MARGIN);
        least.y = fmin(least.y, box->middle.y - box->half_height - MARGIN);
        most.x = fmax(most.x, box->middle.x + box->half_width + MARGIN);
        most.y = fmax(most.y, box->middle.y + box->half_height + MARGIN);
    }
    for (size_t i = 0; i < count; i++) {
        d->boxes[i].middle.x -= least.x;
        d->boxes[i].middle.y -= least.y;
    }
    d->width = most.x - least.x;
    d->height = most.y - least.y;
}

/* Where the line from the middle of a box towards a point leaves it, a little outside. */
static struct point border(const struct box *box, struct point towards, double outside)
{
    double dx = towards.x - box->middle.x;
    double dy = towards.y - box->middle.y;
    double length = hypot(dx, dy);
    if (length < 1)
        return box->middle;
    double x = fabs(dx) < 1e-6 ? HUGE_VAL : box->half_width / fabs(dx);
    double y = fabs(dy) < 1e-6 ? HUGE_VAL : box->half_height / fabs(dy);
    double share = fmin(x, y) + outside / length;
    return (struct point){box->middle.x + dx * share, box->middle.y + dy * share};
}

/* Coordinates are whole numbers: the same bytes in every locale. */
static void put_point(struct mpiq_buffer *out, struct point p)
{
    mpiq_buffer_printf(out, "%ld,%ld ", lround(p.x), lround(p.y));
}

static void put_label(struct drawing *d, struct point at, const struct mpiq_picture_edge *edge)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    mpiq_buffer_string(&text, edge->label);
    mpiq_buffer_string(&text, edge->more ? ", …" : "");
    mpiq_buffer_printf(d->out, "<text class=\"label\" x=\"%ld\" y=\"%ld\">", lround(at.x), lround(at.y));
    mpiq_put_escaped(d->out, MPIQ_ESCAPE_HTML, mpiq_buffer_text(&text));
    mpiq_buffer_string(d->out, "</text>\n");
}

static void begin_path(struct drawing *d, const struct mpiq_picture_edge *edge, struct point from)
{
    mpiq_buffer_printf(d->out, "<path class=\"%s\" marker-end=\"url(#%s)\" d=\"M",
                       edge->circle ? "circle" : "edge", edge->circle ? "circle-head" : "head");
    put_point(d->out, from);
}

/* A class whose ranks wait for each other, or a rank that waits for itself. */
static void put_loop(struct drawing *d, const struct mpiq_picture_edge *edge)
{
    const struct box *box = &d->boxes[edge->from];
    double top = box->middle.y - box->half_height;
    begin_path(d, edge, (struct point){box->middle.x - 18, top});
    mpiq_buffer_char(d->out, 'C');
    put_point(d->out, (struct point){box->middle.x - 46, top - 44});
    put_point(d->out, (struct point){box->middle.x + 46, top - 44});
    put_point(d->out, (struct point){box->middle.x + 18, top - 7});
    mpiq_buffer_string(d->out, "\"/>\n");
    put_label(d, (struct point){box->middle.x, top - 40}, edge);
}

/* A quadratic curve that bows out to its left, so that the edge back bows to the other side. */
static void put_edge(struct drawing *d, const struct mpiq_picture_edge *edge)
{
    const struct box *from = &d->boxes[edge->from];
    const struct box *to = &d->boxes[edge->to];
    if (edge->from == edge->to) {
        put_loop(d, edge);
        return;
    }
    double dx = to->middle.x - from->middle.x;
    double dy = to->middle.y - from->middle.y;
    double length = hypot(dx, dy);
    struct point bow = {(from->middle.x + to->middle.x) / 2 + dy / length * BEND,
                        (from->middle.y + to->middle.y) / 2 - dx / length * BEND};
    struct point begin = border(from, bow, 0);
    struct point end = border(to, bow, 7);
    begin_path(d, edge, begin);
    mpiq_buffer_char(d->out, 'Q');
    put_point(d->out, bow);
    put_point(d->out, end);
    mpiq_buffer_string(d->out, "\"/>\n");
    /* Where the curve is in the middle. */
    put_label(d, (struct point){(begin.x + 2 * bow.x + end.x) / 4, (begin.y + 2 * bow.y + end.y) / 4 + 4},
              edge);
}

static void put_node(struct drawing *d, size_t node)
{
    const struct box *box = &d->boxes[node];
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(d->out);
    mpiq_buffer_printf(
        d->out, "<rect class=\"%s\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%ld\" rx=\"8\"/>\n",
        d->picture->nodes[node].suspect ? "node suspect" : "node", lround(box->middle.x - box->half_width),
        lround(box->middle.y - box->half_height), lround(2 * box->half_width), lround(2 * box->half_height));
    for (int line = 0; line < NODE_LINES; line++) {
        put_node_line(d, node, line, &text);
        mpiq_buffer_printf(d->out, "<text class=\"%s\" x=\"%ld\" y=\"%ld\">", line == 0 ? "name" : "what",
                           lround(box->middle.x), lround(box->middle.y + (line - 1) * LINE + 5));
        mpiq_put_escaped(d->out, MPIQ_ESCAPE_HTML, mpiq_buffer_text(&text));
        mpiq_buffer_string(d->out, "</text>\n");
    }
}

static void put_head(struct mpiq_buffer *out, const char *id, const char *class)
{
    mpiq_buffer_printf(out,
                       "<marker id=\"%s\" viewBox=\"0 0 10 10\" refX=\"4\" refY=\"5\" markerWidth=\"9\" "
                       "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"%s\" "
                       "d=\"M0,0 10,5 0,10z\"/></marker>\n",
                       id, class);
}

void mpiq_put_picture_svg(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                          const struct mpiq_wait_picture *picture)
{
    struct drawing d = {.page = page, .picture = picture, .out = buffer};
    if (picture->edge_count == 0)
        return;
    place_nodes(&d);
    mpiq_buffer_printf(buffer,
                       "<svg viewBox=\"0 0 %ld %ld\" width=\"%ld\" height=\"%ld\" role=\"img\">\n<defs>\n",
                       lround(d.width), lround(d.height), lround(d.width), lround(d.height));
    put_head(buffer, "head", "head");
    put_head(buffer, "circle-head", "circle-head");
    mpiq_buffer_string(buffer, "</defs>\n");
    for (size_t i = 0; i < picture->node_count; i++)
        put_node(&d, i);
    for (size_t i = 0; i < picture->edge_count; i++)
        put_edge(&d, &picture->edges[i]);
    mpiq_buffer_string(buffer, "</svg>\n");
}
