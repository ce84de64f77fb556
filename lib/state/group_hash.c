/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BLAKE2s (RFC 7693) over the members, eight bytes each, the first 64 bits of the digest.  A rank can choose
 * its groups: with a weaker function it could give one of them the hash of another rank's group.
 */
#include "state/group_hash.h"

#include <string.h>

enum { ROUNDS = 10, BLOCK = 64, MEMBERS_A_BLOCK = BLOCK / 8 };

static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint8_t order[ROUNDS][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint32_t turn(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static void mix(uint32_t v[16], int a, int b, int c, int d, uint32_t x, uint32_t y)
{
    v[a] += v[b] + x;
    v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = turn(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 7);
}

static void compress(uint32_t h[8], const uint32_t block[16], uint64_t length, bool last)
{
    uint32_t v[16];
    memcpy(v, h, 8 * sizeof *h);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= (uint32_t)length;
    v[13] ^= (uint32_t)(length >> 32);
    if (last)
        v[14] = ~v[14];
    for (int round = 0; round < ROUNDS; round++) {
        const uint8_t *s = order[round];
        mix(v, 0, 4, 8, 12, block[s[0]], block[s[1]]);
        mix(v, 1, 5, 9, 13, block[s[2]], block[s[3]]);
        mix(v, 2, 6, 10, 14, block[s[4]], block[s[5]]);
        mix(v, 3, 7, 11, 15, block[s[6]], block[s[7]]);
        mix(v, 0, 5, 10, 15, block[s[8]], block[s[9]]);
        mix(v, 1, 6, 11, 12, block[s[10]], block[s[11]]);
        mix(v, 2, 7, 8, 13, block[s[12]], block[s[13]]);
        mix(v, 3, 4, 9, 14, block[s[14]], block[s[15]]);
    }
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
}

uint64_t mpiq_group_hash(const struct mpiq_name *members, uint32_t count)
{
    uint32_t h[8];
    memcpy(h, start, sizeof h);
    h[0] ^= 0x01010020; /* no key, a digest of 32 bytes */
    uint32_t done = 0;
    do {
        uint32_t block[16] = {0};
        uint32_t part = count - done < MEMBERS_A_BLOCK ? count - done : MEMBERS_A_BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            block[2 * i] = members[done + i].job;
            block[2 * i + 1] = (uint32_t)members[done + i].rank;
        }
        done += part;
        compress(h, block, (uint64_t)done * 8, done == count);
    } while (done < count);
    uint64_t hash = (uint64_t)h[1] << 32 | h[0];
    return hash ? hash : 1;
}
