/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/picture_layout.h"

#include <math.h>
#include <string.h>

enum {
    MARGIN = 24,
    ROW_GAP = 76, /* between rows: an edge and two lines of words */
    LOOP = 46,    /* above a box that waits for itself */
    BOW = 20,     /* of an edge that is not straight */
    WIDEST = 1100 /* of a row */
};

/* ---- the ring ----------------------------------------------------------------------------------------- */

/* Columns of a ring: two rows, or an even number of them where it is long, so that its end stands below its
   beginning. */
static size_t columns_of(size_t count, double each)
{
    size_t most = (size_t)fmax(WIDEST / each, 2);
    if (count <= 2)
        return count;
    size_t rows = (count + most - 1) / most;
    rows = rows < 2 ? 2 : rows + rows % 2;
    return (count + rows - 1) / rows;
}

static double place_ring(struct mpiq_layout *layout, size_t count, double top)
{
    double half_width = 0, half_height = 0;
    for (size_t i = 0; i < count; i++) {
        half_width = fmax(half_width, layout->boxes[i].half_width);
        half_height = fmax(half_height, layout->boxes[i].half_height);
    }
    size_t columns = columns_of(count, 2 * half_width + layout->gap);
    for (size_t i = 0; i < count; i++) {
        size_t row = i / columns, column = i % columns;
        size_t in_row = count - row * columns < columns ? count - row * columns : columns;
        double shift = row == 1 && count <= 2 * columns ? (double)(columns - in_row) / 2 : 0;
        double place = row % 2 ? (double)(columns - 1 - column) - shift : (double)column;
        layout->boxes[i].half_width = half_width;
        layout->boxes[i].middle.x = place * (2 * half_width + layout->gap);
        layout->boxes[i].middle.y = top + half_height + (double)row * (2 * half_height + ROW_GAP);
    }
    size_t rows = count > 0 ? (count + columns - 1) / columns : 0;
    layout->around = rows > 2;
    return top + (double)rows * (2 * half_height + ROW_GAP);
}

static void frame_ring(struct mpiq_layout *layout, size_t count)
{
    struct mpiq_point least = {HUGE_VAL, HUGE_VAL}, most = {-HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_box *box = &layout->boxes[i];
        least.x = fmin(least.x, box->middle.x - box->half_width);
        least.y = fmin(least.y, box->middle.y - box->half_height);
        most.x = fmax(most.x, box->middle.x + box->half_width);
        most.y = fmax(most.y, box->middle.y + box->half_height);
    }
    layout->frame = (struct mpiq_box){.middle = {(least.x + most.x) / 2, (least.y + most.y) / 2},
                                      .half_width = (most.x - least.x) / 2 + 16,
                                      .half_height = (most.y - least.y) / 2 + 16};
    if (layout->around) {
        layout->frame.half_width += 14;
        layout->frame.middle.x -= 14;
    }
}

/* ---- the rows below it -------------------------------------------------------------------------------- */

static bool is_core(const struct mpiq_wait_picture *picture, size_t node, int rule)
{
    if (rule == 0)
        return picture->nodes[node].circle;
    if (rule == 1)
        return picture->nodes[node].suspect;
    for (size_t i = 0; i < picture->edge_count; i++) {
        if (picture->edges[i].from == node && picture->edges[i].to != node)
            return false;
    }
    return true; /* it waits for nobody */
}

/* How far each node is from the circle; where there is none from the suspects, else from those that wait for
   nobody. */
static int find_levels(const struct mpiq_wait_picture *picture, int levels[MPIQ_PICTURE_MOST_NODES])
{
    int rule = picture->circle_count > 0 ? 0 : 1;
    int deepest = 0;
    bool any = rule == 0;
    for (size_t i = 0; i < picture->node_count; i++)
        any |= is_core(picture, i, rule);
    rule = any ? rule : 2;
    for (size_t i = 0; i < picture->node_count; i++)
        levels[i] = is_core(picture, i, rule) ? 0 : -1;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < picture->edge_count; i++) {
            const struct mpiq_picture_edge *edge = &picture->edges[i];
            int to = edge->to == MPIQ_PICTURE_ALL_OF_CIRCLE ? 0 : levels[edge->to];
            if (levels[edge->from] >= 0 || to < 0 || to > deepest)
                continue;
            levels[edge->from] = deepest + 1;
            moved = true;
        }
        deepest += moved;
    }
    for (size_t i = 0; i < picture->node_count; i++) {
        if (levels[i] < 0)
            levels[i] = deepest + 1;
    }
    return deepest + 1;
}

