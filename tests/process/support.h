/* SPDX-License-Identifier: BSD-3-Clause */
/* support - starts, watches and ends the subjects of the target tests. */
#ifndef TARGET_TEST_SUPPORT_H
#define TARGET_TEST_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "process/target.h"

struct subject {
    pid_t pid;
    FILE *output;
    uint64_t record; /* address of subject_record */
    pid_t waiting, spinning;
};

/* Starts path MODE and waits until it is ready.  Aborts the test program if it is not. */
struct subject subject_start(const char *path, const char *mode);

/* Waits until it says that it is ready, once more after it has become another program.  Aborts if it does
 * not. */
void subject_ready(struct subject *subject, const char *mode);

/* Kills and collects it. */
void subject_end(struct subject *subject);

/* The line of subject.c that holds text. */
int subject_line(const char *text);

/* Runs a shell command made as by printf; aborts the test program if it fails. */
void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The build's own folder for what a test writes, made anew. */
const char *scratch(void);

/* What the checks that go for every kind of target share: everything that the subject has, symbols, types,
   memory, stacks.  record and tids as the subject said them. */
void check_memory_and_symbols(struct mpiq_target *target, const struct subject *subject);
void check_types(struct mpiq_target *target);
void check_stack(struct mpiq_target *target, const struct subject *subject);

/* NULL, or prints the sentence and fails. */
#define CHECK_OK(expression)                                                     \
    do {                                                                         \
        struct mpiq_error *error_ = (expression);                                \
        CU_ASSERT_PTR_NULL(error_);                                              \
        if (error_)                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error_->message); \
        mpiq_error_destroy(error_);                                              \
    } while (0)

/* An error of that code whose sentence holds that text. */
#define CHECK_ERROR(expression, wanted, text)                                                          \
    do {                                                                                               \
        struct mpiq_error *error_ = (expression);                                                      \
        CU_ASSERT_PTR_NOT_NULL(error_);                                                                \
        CU_ASSERT(error_ && error_->code == (wanted));                                                 \
        CU_ASSERT(error_ &&strstr(error_->message, (text)));                                           \
        if (!error_ || error_->code != (wanted) || !strstr(error_->message, (text)))                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error_ ? error_->message : "no error"); \
        mpiq_error_destroy(error_);                                                                    \
    } while (0)

#endif
