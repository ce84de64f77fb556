/* SPDX-License-Identifier: BSD-3-Clause */
/* What collectors say, as it comes over a launcher's stdout: prefixed, twice, in another order, cut, changed,
   or made up by somebody who lies. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "hosts/host_streams.h"
#include "hosts/collector_args.h"
#include "suite.h"

enum { MESSAGES = 5, OTHER_TOKEN = 77 };

static const char snapshot[] = "a snapshot, for all the gatherer knows";

/* Two hosts behind one command, and a third behind one of its own. */
static struct mpiq_launch launch;
static struct mpiq_launch_command commands[] = {{.first_host = 0, .host_count = 2},
                                                {.first_host = 2, .host_count = 1}};
static struct mpiq_host_streams *streams;

static void begin(void)
{
    static const char *const names[] = {"n1", "n2", "n3"};
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_NULL(mpiq_launch_add_host(&launch, names[i], 2));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_host_streams_create(&launch, commands, 2, "1.0", &streams));
}

static void end(void)
{
    mpiq_host_streams_destroy(streams);
    mpiq_launch_deinit(&launch);
}

static char *hello(const char *host, const char *version)
{
    struct mpiq_hello hello = {.version = strdup(version), .host = strdup(host)};
    char *text = NULL;
    struct mpiq_hello_world *world = mpiq_hello_add_world(&hello, "job.0");
    CU_ASSERT_FATAL(world && mpiq_rank_set_add_range(&world->ranks, 0, 0, 3));
    CU_ASSERT_PTR_NULL(mpiq_hello_write(&hello, &text));
    mpiq_hello_deinit(&hello);
    return text;
}

/* The line with that number of what the collector of a host says from its start to its end. */
static char *message(const char *host, uint64_t token, uint64_t number)
{
    char bye[64];
    char *first _cleanup_free_ = hello(host, "1.0");
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_FIXED, snapshot, strlen(snapshot));
    snprintf(bye, sizeof bye, "%zu %016" PRIx64, strlen(snapshot), hash);
    const char *const texts[MESSAGES] = {first, "1", "2", snapshot, bye};
    static const enum mpiq_host_message_kind kinds[MESSAGES] = {
        MPIQ_MESSAGE_HELLO, MPIQ_MESSAGE_LOOKED, MPIQ_MESSAGE_LOOKED, MPIQ_MESSAGE_CHUNK, MPIQ_MESSAGE_BYE};
    return mpiq_host_message_write(token, number, kinds[number], texts[number], strlen(texts[number]));
}

static void give(size_t command, const char *text)
{
    mpiq_host_streams_take(streams, command, text, strlen(text));
}

static void say(size_t command, const char *host, uint64_t token, uint64_t number)
{
    char *line _cleanup_free_ = message(host, token, number);
    give(command, line);
}

static void say_all(size_t command, const char *host, uint64_t token)
{
    for (uint64_t i = 0; i < MESSAGES; i++)
        say(command, host, token, i);
}

static bool is_whole(size_t host)
{
    const struct mpiq_host_stream *stream = mpiq_host_streams_stream(streams, host);
    return stream->phase == MPIQ_HOST_COMPLETE && stream->size == strlen(snapshot) &&
           memcmp(stream->bytes, snapshot, stream->size) == 0;
}

static const char *failure(size_t host)
{
    const struct mpiq_host_stream *stream = mpiq_host_streams_stream(streams, host);
    return stream->phase == MPIQ_HOST_FAILED ? stream->error->message : "";
}

static void test_lines_of_all_hosts(void)
{
    begin();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        say(0, "n2", 5, i);
        say(0, "n1", 4, i);
        say(1, "whatever it calls itself", 6, i);
    }
    CU_ASSERT(is_whole(0) && is_whole(1) && is_whole(2));
    CU_ASSERT_EQUAL(mpiq_host_streams_count(streams, MPIQ_HOST_COMPLETE), 3);
    end();
}

static void test_prefixes_and_noise(void)
{
    begin();
    give(1, "Warning: Permanently added 'n3'.\r\n");
    for (uint64_t i = 0; i < MESSAGES; i++) {
        char *line _cleanup_free_ = message("n3", 6, i);
        give(1, "3: ");
        for (const char *at = line; *at; at++) /* byte by byte */
            mpiq_host_streams_take(streams, 1, at, 1);
        give(1, "2: something else\n");
    }
    CU_ASSERT(is_whole(2));
    end();
}

static void test_two_lines_in_one(void)
{
    begin();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        char *line _cleanup_free_ = message("n3", 6, i);
        mpiq_host_streams_take(streams, 1, line, strlen(line) - 1);
    }
    give(1, "\n");
    CU_ASSERT(is_whole(2));
    end();
}