/* Those of one level that wait for a circle's box stand below it. */
static double wish(const struct mpiq_layout *layout, const struct mpiq_wait_picture *picture,
                   const int levels[MPIQ_PICTURE_MOST_NODES], size_t node)
{
    double sum = 0;
    int count = 0;
    for (size_t i = 0; i < picture->edge_count; i++) {
        const struct mpiq_picture_edge *edge = &picture->edges[i];
        if (edge->from != node || edge->to == MPIQ_PICTURE_ALL_OF_CIRCLE || levels[edge->to] >= levels[node])
            continue;
        sum += layout->boxes[edge->to].middle.x;
        count++;
    }
    return count > 0 ? sum / count : layout->frame.middle.x;
}

static double place_row(struct mpiq_layout *layout, const size_t *nodes, size_t count, double middle,
                        double top)
{
    double width = 0, height = 0;
    for (size_t i = 0; i < count; i++) {
        width += 2 * layout->boxes[nodes[i]].half_width + (i > 0 ? layout->gap : 0);
        height = fmax(height, layout->boxes[nodes[i]].half_height);
    }
    double x = middle - width / 2;
    for (size_t i = 0; i < count; i++) {
        struct mpiq_box *box = &layout->boxes[nodes[i]];
        box->middle = (struct mpiq_point){x + box->half_width, top + height};
        x += 2 * box->half_width + layout->gap;
    }
    return top + 2 * height + ROW_GAP;
}

static double place_level(struct mpiq_layout *layout, const struct mpiq_wait_picture *picture,
                          const int levels[MPIQ_PICTURE_MOST_NODES], int level, double top)
{
    size_t nodes[MPIQ_PICTURE_MOST_NODES], count = 0, begin = 0;
    double wishes[MPIQ_PICTURE_MOST_NODES], width = 0;
    for (size_t i = picture->circle_count; i < picture->node_count; i++) {
        if (levels[i] != level)
            continue;
        double own = wish(layout, picture, levels, i);
        size_t place = count++;
        for (; place > 0 && wishes[place - 1] > own; place--) {
            wishes[place] = wishes[place - 1];
            nodes[place] = nodes[place - 1];
        }
        wishes[place] = own;
        nodes[place] = i;
    }
    for (size_t i = 0; i < count; i++) {
        double own = 2 * layout->boxes[nodes[i]].half_width + layout->gap;
        if (i > begin && width + own > WIDEST) {
            top = place_row(layout, nodes + begin, i - begin, layout->frame.middle.x, top);
            begin = i;
            width = 0;
        }
        width += own;
    }
    return count > begin ? place_row(layout, nodes + begin, count - begin, layout->frame.middle.x, top) : top;
}

void mpiq_layout_place(struct mpiq_layout *layout, const struct mpiq_wait_picture *picture)
{
    int levels[MPIQ_PICTURE_MOST_NODES];
    struct mpiq_point least = {HUGE_VAL, HUGE_VAL}, most = {-HUGE_VAL, -HUGE_VAL};
    int deepest = find_levels(picture, levels);
    double top = place_ring(layout, picture->circle_count, 0);
    if (picture->circle_count > 0)
        frame_ring(layout, picture->circle_count);
    for (int level = 0; level <= deepest; level++)
        top = place_level(layout, picture, levels, level, top);
    for (size_t i = 0; i < picture->node_count; i++) {
        const struct mpiq_box *box = &layout->boxes[i];
        least.x = fmin(least.x, box->middle.x - box->half_width);
        least.y = fmin(least.y, box->middle.y - box->half_height);
        most.x = fmax(most.x, box->middle.x + box->half_width);
        most.y = fmax(most.y, box->middle.y + box->half_height);
    }
    double left = MARGIN + (layout->around || picture->circle_count > 0 ? 34 : layout->gap / 3);
    double right = layout->gap / 2;
    double above = MARGIN + BOW;
    for (size_t i = 0; i < picture->edge_count; i++)
        above = picture->edges[i].from == picture->edges[i].to ? MARGIN + LOOP : above;
    for (size_t i = 0; i < picture->node_count; i++) {
        layout->boxes[i].middle.x += left - least.x;
        layout->boxes[i].middle.y += above - least.y;
    }
    layout->frame.middle.x += left - least.x;
    layout->frame.middle.y += above - least.y;
    layout->width = most.x - least.x + left + right + MARGIN;
    layout->height = most.y - least.y + above + MARGIN;
}
