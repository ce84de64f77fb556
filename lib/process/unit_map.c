/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/unit_map.h"

#include <stdlib.h>

#include "base/array.h"
#include "process/die.h"
#include "process/ranges.h"

static int compare_ranges(const void *a, const void *b)
{
    const struct mpiq_code_range *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static void sort(struct mpiq_code_range *ranges, size_t count)
{
    if (count)
        qsort(ranges, count, sizeof *ranges, compare_ranges);
}

/* One set of .debug_aranges, of one unit, that begins at `at`; where the next one begins, 0 if there is none.
   libdwarf allocates every range by itself, which took longer than all the rest. */
static uint64_t read_set(struct mpiq_unit_map *map, struct mpiq_debug_info *info,
                         const struct mpiq_debug_section *section, uint64_t at)
{
    uint64_t next, offset, size, segment_size, start, count, begin = at;
    uint8_t width;
    if (!mpiq_debug_length(info, section, &at, &next, &width))
        return 0;
    at += 2; /* version */
    if (!mpiq_debug_number(info, section, at, width, &offset) ||
        !mpiq_debug_number(info, section, at + width, 1, &size) ||
        !mpiq_debug_number(info, section, at + width + 1, 1, &segment_size))
        return 0;
    at += width + 2;
    struct mpiq_debug_unit *unit = mpiq_debug_unit_at(info, offset, false);
    if (!unit || segment_size || (size != 4 && size != 8))
        return next;
    at += (2 * size - (at - begin) % (2 * size)) % (2 * size);
    for (; at + 2 * size <= next; at += 2 * size) {
        if (!mpiq_debug_number(info, section, at, size, &start) ||
            !mpiq_debug_number(info, section, at + size, size, &count) || (start == 0 && count == 0))
            break;
        if (!count || start + count <= start)
            continue;
        if (!mpiq_array_reserve(&map->listed, &map->listed_capacity, map->listed_count + 1))
            break;
        map->listed[map->listed_count++] = (struct mpiq_code_range){start, start + count, unit};
        unit->listed = true;
    }
    return next;
}

static void read_listed(struct mpiq_unit_map *map, struct mpiq_debug_info *info)
{
    const struct mpiq_debug_section *section = mpiq_debug_sections_find(&info->sections, "aranges");
    map->listed_read = true;
    for (uint64_t at = 0; section && at < section->size;) {
        uint64_t next = read_set(map, info, section, at);
        if (next <= at)
            break;
        at = next;
    }
    sort(map->listed, map->listed_count);
}

struct visit {
    struct mpiq_unit_map *map;
    struct mpiq_debug_unit *unit;
};

static bool add_own(void *argument, uint64_t start, uint64_t end)
{
    const struct visit *visit = argument;
    struct mpiq_unit_map *map = visit->map;
    if (!mpiq_array_reserve(&map->own, &map->own_capacity, map->own_count + 1))
        return false;
    map->own[map->own_count++] = (struct mpiq_code_range){start, end, visit->unit};
    return true;
}

static void read_own(struct mpiq_unit_map *map, struct mpiq_debug_info *info)
{
    map->own_read = true;
    for (size_t i = 0; i < info->info_count; i++) {
        struct mpiq_debug_unit *unit = &info->units[i];
        if (unit->kind == DW_UT_type || unit->listed)
            continue;
        info->walk = true;
        mpiq_debug_unit_prepare(unit);
        _cleanup_die_ Dwarf_Die die = mpiq_die_first(unit);
        struct visit visit = {map, unit};
        if (die)
            mpiq_ranges_visit(unit, die, add_own, &visit);
    }
    sort(map->own, map->own_count);
}

static struct mpiq_debug_unit *find(const struct mpiq_code_range *ranges, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < ranges[low - 1].end ? ranges[low - 1].unit : NULL;
}

struct mpiq_debug_unit *mpiq_unit_map_find(struct mpiq_unit_map *map, struct mpiq_debug_info *info,
                                           uint64_t address)
{
    if (!map->listed_read)
        read_listed(map, info);
    struct mpiq_debug_unit *unit = find(map->listed, map->listed_count, address);
    if (unit)
        return unit;
    if (!map->own_read)
        read_own(map, info);
    return find(map->own, map->own_count, address);
}

void mpiq_unit_map_deinit(struct mpiq_unit_map *map)
{
    free(map->listed);
    free(map->own);
    *map = (struct mpiq_unit_map){0};
}
