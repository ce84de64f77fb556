/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/unit_map.h"

#include <stdlib.h>

#include "base/array.h"
#include "target/ranges.h"

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

static void read_listed(struct mpiq_unit_map *map, struct mpiq_debug_info *info)
{
    Dwarf_Arange *ranges = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;
    map->listed_read = true;
    if (!mpiq_debug_sections_find(&info->sections, "aranges") ||
        !mpiq_dwarf_ok(dwarf_get_aranges(info->whole->debug, &ranges, &count, &error), error))
        return;
    map->listed = count > 0 ? calloc((size_t)count, sizeof *map->listed) : NULL;
    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Unsigned segment = 0, segment_size = 0, length = 0;
        Dwarf_Addr start = 0;
        Dwarf_Off entry = 0;
        error = NULL;
        int result =
            dwarf_get_arange_info_b(ranges[i], &segment, &segment_size, &start, &length, &entry, &error);
        struct mpiq_debug_unit *unit =
            mpiq_dwarf_ok(result, error) ? mpiq_debug_unit_at(info, entry, false) : NULL;
        if (unit && map->listed && length && start + length > start)
            map->listed[map->listed_count++] = (struct mpiq_code_range){start, start + length, unit};
        dwarf_dealloc(info->whole->debug, ranges[i], DW_DLA_ARANGE);
    }
    dwarf_dealloc(info->whole->debug, ranges, DW_DLA_LIST);
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
    info->walk = true;
    for (size_t i = 0; i < info->info_count; i++) {
        struct mpiq_debug_unit *unit = &info->units[i];
        if (unit->kind == DW_UT_type)
            continue;
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
