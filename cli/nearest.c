/* SPDX-License-Identifier: BSD-3-Clause */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 31 };

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Optimal string alignment. */
size_t word_distance(const char *one, const char *other)
{
    size_t rows = strlen(one), columns = strlen(other), cost[LONGEST + 1][LONGEST + 1];
    if (rows > LONGEST || columns > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            size_t change = cost[i - 1][j - 1] + (one[i - 1] != other[j - 1]);
            cost[i][j] = least(change, 1 + least(cost[i - 1][j], cost[i][j - 1]));
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[rows][columns];
}

void keep_nearest(const char *word, const char *candidate, const char **best)
{
    size_t length = strlen(word), most = length > 4 ? 2 : 1;
    size_t distance =
        length > 2 && strncmp(candidate, word, length) == 0 ? 0 : word_distance(word, candidate);
    if (distance <= most && (!*best || distance < word_distance(word, *best)))
        *best = candidate;
}