static void test_any_order_and_twice(void)
{
    static const uint64_t orders[][MESSAGES] = {{4, 3, 2, 1, 0}, {1, 0, 4, 2, 3}, {0, 2, 1, 3, 4}};
    for (size_t i = 0; i < 3; i++) {
        begin();
        for (size_t k = 0; k < MESSAGES; k++) {
            say(1, "n3", 6, orders[i][k]);
            say(1, "n3", 6, orders[i][k]);
        }
        CU_ASSERT(is_whole(2));
        end();
    }
}

static void test_a_line_is_lost(void)
{
    for (uint64_t lost = 0; lost < MESSAGES; lost++) {
        begin();
        for (uint64_t i = 0; i < MESSAGES; i++) {
            if (i != lost)
                say(1, "n3", 6, i);
        }
        CU_ASSERT(!is_whole(2));
        mpiq_host_streams_ended(streams, 1, "exit status 0");
        CU_ASSERT_STRING_EQUAL(failure(2), lost < MESSAGES - 1
                                               ? "its answer was damaged in transit"
                                               : "mpiq there ended before it was done: exit status 0");
        end();
    }
}

/* Whatever byte of whatever line is another one, the answer is not taken for whole; or the byte meant
 * nothing. */
static void test_a_byte_is_changed(void)
{
    for (uint64_t number = 0; number < MESSAGES; number++) {
        char *line _cleanup_free_ = message("n3", 6, number);
        for (size_t at = 0; at + 1 < strlen(line); at++) {
            begin();
            for (uint64_t i = 0; i < MESSAGES; i++) {
                char *sent _cleanup_free_ = message("n3", 6, i);
                if (i == number)
                    sent[at] = sent[at] == 'x' ? 'y' : 'x';
                give(1, sent);
            }
            CU_ASSERT(!is_whole(2));
            end();
        }
    }
}

static void test_another_version(void)
{
    begin();
    char *first _cleanup_free_ = hello("n3", "0.9");
    char *line _cleanup_free_ = mpiq_host_message_write(6, 0, MPIQ_MESSAGE_HELLO, first, strlen(first));
    give(1, line);
    CU_ASSERT_STRING_EQUAL(failure(2), "it has mpiq 0.9, here is 1.0: install the same version");
    end();
}

/* The hello comes last, when all the rest waits for it: no part of that is taken. */
static void test_another_version_comes_late(void)
{
    begin();
    for (uint64_t i = 1; i < MESSAGES; i++)
        say(1, "n3", 6, i);
    char *first _cleanup_free_ = hello("n3", "0.9");
    char *line _cleanup_free_ = mpiq_host_message_write(6, 0, MPIQ_MESSAGE_HELLO, first, strlen(first));
    give(1, line);
    CU_ASSERT_STRING_EQUAL(failure(2), "it has mpiq 0.9, here is 1.0: install the same version");
    end();
}

static void test_a_failure_is_told(void)
{
    static const char sentence[] = "no memory \033[2J";
    begin();
    say(0, "n1", 4, 0);
    char *line _cleanup_free_ = mpiq_host_message_write(4, 1, MPIQ_MESSAGE_FAIL, sentence, strlen(sentence));
    give(0, line);
    CU_ASSERT_STRING_EQUAL(failure(0), "no memory \\x1b[2J");
    end();
}

/* One of two hosts behind a command claims to be the other one: that one is not believed either. */
static void test_two_claim_one_host(void)
{
    begin();
    say(0, "n1", 4, 0);
    say(0, "n1", OTHER_TOKEN, 0);
    CU_ASSERT_STRING_EQUAL(failure(0), "two answers claim to be from it");
    CU_ASSERT_STRING_EQUAL(failure(1), "");
    say_all(0, "n2", 5);
    CU_ASSERT(is_whole(1));
    end();
}

/* A host makes up collectors without end, which never say whose they are: the others are heard all the same.
 */
static void test_a_crowd_of_strangers(void)
{
    begin();
    for (uint64_t token = 1000; token < 2000; token++)
        say(0, "n1", token, 1);
    for (uint64_t number = 1; number < 200; number++) {
        char *line _cleanup_free_ =
            mpiq_host_message_write(999, number, MPIQ_MESSAGE_CHUNK, snapshot, strlen(snapshot));
        give(0, line);
    }
    for (uint64_t token = 2000; token < 3000; token++)
        say(0, "no host of the job", token, 0);
    say_all(0, "n2", 5);
    CU_ASSERT(is_whole(1));
    CU_ASSERT_STRING_EQUAL(failure(0), "");
    end();
}

