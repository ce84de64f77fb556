/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"
#include "suite.h"

static void expect(enum mpiq_escape format, const char *string, const char *wanted)
{
    char *escaped = mpiq_escape_string(format, string);
    CU_ASSERT_PTR_NOT_NULL_FATAL(escaped);
    if (strcmp(escaped, wanted) != 0)
        printf("\nshould be <%s> but is <%s>\n", wanted, escaped);
    CU_ASSERT_STRING_EQUAL(escaped, wanted);
    free(escaped);
}

static void ordinary_text_stays(void)
{
    for (int format = MPIQ_ESCAPE_TEXT; format <= MPIQ_ESCAPE_DOT; format++)
        expect((enum mpiq_escape)format, "rank 3: MPI_Recv (solver.c:56) [2]",
               "rank 3: MPI_Recv (solver.c:56) [2]");
    expect(MPIQ_ESCAPE_TEXT, "a \"b\" \\ & <c> 'd'", "a \"b\" \\ & <c> 'd'");
    expect(MPIQ_ESCAPE_JSON, "a \"b\" \\ & <c> 'd'", "a \\\"b\\\" \\\\ & <c> 'd'");
    expect(MPIQ_ESCAPE_HTML, "a \"b\" \\ & <c> 'd'", "a &#34;b&#34; \\ &#38; &#60;c&#62; &#39;d&#39;");
    expect(MPIQ_ESCAPE_DOT, "a \"b\" \\ & <c> 'd'", "a \\\"b\\\" \\\\ & <c> 'd'");
}

static void a_terminal_gets_nothing_to_obey(void)
{
    /* The clipboard (OSC 52), a title, a line that looks like ours, C1's CSI in UTF-8 and as a byte. */
    expect(MPIQ_ESCAPE_TEXT, "x\033]52;c;cm0gLXJm\007y", "x\\x1b]52;c;cm0gLXJm\\x07y");
    expect(MPIQ_ESCAPE_TEXT, "a\nrunning: all is well\r", "a\\nrunning: all is well\\x0d");
    expect(MPIQ_ESCAPE_TEXT,
           "\302\233"
           "2J",
           "\\u009b2J");
    expect(MPIQ_ESCAPE_TEXT,
           "\233"
           "2J",
           "\\x9b2J");
    expect(MPIQ_ESCAPE_TEXT, "\177\t", "\\x7f\\t");
}

static void nor_a_reader_to_misread(void)
{
    expect(MPIQ_ESCAPE_TEXT, "a\342\200\256b", "a\\u202eb");
    expect(MPIQ_ESCAPE_JSON, "a\342\200\256b", "a\\u202eb");
    expect(MPIQ_ESCAPE_HTML, "a\342\201\247b", "a\\u2067b");
    expect(MPIQ_ESCAPE_JSON, "\302\233\177\n", "\\u009b\\u007f\\u000a");
    expect(MPIQ_ESCAPE_JSON, "\363\240\200\201", "\\udb40\\udc01");
    expect(MPIQ_ESCAPE_DOT, "a\nb\033", "a\\nb\\\\x1b");
}

static void other_languages(void)
{
    expect(MPIQ_ESCAPE_TEXT, "gr\303\266\303\237e \360\237\230\200 \342\200\246",
           "gr\\u00f6\\u00dfe \\U0001f600 ...");
    expect(MPIQ_ESCAPE_JSON, "gr\303\266\303\237e \360\237\230\200", "gr\303\266\303\237e \360\237\230\200");
    /* Neither UTF-8 nor a part of it. */
    expect(MPIQ_ESCAPE_TEXT, "\300\200\355\240\200\303", "\\xc0\\x80\\xed\\xa0\\x80\\xc3");
    expect(MPIQ_ESCAPE_JSON, "\303", "\\ufffd");
}

static void expect_copy(size_t size, const char *string, const char *copy)
{
    char text[16];
    mpiq_utf8_copy(text, size, string);
    CU_ASSERT_STRING_EQUAL(text, copy);
}

static void a_copy_ends_between_characters(void)
{
    expect_copy(16, "\303\266\342\200\246\360\237\230\200", "\303\266\342\200\246\360\237\230\200");
    expect_copy(10, "\303\266\342\200\246\360\237\230\200", "\303\266\342\200\246\360\237\230\200");
    for (size_t size = 6; size < 10; size++)
        expect_copy(size, "\303\266\342\200\246\360\237\230\200", "\303\266\342\200\246");
    for (size_t size = 3; size < 6; size++)
        expect_copy(size, "\303\266\342\200\246", "\303\266");
    expect_copy(2, "\303\266", "");
    expect_copy(1, "a", "");
    expect_copy(1, "", "");
    /* Bytes that are no characters are cut anywhere. */
    expect_copy(3, "\266\303\303\266", "\266\303");
    expect_copy(4, "\342\200", "\342\200");
}

/* Whatever the bytes are, text is printable ASCII, and nothing grows beyond its room. */
static void all_bytes(void)
{
    for (unsigned first = 1; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            char bytes[3] = {(char)first, (char)second, '\0'};
            for (int format = MPIQ_ESCAPE_TEXT; format <= MPIQ_ESCAPE_DOT; format++) {
                char *escaped = mpiq_escape_string((enum mpiq_escape)format, bytes);
                CU_ASSERT_PTR_NOT_NULL_FATAL(escaped);
                CU_ASSERT_FATAL(strlen(escaped) <= 2 * MPIQ_ESCAPE_ROOM);
                for (const char *c = escaped; *c; c++)
                    CU_ASSERT_FATAL(format == MPIQ_ESCAPE_JSON ? (unsigned char)*c >= ' ' && *c != '\177'
                                                               : *c >= ' ' && *c < '\177');
                free(escaped);
            }
        }
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"ordinary text is unchanged", ordinary_text_stays},
        {"no control character reaches a terminal", a_terminal_gets_nothing_to_obey},
        {"nor a reader to misread", nor_a_reader_to_misread},
        {"other languages", other_languages},
        {"a copy ends between characters", a_copy_ends_between_characters},
        {"all bytes", all_bytes},
        CU_TEST_INFO_NULL,
    };
    return suite_run("escape", tests);
}
