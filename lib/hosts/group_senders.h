/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group_senders - which collectors send the members of a large group, so that not all hosts do.
 *
 * With its first look a collector sends the hashes of the large groups it has found.  The signal to look
 * again, which all collectors read, says which collectors send the members of which group: two of them,
 * because one may fail first.  Every host that has a group not mentioned there sends its members.
 */
#ifndef MPIQ_HOSTS_GROUP_SENDERS_H
#define MPIQ_HOSTS_GROUP_SENDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MPIQ_LARGE_GROUP = 1024,      /* members: groups below that are named by all */
    MPIQ_GROUP_SENDERS_MOST = 20, /* of one collector */
    MPIQ_GO_LENGTH_MOST = 1 << 14
};

/* Hashes of a collector's large groups. */
struct mpiq_group_senders {
    uint64_t hashes[MPIQ_GROUP_SENDERS_MOST];
    size_t count;
};

/* Does nothing for a hash that is there, or when there are enough. */
void mpiq_group_senders_add(struct mpiq_group_senders *groups, uint64_t hash);

/* "1 00000000deadbeef …", as a collector says that its first look has ended; shorter than room. */
enum { MPIQ_LOOKED_ROOM = 2 + 17 * MPIQ_GROUP_SENDERS_MOST };
void mpiq_group_senders_write(const struct mpiq_group_senders *groups, char ret[MPIQ_LOOKED_ROOM]);
/* What follows "1"; false if it is no list of hashes. */
bool mpiq_group_senders_read(const char *text, size_t length, struct mpiq_group_senders *ret);

/* Collects what all collectors tell. */
struct mpiq_group_choice {
    struct mpiq_chosen_group *groups;
    size_t count;
    size_t capacity;
};

/* False without memory. */
bool mpiq_group_choice_add(struct mpiq_group_choice *choice, uint64_t token,
                           const struct mpiq_group_senders *groups);
/* "go HASH TOKEN HASH TOKEN …\n", at most MPIQ_GO_LENGTH_MOST long: groups that most hosts have come first.
   The caller frees it; NULL without memory. */
char *mpiq_group_choice_word(struct mpiq_group_choice *choice);
void mpiq_group_choice_deinit(struct mpiq_group_choice *choice);

/* Whether others name that group's members, and the collector with this token does not; word: what it was
   told, "go HASH TOKEN …". */
bool mpiq_others_tell_group(const char *word, uint64_t hash, uint64_t token);

#endif