static void test_a_second_collector_behind_one_host(void)
{
    begin();
    say(1, "n3", 6, 0);
    say(1, "n3", OTHER_TOKEN, 0);
    CU_ASSERT_STRING_EQUAL(failure(2), "two answers claim to be from it");
    end();
}

/* A host of one command cannot be spoken for by another command. */
static void test_a_host_of_another_command(void)
{
    begin();
    say_all(0, "n3", OTHER_TOKEN);
    CU_ASSERT_EQUAL(mpiq_host_streams_stream(streams, 2)->phase, MPIQ_HOST_SILENT);
    end();
}

static void test_steps_out_of_turn(void)
{
    begin();
    char *lines[] = {message("n3", 6, 0), mpiq_host_message_write(6, 1, MPIQ_MESSAGE_LOOKED, "2", 1)};
    give(1, lines[0]);
    give(1, lines[1]);
    CU_ASSERT_STRING_EQUAL(failure(2), "mpiq there sent a malformed answer");
    free(lines[0]);
    free(lines[1]);
    end();
}

/* After its time, a host's answer counts no longer: others may have begun their second look. */
static void test_late(void)
{
    begin();
    say(0, "n1", 4, 0);
    say(0, "n2", 5, 0);
    say(0, "n2", 5, 1);
    mpiq_host_streams_late(streams, MPIQ_HOST_LOOKED, 30);
    CU_ASSERT_STRING_EQUAL(failure(0), "it was not done within 30 s (--wait)");
    CU_ASSERT_STRING_EQUAL(failure(1), "");
    CU_ASSERT_STRING_EQUAL(failure(2), "it did not answer within 30 s (--wait)");
    for (uint64_t i = 1; i < MESSAGES; i++)
        say(0, "n1", 4, i);
    CU_ASSERT(!is_whole(0));
    end();
}

/* What a collector is told survives every shell on the way. */
static void test_orders(void)
{
    char *match[] = {(char[]){"SLURM_JOB_ID=12"}, (char[]){"SLURMD_NODENAME"}};
    const struct mpiq_collector_args order = {.version = "1.0",
                                              .match = match,
                                              .match_count = 2,
                                              .below = "a b;$(c) 100%",
                                              .nspace = "prterun-n1-5@1",
                                              .stacks = true};
    struct mpiq_collector_args again;
    char **words = NULL;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_collector_args_write(&order, "/opt/mpiq/bin/mpiq", &words));
    int count = 0;
    for (; words[count]; count++)
        CU_ASSERT(mpiq_hosts_is_plain(words[count]));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_collector_args_read(count - 2, words + 2, &again));
    CU_ASSERT_STRING_EQUAL(again.below, order.below);
    CU_ASSERT_STRING_EQUAL(again.nspace, order.nspace);
    CU_ASSERT_EQUAL(again.match_count, 2);
    CU_ASSERT_STRING_EQUAL(again.match[1], "SLURMD_NODENAME");
    CU_ASSERT(again.stacks && !again.stop);
    mpiq_collector_args_deinit(&again);
    mpiq_collector_args_free_words(words);
    struct mpiq_error *error = mpiq_collector_args_write(&order, "/opt/my mpiq/mpiq", &words);
    CU_ASSERT_PTR_NOT_NULL(error);
    mpiq_error_destroy(error);
}

int main(void)
{
    CU_TestInfo tests[] = {{"lines of all hosts", test_lines_of_all_hosts},
                           {"prefixes and noise around lines are ignored", test_prefixes_and_noise},
                           {"two messages on one line are both found", test_two_lines_in_one},
                           {"lines in any order, or twice, give the same answer", test_any_order_and_twice},
                           {"a lost line fails its host only", test_a_line_is_lost},
                           {"a changed byte fails its host only", test_a_byte_is_changed},
                           {"another version is refused", test_another_version},
                           {"another version is refused late, too", test_another_version_comes_late},
                           {"a failure is reported for its host", test_a_failure_is_told},
                           {"two collectors that claim one host both fail", test_two_claim_one_host},
                           {"unidentified collectors displace only each other", test_a_crowd_of_strangers},
                           {"a second collector behind one host", test_a_second_collector_behind_one_host},
                           {"a host of another command", test_a_host_of_another_command},
                           {"steps out of order are refused", test_steps_out_of_turn},
                           {"late", test_late},
                           {"orders", test_orders},
                           CU_TEST_INFO_NULL};
    return suite_run("hosts", tests);
}
