/* SPDX-License-Identifier: BSD-3-Clause */
/* subject - what the program that the target tests look at has in memory, for both sides. */
#ifndef SUBJECT_H
#define SUBJECT_H

struct subject_point {
    short x;
    long y;
};

typedef struct subject_point subject_point_t;

struct subject_record {
    int number;
    char text[16];
    union {
        long whole;
        struct {
            int low;
            int high;
        };
    };
    subject_point_t point;
    struct subject_record *next;
    unsigned flag : 3;
    const struct subject_opaque *opaque; /* declared only, until subject_other.c */
};

enum subject_color { SUBJECT_RED, SUBJECT_GREEN = 7 };
typedef enum subject_color subject_color;

/* The function where the main thread waits, three inlined or called ones inside each other, and their lines.
 */
#define SUBJECT_FUNCTIONS "subject_inner", "subject_middle", "subject_outer"

#endif
