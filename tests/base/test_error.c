/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "suite.h"

static void codes_and_words_are_one_list(void)
{
    for (unsigned code = 0; code < MPIQ_ERROR_COUNT; code++)
        CU_ASSERT_EQUAL(mpiq_error_code_of(mpiq_error_word(code)), code);
    CU_ASSERT_EQUAL(mpiq_error_code_of("no word of ours"), MPIQ_ERROR_INTERNAL);
    CU_ASSERT_STRING_EQUAL(mpiq_error_word(MPIQ_ERROR_COUNT), "internal");
}

static void a_sentence_keeps_its_facts(void)
{
    struct mpiq_error *error =
        mpiq_error_create_address(MPIQ_ERROR_UNMAPPED, 0x1000, "no memory at %#x", 0x1000);
    CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_UNMAPPED);
    CU_ASSERT_EQUAL(error->address, 0x1000);
    CU_ASSERT_STRING_EQUAL(error->message, "no memory at 0x1000");
    error = mpiq_error_prefix(error, "rank %d", 3);
    CU_ASSERT_STRING_EQUAL(error->message, "rank 3: no memory at 0x1000");
    CU_ASSERT_EQUAL(error->address, 0x1000);
    mpiq_error_destroy(error);
}

static void errno_decides_the_code(void)
{
    static const struct {
        int errnum;
        enum mpiq_error_code code;
    } rows[] = {{ESRCH, MPIQ_ERROR_GONE},        {EPERM, MPIQ_ERROR_PERMISSION},
                {EACCES, MPIQ_ERROR_PERMISSION}, {ENOENT, MPIQ_ERROR_NOT_FOUND},
                {ENOMEM, MPIQ_ERROR_NO_MEMORY},  {EIO, MPIQ_ERROR_IO}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mpiq_error *error = mpiq_error_create_os(rows[i].errnum, "cannot read %s", "it");
        CU_ASSERT_EQUAL(error->code, rows[i].code);
        CU_ASSERT_EQUAL(error->errnum, rows[i].errnum);
        CU_ASSERT_EQUAL(strncmp(error->message, "cannot read it: ", 16), 0);
        mpiq_error_destroy(error);
    }
}

static void nothing_is_fine(void)
{
    mpiq_error_destroy(NULL);
    CU_ASSERT_PTR_NULL(mpiq_error_prefix(NULL, "rank 1"));
}

static void names_in_a_sentence_are_escaped(void)
{
    struct mpiq_error *error =
        mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no %s", "\033]52;c;eA==\a\nmpiq: fine");
    CU_ASSERT_STRING_EQUAL(error->message, "no \\x1b]52;c;eA==\\x07\\nmpiq: fine");
    error = mpiq_error_prefix(error, "%s", "a\342\200\256b");
    CU_ASSERT_STRING_EQUAL(error->message, "a\\u202eb: no \\x1b]52;c;eA==\\x07\\nmpiq: fine");
    mpiq_error_destroy(error);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"each code has its word, and each word its code", codes_and_words_are_one_list},
        {"an error keeps its sentence and its facts", a_sentence_keeps_its_facts},
        {"errno determines the code", errno_decides_the_code},
        {"names in a sentence are escaped", names_in_a_sentence_are_escaped},
        {"functions accept NULL", nothing_is_fine},
        CU_TEST_INFO_NULL,
    };
    return suite_run("error", tests);
}
