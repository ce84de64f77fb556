/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a rank state that JSON has neither as a number nor as a word of a list. */
#include <string.h>

#include "state/rank_state_private.h"

static const char *const comm_flags[] = {"inter", "internal", "freed", "self", "world", "topology"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

void mpiq_collective_write(struct mpiq_text *text, const void *member)
{
    const char *name = mpiq_collective_name(*(const int16_t *)member);
    mpiq_text_string(text, name ? name : "", SIZE_MAX);
}

const char *mpiq_collective_read(struct mpiq_parser *parser, void *member)
{
    const char *complaint = mpiq_parser_string(parser);
    if (complaint || parser->fault)
        return complaint;
    *(int16_t *)member = (int16_t)mpiq_collective_class(parser->string);
    return *(int16_t *)member < 0 ? "is not the name of a collective call" : NULL;
}

void mpiq_context_write(struct mpiq_text *text, const void *member)
{
    const uint64_t *context = member;
    mpiq_text_open(text, '[');
    mpiq_text_hex(text, context[0]);
    mpiq_text_hex(text, context[1]);
    mpiq_text_close(text, ']');
}

const char *mpiq_context_read(struct mpiq_parser *parser, void *member)
{
    uint64_t *context = member;
    size_t count = 0;
    const char *complaint = mpiq_parser_open(parser, '[');
    while (!complaint && mpiq_parser_more(parser, ']'))
        complaint = count < 2 ? mpiq_parser_hex(parser, &context[count++]) : "is not an array of two";
    return complaint || parser->fault || count == 2 ? complaint : "is not an array of two";
}

size_t mpiq_context_numbers(void *member, struct mpiq_number *ret)
{
    uint64_t *context = member;
    for (size_t i = 0; i < 2; i++)
        ret[i] = mpiq_number_at(&context[i], sizeof *context, false);
    return 2;
}

void mpiq_flags_write(struct mpiq_text *text, const void *member)
{
    mpiq_text_open(text, '[');
    for (unsigned i = 0; i < COUNT(comm_flags); i++) {
        if (*(const uint32_t *)member & (1u << i))
            mpiq_text_string(text, comm_flags[i], SIZE_MAX);
    }
    mpiq_text_close(text, ']');
}

const char *mpiq_flags_read(struct mpiq_parser *parser, void *member)
{
    const char *complaint = mpiq_parser_open(parser, '[');
    while (!complaint && mpiq_parser_more(parser, ']')) {
        complaint = mpiq_parser_string(parser);
        if (complaint || parser->fault)
            break;
        unsigned flag = 0;
        while (flag < COUNT(comm_flags) && strcmp(comm_flags[flag], parser->string) != 0)
            flag++;
        if (flag == COUNT(comm_flags))
            complaint = "holds an unknown word";
        else
            *(uint32_t *)member |= 1u << flag;
    }
    return complaint;
}
