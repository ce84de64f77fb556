/* SPDX-License-Identifier: BSD-3-Clause */
/* reader_time - when a reader is late with a rank. */
#include "session/reader_pool_private.h"

/* A rank may take this long while nothing is known about how long the ranks of this job take. */
#define RANK_NS (120 * MPIQ_SECOND_NS)
/* Once two ranks have answered, the ranks being read are late if no rank has answered for QUIET_NS, or for
   TIMES as long as the second slowest rank took, so that honest ranks do not wait longer for a dishonest
   one.  The slowest rank does not count, so no rank can give itself more time.  Time for which the others
   have waited for a rank is deducted from its later time, in the same look or the next, down to LEAST_NS. */
#define QUIET_NS (15 * MPIQ_SECOND_NS / 10)
#define LEAST_NS (3 * MPIQ_SECOND_NS / 10)
#define TIMES 3
/* One that was late is read again, alone, and may be quiet for AGAIN_NS. */
#define AGAIN_NS (5 * MPIQ_SECOND_NS)
/* Time that counts only if it was to be had: a task that is late gets STEP_NS more as long as its reader or
   its rank waits for a processor, up to a limit, as a rank can have many threads that want one. */
#define STEP_NS (MPIQ_SECOND_NS / 5)
static const int64_t most_extra[] = {5 * MPIQ_SECOND_NS,
                                     30 * MPIQ_SECOND_NS}; /* the first time, the second */

/* Since when everybody has waited for that task. */
static int64_t waited_since(const struct mpiq_reader_pool *pool, const struct mpiq_reader_task *task)
{
    return pool->last_answer > task->start ? pool->last_answer : task->start;
}

/* All others have waited for that task until now. */
static void charge(struct mpiq_reader_pool *pool, const struct mpiq_reader_task *task, int64_t now)
{
    pool->waited_ns[task->index] += now - waited_since(pool, task);
}

void mpiq_pool_note_answer(struct mpiq_reader_pool *pool, const struct mpiq_reader_task *task, int64_t now)
{
    size_t at = 0;
    int64_t ns = now - task->start;
    charge(pool, task, now);
    pool->last_answer = now;
    while (at < pool->answers && pool->slowest[at].index != task->index)
        at++;
    if (at == MPIQ_POOL_ANSWERS && ns > pool->slowest[MPIQ_POOL_ANSWERS - 1].ns)
        at--;
    else if (at == pool->answers && at < MPIQ_POOL_ANSWERS)
        pool->slowest[pool->answers++].ns = -1;
    if (at == MPIQ_POOL_ANSWERS || ns <= pool->slowest[at].ns)
        return;
    for (; at > 0 && pool->slowest[at - 1].ns < ns; at--)
        pool->slowest[at] = pool->slowest[at - 1];
    pool->slowest[at].index = task->index;
    pool->slowest[at].ns = ns;
}

int64_t mpiq_pool_deadline(const struct mpiq_reader_pool *pool, const struct mpiq_reader_task *task)
{
    int64_t end = task->start + RANK_NS;
    size_t enough = pool->sources->count - pool->unasked > MPIQ_POOL_ANSWERS ? MPIQ_POOL_ANSWERS : 1;
    if (pool->answers >= enough || pool->done - pool->unasked >= enough) {
        int64_t left = QUIET_NS - pool->waited_ns[task->index];
        int64_t usual =
            pool->answers == MPIQ_POOL_ANSWERS ? TIMES * pool->slowest[MPIQ_POOL_ANSWERS - 1].ns : 0;
        int64_t quiet = pool->late[task->index] ? AGAIN_NS : left > LEAST_NS ? left : LEAST_NS;
        quiet = usual > quiet ? usual : quiet;
        int64_t since = waited_since(pool, task);
        end = since + quiet < end ? since + quiet : end;
    }
    end += task->extra;
    return end < pool->begin + MPIQ_POOL_LOOK_NS ? end : pool->begin + MPIQ_POOL_LOOK_NS;
}

bool mpiq_pool_grants(const struct mpiq_reader_pool *pool, const struct mpiq_pooled_reader *reader,
                      struct mpiq_reader_task *task, int64_t now)
{
    struct mpiq_share ours = mpiq_share_of(reader->process.pid, true);
    struct mpiq_share theirs = mpiq_share_of(pool->sources->items[task->index].pid, false);
    bool starved = !task->probed || mpiq_is_starved(&task->reader, &ours, now - task->probed) ||
                   mpiq_is_starved(&task->rank, &theirs, now - task->probed);
    task->probed = now;
    task->reader = ours;
    task->rank = theirs;
    if (!starved || task->extra >= most_extra[pool->late[task->index] > 0] ||
        now >= pool->begin + MPIQ_POOL_LOOK_NS)
        return false;
    /* From now on, as others may have been asked since. */
    int64_t end = mpiq_pool_deadline(pool, task);
    task->extra += now - end + STEP_NS;
    return true;
}
