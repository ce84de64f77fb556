/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++ functions, of the compiler's making and of somebody's who means harm. */
#include "names/mangled.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

static const struct {
    const char *symbol, *name; /* NULL: none */
} rows[] = {
    {"_Z4stepi", "step"},
    {"_ZN3sim6SolverIdE4stepERKSt6vectorIdSaIdEE", "sim::Solver::step"},
    {"_ZNK3sim6SolverIdLi3EE4stepEv", "sim::Solver::step"},
    {"_ZN4testIA16_cE3runEv", "test::run"},
    {"_ZN3sim6SolverC2Ev", "sim::Solver::Solver"},
    {"_ZN3sim6SolverD1Ev", "sim::Solver::~Solver"},
    {"_ZN12_GLOBAL__N_13fooEv", "(anonymous)::foo"},
    {"_ZNSt6vectorIdSaIdEE9push_backERKd", "std::vector::push_back"},
    {"_ZSt4sortIPiEvT_S1_", "std::sort"},
    {"_Z3mapIiPFvvEEvT_S1_", "map"},
    {"_ZL6helperv", "helper"},
    {"_ZN3fooB5cxx113barEv", "foo::bar"},
    {"_ZN3abB4nextEv", "abB::next"},
    {"_ZZ4mainENKUliE_clEi", NULL}, /* a lambda */
    {"_ZplRK1AS1_", NULL},          /* an operator */
    {"main", NULL},
    {"_Z", NULL},
    {"_ZN", NULL},
    {"_ZNE", NULL},
    {"_ZN3si", NULL},
    {"_ZN1aI", NULL},
    {"_ZN1aIL", NULL},
    {"_ZN1aIS", NULL},
    {"_ZSt", NULL},
    {"_ZC1", NULL},
    {"_ZN99999999999999999999fooE", NULL},
};

static void names_are_those_of_the_source(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64] = "";
        bool good = mpiq_unmangle(rows[i].symbol, name, sizeof name);
        CU_ASSERT_EQUAL(good, rows[i].name != NULL);
        if (good && rows[i].name)
            CU_ASSERT_STRING_EQUAL(name, rows[i].name);
    }
    CU_ASSERT_FALSE(mpiq_unmangle(NULL, (char[8]){0}, 8));
}

/* Whatever its end is, and however little room there is. */
static void nothing_is_read_or_written_beyond_the_ends(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].symbol);
        for (size_t cut = 0; cut <= length; cut++) {
            char *symbol = strndup(rows[i].symbol, cut);
            for (size_t room = 1; room < 40; room++) {
                char *name = malloc(room);
                if (mpiq_unmangle(symbol, name, room))
                    CU_ASSERT_TRUE(strlen(name) < room);
                free(name);
            }
            free(symbol);
        }
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"names are those of the source", names_are_those_of_the_source},
        {"nothing is read or written beyond the ends", nothing_is_read_or_written_beyond_the_ends},
        CU_TEST_INFO_NULL};
    return suite_run("mangled", tests);
}
