/* SPDX-License-Identifier: BSD-3-Clause */
/* made_up_private - what a made-up process is made of, for its own three files. */
#ifndef MADE_UP_PRIVATE_H
#define MADE_UP_PRIVATE_H

#include "made_up.h"

#define BASE 0x100000
#define MAX_TYPES 256
#define MAX_MEMBERS 1024
#define MAX_SYMBOLS 256
#define NAME 64

struct segment {
    mqs_taddr_t address;
    size_t size;
    size_t capacity;
    unsigned char *bytes;
};

struct mqs_type_ {
    struct made_up *owner;
    char name[NAME];
    int size;
    int alignment;
    int id; /* of a transcript */
};

struct member {
    int type;
    char name[NAME];
    int offset;
    int width;
};

struct symbol {
    char name[NAME];
    mqs_taddr_t address;
};

struct mqs_image_ {
    struct made_up *owner;
    mqs_image_info *info;
};

struct mqs_process_ {
    struct made_up *owner;
    mqs_process_info *info;
};

struct made_up {
    struct mqs_image_ image;
    struct mqs_process_ process;
    int pointer_size;
    bool big_endian;
    bool stripped;
    size_t gap;
    uint64_t motion; /* state of its random numbers; 0: it stands still */
    void (*after_fetch)(struct made_up *made_up, mqs_taddr_t address, size_t size);
    struct segment *segments;
    size_t segment_count;
    struct mqs_type_ types[MAX_TYPES];
    int type_count;
    struct member members[MAX_MEMBERS];
    int member_count;
    struct symbol symbols[MAX_SYMBOLS];
    int symbol_count;
};

/* Aborts on NULL. */
void *made_up_need(void *memory);
struct segment *made_up_add_segment(struct made_up *made_up, mqs_taddr_t address, size_t size);
int made_up_type_index(struct made_up *made_up, const char *name);
const struct member *made_up_find_member(struct made_up *made_up, int type, const char *name);

#endif
