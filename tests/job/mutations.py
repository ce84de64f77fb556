#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks the rules of the diagnosis, one at a time, and sees that the tests notice.

Each mutation is a rule (the words are the design's), a file and a replacement in it.  The file is compiled with
the replacement and linked before the library, so that it takes the place of the original.

Usage: mutations.py SOURCE BUILD [--texts | NAME…]: names of the rules to try, by a part of them; --texts: only that each
file has its text once.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

MUTATIONS = [
    ("identity: both halves of a split share a context id", "lib/merge/intern.c",
     "hash = mpiq_hash(hash, (uint64_t)low << 32 | high);", "low = 0; high = MPIQ_NONE;"),
    ("identity: every rank's MPI_COMM_SELF is its own", "lib/state/job_state.c",
     "if (comm->flags & MPIQ_COMM_SELF)", "if (false)"),
    ("identity: an intercommunicator's peers are of the remote group", "lib/state/job_state.c",
     "comm->remote != MPIQ_NONE && remote != member->remote_side", "false"),
    ("identity: an intercommunicator's groups are in no order", "lib/merge/intern.c",
     "remote == MPIQ_NONE || local < remote ? local : remote;", "local;"),
    ("identity: hidden communicators serve the one the user called on", "lib/merge/finish.c",
     "sorted[i].user = map[user];", "sorted[i].user = i;"),
    ("causes: a message that holds up a call is a cause beside what the call was given", "lib/job/causes_weight.c",
     "return is_held_up(analysis, finding) ? MPIQ_WEIGHT_HELD_UP : 1;", "return 1;"),
    ("matching: per sender", "lib/job/matching.c",
     "(receive->any || receive->peer == sender)", "true"),
    ("matching: local ranks are ranks of their communicator", "lib/merge/finish.c",
     "mpiq_side_process(others, local);", "(uint32_t)local;"),
    ("matching: first in, first out", "lib/job/matching.c",
     "return order ? order : a->order < b->order ? -1 : a->order > b->order;",
     "return order ? order : a->order > b->order ? -1 : a->order < b->order;"),
    ("matching: a wildcard takes what came first", "lib/job/matching.c",
     "message->order < work->messages[best->head].order", "message->order > work->messages[best->head].order"),
    ("matching: per communicator", "lib/job/matching.c",
     "return receive->comm == comm &&", "return (comm == comm) &&"),
    ("matching: per tag", "lib/job/matching.c",
     "return a->tag < b->tag ? -1 : a->tag > b->tag;", "return 0;"),
    ("matching: a wildcard takes no internal message", "lib/job/matching.c",
     "receive->tag_any ? tag >= 0", "receive->tag_any ? true"),
    ("matching: each message goes to one receive", "lib/job/matching.c",
     "work->messages[run->head++].operation", "work->messages[run->head].operation"),
    ("matching: sends are joined with the messages that announce them", "lib/job/matching.c",
     "if (!eager && announced > 0)", "if (false)"),
    ("matching: a send that was taken in is not waiting", "lib/job/matching.c",
     "matching->fates[send] = in_transit ? MPIQ_FATE_IN_TRANSIT : MPIQ_FATE_MEETS;",
     "matching->fates[send] = MPIQ_FATE_UNEXPECTED;"),
    ("asleep: who looks for something now and then is no proof of life", "lib/job/verdict.c",
     "if (naps && tally->computing == 0 && tally->working == 0)", "if (false)"),
    ("asleep: but another one that computes is", "lib/job/verdict.c",
     "if (naps && tally->computing == 0 && tally->working == 0)", "if (naps)"),
    ("progress: not that threads come and go", "lib/merge/look_marks.c",
     "if (thread->wait_count > 0) /* that", "if (true) /* that"),
    ("progress: not the same one-sided calls again and again", "lib/merge/add.c",
     "(mpiq_repeats_reads(state) || waits_only_in_windows(&adding))", "mpiq_repeats_reads(state)"),
    ("progress: calls that are not known repeat only before one that waits", "lib/job/verdict.c",
     "tally.writes || (tally.guessed && !tally.behind)", "tally.writes"),
    ("asleep: a write to a process that is stopped does not end by itself", "lib/job/verdict.c",
     "return thread->partner_state != 'T' && thread->partner_state != 't';", "return true;"),
    ("asleep: of ranks that are all asleep, on what", "lib/job/find_rank.c",
     "(!all_asleep && !is_worth(rank->activity, waited_for))", "!is_worth(rank->activity, waited_for)"),
    ("left: those in a call that all the others have left are no missing members' victims", "lib/job/find_collective.c",
     "if (!mpiq_find_left(analysis, finding))", ""),
    ("left: not of members that merely leave later", "lib/job/find_left.c",
     "(!finding->proven && !waits_elsewhere(analysis, process))", "false"),
    ("left: not of a member that is in the call itself", "lib/job/find_left.c",
     "return !call || call->done;", "return true;"),
    ("edge: a receive from one rank waits for that rank", "lib/job/graph_wait.c",
     "        return mpiq_actor(graph, op->peer, mpiq_is_of_collective(op));\n    }\n    if (mpiq_any_in_transit",
     "        return MPIQ_NODE_LIVE;\n    }\n    if (mpiq_any_in_transit"),
    ("edge: a wait for oneself is a cycle of one", "lib/job/graph_wait.c",
     "    if (!op->any) {\n", "    if (op->peer == rank->process)\n        return MPIQ_NODE_LIVE;\n    if (!op->any) {\n"),
    ("edge: the traffic of a collective counts", "lib/job/graph_wait.c",
     "    if (op->comm == MPIQ_NONE || rank->queues != MPIQ_YES)\n        return MPIQ_NODE_UNKNOWN;",
     "    if (op->comm == MPIQ_NONE || rank->queues != MPIQ_YES || op->internal)\n        return MPIQ_NODE_UNKNOWN;"),
    ("edge: ANY_SOURCE waits for any member", "lib/job/graph.c",
     "for (uint32_t i = 0; group->members && i < group->count; i++)",
     "for (uint32_t i = 0; group->members && i < 1; i++)"),
    ("edge: a receive that a message is there for does not wait", "lib/job/graph_wait.c",
     "else if (graph->matching.fates[operation] != MPIQ_FATE_OPEN)", "else if (false)"),
    ("edge: a synchronous send waits for its receiver's matching receive", "lib/job/graph_wait.c",
     "                                                : mpiq_actor(graph, op->peer, mpiq_is_of_collective(op));",
     "                                                : MPIQ_NODE_LIVE;"),
    ("edge: an eager send waits but for its receiver to enter MPI", "lib/job/graph_wait.c",
     "if (op->eager || op->status == MPIQ_STATUS_MATCHED)", "if (op->status == MPIQ_STATUS_MATCHED)\n        return "
     "taking_in(graph, op->peer);\n    if (op->eager)\n        return mpiq_rank_node(op->peer);\n    if (false)"),
    ("edge: who has ended takes nothing in", "lib/job/graph_wait.c",
     "    if (has_ended(graph, op->peer))\n        return mpiq_rank_node(op->peer);",
     "    if (has_ended(graph, op->peer))\n        return MPIQ_NODE_LIVE;"),
    ("edge: what is on its way needs its receiver to enter MPI", "lib/job/graph_wait.c",
     "return takes_in(graph, process) ? MPIQ_NODE_LIVE : mpiq_rank_node(process);", "return MPIQ_NODE_LIVE;"),
    ("edge: a buffered send does not wait", "lib/job/graph_wait.c",
     "if (op->kind == MPIQ_OPERATION_BSEND && !detach)", "if (false)"),
    ("edge: a waitall is an AND", "lib/job/graph_wait.c",
     "    case MPIQ_WAIT_BSEND_DETACH:\n        return edges;", "    case MPIQ_WAIT_BSEND_DETACH:\n        return 1;"),
    ("edge: a waitany is an OR", "lib/job/graph_wait.c",
     "return done > 0 ? 0 : 1;", "return done > 0 ? 0 : edges;"),
    ("edge: a waitany with one complete is over", "lib/job/graph_wait.c",
     "return done > 0 ? 0 : 1;", "return 1;"),
    ("edge: complete and inactive requests are not waited for", "lib/job/graph_wait.c",
     "if (op->status == MPIQ_STATUS_COMPLETE || op->inactive)\n        return MPIQ_NONE;",
     "if (false)\n        return MPIQ_NONE;"),
    ("edge: without a record any of what the call may wait for", "lib/job/graph_wait.c",
     "        build_call(graph, rank, thread, blocking == MPIQ_BLOCKING_FINALIZE, blocking == MPIQ_BLOCKING_INIT);\n"
     "    return 1;",
     "        build_call(graph, rank, thread, blocking == MPIQ_BLOCKING_FINALIZE, blocking == MPIQ_BLOCKING_INIT);\n"
     "    return graph->edge_count - before;"),
    ("collective: all members have to come", "lib/job/graph_collective.c",
     "pending->list[next].ordered < number; next++)", "pending->list[next].ordered < number - 1; next++)"),
    ("collective: those who came are not waited for", "lib/job/graph_collective.c",
     "pending->list[next].ordered < number; next++)", "pending->list[next].ordered <= number; next++)"),
    ("collective: who spent the number on another will never come", "lib/job/graph_collective.c",
     "if (i < MOST_MIXED && is_mixed(graph, pending, first.subject, node->number))", "if (false)"),
    ("collective: a member of a Bcast waits for the root", "lib/job/graph_collective.c",
     "return progress == COMING  ? mpiq_rank_node(process)", "return progress == COMING  ? MPIQ_NODE_LIVE"),
    ("collective: one in a Scan waits for the lower ranks alone", "lib/job/graph_collective.c",
     "local < node->extra && local < group->count", "local < group->count"),
    ("collective: the root of a Reduce waits for all", "lib/job/graph_collective.c",
     "if (root != member->local_rank || inter)", "if (true)"),
    ("collective: those who are not the root of a Reduce wait for nobody", "lib/job/graph_collective.c",
     "if (root != member->local_rank || inter)", "if (inter)"),
    ("collective: of an intercommunicator the remote group has to come", "lib/job/graph_collective.c",
     ": REMOTE_GROUP;", ": FIRST_GROUP;"),
    ("collective: a communicator made of an intercommunicator needs both groups", "lib/job/graph_collective.c",
     "mpiq_collective_makes_communicator(collective) ? BOTH_GROUPS", "false ? BOTH_GROUPS"),
    ("collective: a neighbourhood is not everybody", "lib/job/collective.c",
     '{"Neighbor_allgather", MPIQ_RULE_SOURCES,', '{"Neighbor_allgather", MPIQ_RULE_ALL,'),
    ("collective: whose data a call needs is told for each call", "lib/job/graph_neighbour.c",
     "source->number == node->number\n", "source->number > 0\n"),
    ("collective: a neighbour in another neighbourhood collective may have sent", "lib/job/graph_neighbour.c",
     "if (!call || mpiq_collective_rule(job->shapes[call->shape].collective) == MPIQ_RULE_SOURCES)", "if (!call)"),
    ("collective: a neighbour in a barrier has sent nothing", "lib/job/graph_neighbour.c",
     "if (!call || mpiq_collective_rule(job->shapes[call->shape].collective) == MPIQ_RULE_SOURCES)", "if (call)"),
    ("collective: who has started a persistent collective as often has come", "lib/job/collective.c",
     "return request && request->starts < starts;", "return request;"),
    ("collective: a persistent collective that was freed is held against nobody", "lib/job/collective.c",
     "return request && request->starts < starts;", "return !request || request->starts < starts;"),
    ("collective: who did not start a persistent collective is missing", "lib/job/find_collective.c",
     "if (roll->starts > 0)", "if (false)"),
    ("collective: who is no neighbour is not missing", "lib/job/find_collective.c",
     "(!neighbours || roll->wanted[process])", "(!neighbours || true)"),
    ("collective: MPI_Finalize waits for all", "lib/job/graph_collective.c",
     "        mpiq_graph_edge(graph, mpiq_rank_node(process), MPIQ_NONE);\n        edges++;", ""),
    ("collective: who is held before the last fence has to come to it", "lib/job/graph_collective.c",
     "if (there && finalize && is_before_fence(job, rank))", "if (false)"),
    ("never: gone or in the last fence", "lib/job/graph.c",
     "if (mpiq_never_acts(job, process)) {", "if (false) {"),
    ("any moment: unread ranks", "lib/job/graph.c",
     "mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);\n        return 1;\n    }\n    if (mpiq_never_acts",
     "mpiq_graph_edge(graph, MPIQ_NODE_DEAD, MPIQ_NONE);\n        return 1;\n    }\n    if (mpiq_never_acts"),
    ("any moment: stopped ranks may be continued", "lib/job/graph.c",
     "mpiq_graph_edge(graph, MPIQ_NODE_STOPPED, MPIQ_NONE);", "mpiq_graph_edge(graph, MPIQ_NODE_DEAD, MPIQ_NONE);"),
    ("any moment: generalized requests", "lib/job/graph_wait.c",
     "    uint32_t node = MPIQ_NODE_UNKNOWN;\n    if (call) {", "    uint32_t node = MPIQ_NODE_DEAD;\n    if (call) {"),
    ("any moment: windows and connections", "lib/job/graph_wait.c",
     "done > 0 ? MPIQ_NODE_LIVE : MPIQ_NODE_UNKNOWN, MPIQ_NONE);", "done > 0 ? MPIQ_NODE_LIVE : MPIQ_NODE_DEAD, MPIQ_NONE);"),
    ("threads that may act, may act", "lib/job/rank_activity.c",
     "return multiple && !mpiq_thread_waits_for_own(job, thread) && !mpiq_thread_taken_idle(job, rank, thread);",
     "return false;"),
    ("collectives in the background act", "lib/job/graph_nodes.c",
     "if (!internal || !rank ||", "if (true || !rank ||"),
    ("two looks: the same episode in both", "lib/merge/threads.c",
     "if (!old || adding->job->builder->thread_marks[index].wait != mark)", "if (!old)"),
    ("two looks: without a record nothing else may have changed", "lib/merge/threads.c",
     "return thread->has_wait_record || !(changed & progress) ? MPIQ_YES : MPIQ_NO;", "return MPIQ_YES;"),
    ("two looks: one look proves nothing", "lib/merge/threads.c",
     "if ((adding->old ? !adding->comparable : !adding->state->final))\n        return MPIQ_UNKNOWN;",
     "if (!adding->old)\n        return MPIQ_YES;"),
    ("two looks: one that timed out is compared with none", "lib/merge/add.c",
     "adding.comparable = rank.looks && !first_unread &&", "adding.comparable = rank.looks &&"),
    ("an unread rank is no working one", "lib/job/verdict.c",
     "} else if ((tally.unread.size > 0 || tally.lost) && !only_stacks_of_all(&tally)) {", "} else if (false) {"),
    ("two looks: a channel is empty only if both numbers agree", "lib/job/in_transit.c",
     "    return (out && out->sent_moved) || differ(out, in);", "    return false;"),
    ("two looks: a channel that moved proves nothing", "lib/job/in_transit.c",
     "    if (in && in->expected_moved)\n        return true;", ""),
    ("two looks: whose count is gone may have sent something", "lib/job/in_transit.c",
     "return !mpiq_was_before(from) || !mpiq_has_polled(job, to) ||\n           (!has_ended(from) && from->host != to->host);", "return false;"),
    ("two looks: what had come is in once the receiver has looked", "lib/job/in_transit.c",
     "return !mpiq_was_before(from) || !mpiq_has_polled(job, to) ||", "return !mpiq_was_before(from) ||"),
    ("two looks: the count was gone in the first one", "lib/job/in_transit.c",
     "return !mpiq_was_before(from) || !mpiq_has_polled(job, to) ||", "return !mpiq_has_polled(job, to) ||"),
    ("two looks: channels to a wildcard", "lib/job/in_transit.c",
     "return in_transit->members[receiver - job->members];", "return false;"),
    ("two looks: sequence numbers wrap", "lib/job/in_transit.c",
     "(uint16_t)(sender ? sender->sent : 1) != (uint16_t)(receiver ? receiver->expected : 1)",
     "(sender ? sender->sent : 1) > (receiver ? receiver->expected : 1)"),
    ("reduce: a node happens once `need` of its children do", "lib/job/graph.c",
     "if (missing[parent] > 0 && --missing[parent] == 0)", "if (missing[parent] > 0 && --missing[parent] <= 1)"),
    ("explain: who waits for a circle is no part of it", "lib/job/explain.c",
     "left[search->component[i]] = true;", "left[search->component[i]] = false;"),
    ("explain: no rank can be dropped from the explanation", "lib/job/explain_shrink.c",
     "    if (holds_thread(part))\n        return;\n", ""),
    ("explain: what is chosen is proven", "lib/job/explain.c",
     "        if (graph->nodes[child].may)\n            continue;\n        if (is_dead(graph, child))",
     "        if (is_dead(graph, child))"),
    ("a private futex is woken by its own process alone", "lib/job/rank_activity.c",
     "return own || joins;", "return joins;"),
    ("a signal handler may post a semaphore", "lib/job/rank_activity.c",
     "(thread->sleep == MPIQ_SLEEP_SIGNAL_FUTEX && !posted)", "thread->sleep == MPIQ_SLEEP_SIGNAL_FUTEX"),
    ("a wait with a timeout ends by itself", "lib/job/rank_activity.c",
     "return thread->sleep == MPIQ_SLEEP_UNKNOWN && !thread->in_mpi", "return !thread->in_mpi"),
    ("a join may have a timeout", "lib/job/rank_activity.c",
     "bool joins = thread->sleep == MPIQ_SLEEP_OTHER &&", "bool joins ="),
    ("of threads in the C library alone, any may call MPI", "lib/merge/threads.c",
     "return mpis && !thread->truncated &&", "return !thread->truncated &&"),
    ("a sleep lasts from look to look", "lib/merge/threads.c",
     "adding->job->builder->thread_marks[index].sleep == thread->sleep &&", "true &&"),
    ("a poller may give up", "lib/job/graph.c",
     "    mpiq_graph_edge(graph, MPIQ_NODE_POLLS, MPIQ_NONE);\n", ""),
    ("partitions that were marked ready early are sent by the library", "lib/job/graph_partitioned.c",
     "mpiq_is_partitioned(other) && other->moves", "mpiq_is_partitioned(other) && false"),
    ("partitions that were queued in the first look may have been sent since", "lib/job/graph_partitioned.c",
     "!(rank->changed & MPIQ_CHANGED_QUEUES)", "true"),
    ("who has not marked all its partitions ready waits for itself", "lib/job/graph_partitioned.c",
     "op->kind == MPIQ_OPERATION_PSEND && more->missing > 0", "false"),
    ("a partitioned request waits for its first message that is missing", "lib/job/graph_partitioned.c",
     "inner->request == request", "false"),
    ("a receive may be for an earlier send that has all its partitions", "lib/job/graph_partitioned.c",
     "messages == count_incomplete(job, sender, rank, op)", "count_incomplete(job, sender, rank, op) > 0"),
    ("a send that lacks a partition brings nothing", "lib/job/graph_partitioned.c",
     "messages == count_incomplete(job, sender, rank, op)", "false"),
    ("messages beside partitioned requests may be taken for theirs", "lib/job/graph_wait.c",
     "if (is_counted_with_partitions(graph, rank, op)) {", "if (false) {"),
    ("a receive may be for a message of which the tag is not known", "lib/job/graph_partitioned.c",
     "!sender || mpiq_channel_in_transit(job, member, op->peer)", "!sender"),
    ("shared locks do not exclude each other", "lib/job/graph_window.c",
     "bool excludes = wanted == MPIQ_LOCK_EXCLUSIVE || lock->type == MPIQ_LOCK_EXCLUSIVE;", "bool excludes = true;"),
    ("who has posted holds nobody up", "lib/job/graph_window.c",
     "else if (!has_posted(", "else if (!false || has_posted("),
    ("who has completed its access is not named where another one's is open", "lib/job/find_window.c",
     "if (is_incomplete(analysis, thread, child->subject))", "if (true)"),
    ("of those who may have to complete any may be the one", "lib/job/graph_window.c",
     "    if (!turned)\n        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);\n    return 1;",
     "    if (!turned)\n        mpiq_graph_edge(graph, MPIQ_NODE_LIVE, MPIQ_NONE);\n    return turned ? view->exposure_count : 1;"),
    ("whose part in a window has changed, has moved", "lib/job/graph_window.c",
     "return rank->changed & (MPIQ_CHANGED_CALLS | MPIQ_CHANGED_WAITS | MPIQ_CHANGED_STATE);", "return false;"),
    ("who completes may wait for one who has yet to take in", "lib/job/graph_window.c",
     "return build_complete(graph, view, rank->process);", "build_access(graph, view, rank->process, true);"),
    ("who went round in nothing may have yet to take in", "lib/job/graph_window.c",
     "else if (!ended && may_take_in(graph, rank))", "else if (false)"),
    ("of who has posted, those who went round have taken in all", "lib/job/graph_window.c",
     "else if (!there || !has_posted(", "else if (true || !has_posted("),
    ("who waits for completions and went round in nothing, may have them", "lib/job/graph_window.c",
     "return build_exposure(graph, view, turned);", "return build_exposure(graph, view, true);"),
    ("no member leaves a collective that needs all before all have entered it", "lib/job/collective.c",
     "    return name && strcmp(name, \"MPI_Barrier\") == 0;", "    return false;"),
    ("of nothing there is nothing to wait for", "lib/job/collective.c",
     "name && bytes != 0 && i <", "name && i <"),
    ("where each member has a count of its own, it may be nothing", "lib/job/collective.c",
     "\"MPI_Reduce_scatter_block\",", "\"MPI_Reduce_scatter_block\", \"MPI_Alltoallv\","),
    ("a collective's message comes after its sender", "lib/job/graph_collective.c",
     "progress_of(graph, op->peer, in.comm, in.number, -1);", "ENTERED;"),
    ("messages that are not read are those of a call", "lib/job/graph_wait.c",
     "child = mpiq_unread_message_node(graph, rank, thread, &job->operations[operation]);", ";"),
    ("of locks that are sent for, any may be the one that is held", "lib/job/graph_window.c",
     "return edges > 0 && node->extra & MPIQ_LOCK_OF_ANY ? 1 : edges;", "return edges;"),
    ("who waits for its own lock and went round in nothing, may have it", "lib/job/graph_window.c",
     "if (known && any && !turned)", "if (false)"),
    ("in the last fence what comes is taken in", "lib/job/graph_window.c",
     "if (target != MPIQ_NONE && mpiq_never_answers(graph->job, target)) {",
     "if (target != MPIQ_NONE && mpiq_never_acts(graph->job, target)) {"),
    ("two looks: going round counts after the first alone, and in both halves", "lib/merge/threads.c",
     "return thread->polled_ns < 0 ? cpu_between_ns : (uint64_t)thread->polled_ns;", "return cpu_between_ns;"),
    ("who ended between the looks may have done its part", "lib/job/graph_nodes.c",
     "return ended && mpiq_was_before(rank);", "return ended;"),
    ("who is in the last fence was there in both looks", "lib/job/graph_nodes.c",
     "if (wait && wait->kind == MPIQ_WAIT_FINALIZE && thread->same_wait == MPIQ_YES)",
     "if (wait && wait->kind == MPIQ_WAIT_FINALIZE)"),
    ("a collective goes from wait to wait", "lib/job/verdict.c",
     "    if (!wait)\n        return diagnosed->since;", "    if (true)\n        return diagnosed->since;"),
    ("who is on its way out of MPI_Win_complete waits for nobody", "lib/job/graph_window.c",
     "if (view && turned)", "if (view)"),
    ("the recorder sees a call, which may return, and no wait in it", "lib/job/graph_window.c",
     "bool passing = rank->source == MPIQ_SOURCE_RECORDER && !turned;", "bool passing = false;"),
    ("beside the recorder a collective needs its own messages", "lib/job/graph_wait.c",
     "if (rank->library_queues && wait->operation_count == 0", "if (false && wait->operation_count == 0"),
    ("of two collectives nobody knows whose messages there are", "lib/job/graph_wait.c",
     "return waits == 1 && !mpiq_has_outstanding(job, rank);", "return waits > 0;"),
    ("who has not polled may have its message", "lib/job/graph_wait.c",
     "if (is_in_one_call(graph->job, rank) && mpiq_has_polled(graph->job, rank) &&",
     "if (is_in_one_call(graph->job, rank) &&"),
    ("unlike counts are not compared", "lib/job/in_transit.c",
     "return mpiq_job_is_counted(from) != mpiq_job_is_counted(to) && !from->gone && !to->gone;",
     "return from != from;"),
    ("unlike ranks may know a communicator by unlike ids", "lib/job/in_transit.c",
     "departed->any_may || unlike || !mpiq_was_before(rank)", "departed->any_may || !mpiq_was_before(rank)"),
    ("where the library's queues are read its sends are there", "lib/job/graph_wait.c",
     "return mpiq_job_is_counted(rank) && op->kind", "return rank->source == MPIQ_SOURCE_RECORDER && op->kind"),
    ("of epochs that are over nobody is waited for", "lib/job/graph_window.c",
     "(before && is_of_all_epochs(job, view, posted))", "(before && posted)"),
    ("who has begun a fence is not missing from it", "lib/job/graph_window.c",
     "view->fences < number", "view->fences <= number"),
    ("who frees the window is not missing from that", "lib/job/graph_window.c",
     "? !view->freeing :", "? view->freeing :"),
    ("a fence that does not synchronise may return", "lib/job/graph_window.c", "if (view->synchronises)", "if (true)"),
    ("of those who have not come one is enough where not all have to", "lib/job/graph_collective.c",
     "node->need = any ? 1 : node->edge_count;", "node->need = node->edge_count;"),
    ("who has yet to take in may hold up those in a fence", "lib/job/graph_collective.c", "!known || takes_in ||", "!known ||"),
    ("who has left a fence may hold up those in it", "lib/job/graph_collective.c",
     "(any && has_left(pending, next, node->number))", "false"),
    ("of whom it is not known whether he came, he may have", "lib/job/graph_collective.c",
     "pending->unknown = pending->unknown || !known ||", "pending->unknown = pending->unknown ||"),
    ("who never began its access has not completed it", "lib/job/graph_window.c",
     "? !listed : listed;", "? listed && !listed : listed;"),
    ("a poller is still though it naps", "lib/job/rank_activity.c",
     "(mpiq_thread_sleeps(thread) || mpiq_thread_dozes(rank, thread));", "mpiq_thread_sleeps(thread);"),
    ("who computes between polls is not still", "lib/job/rank_activity.c",
     "thread->cpu_between_ns < (uint64_t)rank->between_ns / SHARE;", "true;"),
    ("a probe polls for what any of its turns asked for", "lib/merge/threads.c",
     "        while (at < count && !same_probe(&probed[at], &one))\n            at++;",
     "        at = 0;"),
    ("what was asked for before another call does not count", "lib/merge/threads.c",
     "        if (!mpiq_is_poll(call->call))\n            break;",
     "        if (!mpiq_is_poll(call->call))\n            continue;"),
    ("a scan waits for ever for who is in another collective", "lib/job/graph_collective.c",
     "group && group->members ? spent_on(graph, first.subject, node->extra, node->number) : -1;", "-1;"),
    ("where the standard forces nobody, the messages under way do", "lib/job/graph_wait.c",
     "bool forced = node != MPIQ_NODE_UNKNOWN && node != MPIQ_NODE_LIVE;",
     "bool forced = node != MPIQ_NODE_UNKNOWN;"),
    ("who asks for a lock does not hold it", "lib/job/graph_window.c",
     "if (lock->held && there && excludes) {", "if (there && excludes) {"),
    ("a lock of another rank's keeps nobody up", "lib/job/graph_window.c",
     "target == MPIQ_NONE || lock->target == target;", "true;"),
    ("all who hold a shared lock have to release it", "lib/job/graph_window.c",
     "return edges > 0 && node->extra & MPIQ_LOCK_OF_ANY ? 1 : edges;", "return edges > 0;"),
    ("who holds a lock itself and asks again: nobody knows", "lib/job/graph_window.c",
     "bool known = view && !mpiq_holds_lock(", "bool known = view || !mpiq_holds_lock("),
    ("in MPI_Win_unlock another one's lock proves nothing", "lib/job/graph_window.c",
     "    mpiq_graph_edge(graph, MPIQ_NODE_UNKNOWN, MPIQ_NONE);\n    return 1;\n}", "    return 1;\n}"),
    ("who has ended answers no flush", "lib/job/graph_window.c",
     "if (target != MPIQ_NONE && mpiq_never_answers(graph->job, target)) {", "if (false) {"),
    ("who waits in a window keeps nobody else waiting there", "lib/job/find_window.c",
     "if (holder != process && !waits_in_window(analysis, holder))", "if (holder != process)"),
    ("what names no further rank follows and is dropped", "lib/job/causes_merge.c",
     "dropped[i] = beyond.size == 0 || finding->kind == MPIQ_FINDING_WAIT_CYCLE;", "dropped[i] = false;"),
    ("alike consequences are one", "lib/job/causes_merge.c",
     "            if (!is_same_consequence(analysis->job, known, finding))", "            if (true)"),
    ("what is not proven follows from who is elsewhere", "lib/job/causes.c",
     "finding->kind == MPIQ_FINDING_RANK_ELSEWHERE ||", "false ||"),
    ("a consequence of a consequence follows from its cause", "lib/job/causes.c",
     "            cause = next == i ? MPIQ_NONE : next;", "            break;"),
    ("who went on past the place of a wait is asked first", "lib/job/causes_weight.c",
     "if ((call && strcmp(call, \"MPI_Finalize\") == 0) || went_on(job, message))",
     "if (call && strcmp(call, \"MPI_Finalize\") == 0)"),
    ("one bug, one cause", "lib/job/causes.c",
     "finding->consequence_of = best[finding->root];", "finding->consequence_of = MPIQ_NONE;"),
    ("who made a call that does not fit the others' is kept by it", "lib/job/causes.c",
     "earlier || mismatch", "earlier"),
    ("ranks on communicators of other names are no class", "lib/job/evidence.c",
     "evidence->aside == wanted->aside && is_on_alike(analysis, evidence, wanted) &&",
     "evidence->aside == wanted->aside &&"),
    ("where all others have sent it is the one that did not", "lib/job/find_message.c",
     "misses->count > 0 && !all_but_one_sent(misses)", "misses->count > 0"),
    ("what another receive takes is no near miss", "lib/job/find_message.c",
     "if (differs && !mpiq_is_taken(analysis, index))", "if (differs)"),
    ("a recorded collective without data may be complete beside other requests", "lib/job/graph_wait.c",
     "return shape && mpiq_collective_may_be_empty(shape->collective, shape->bytes);", "return false;"),
    ("without counts nobody is blamed who may have left the call", "lib/job/find_collective.c",
     "bool unknown = are_in_calls(analysis, finding, rooted ? ANY_COLLECTIVE : WITH_ROOT);", "bool unknown = false;"),
    ("without counts who may be a round of a loop behind is not suspected", "lib/job/find_collective.c",
     "unknown = unknown || behind;", ""),
    ("who mixed up the tags of two receivers is suspected", "lib/job/causes_merge.c",
     "mpiq_analysis_add(analysis, &cause->suspects, a->process);", ";"),
    ("a job that only polls and waits is no running one", "lib/job/verdict.c",
     "if (tally->polling == 0 || !nobody_acts(tally, tally->blocked + tally->polling))",
     "if (tally->polling >= 0)"),
    ("a loop that polls waits for nothing", "lib/merge/look_marks.c",
     " || mpiq_is_poll(thread->mpi_call))", ")"),
    ("stalled needs its time", "lib/job/verdict.c",
     "return tally->still >= analysis->options.stall_after;", "return true;"),
    ("collective: who may have nothing to give need not come", "lib/job/graph_collective.c",
     "if (!synchronised && mpiq_collective_counts_each(collective))", "if (false)"),
    ("collective: one that is in the call may have yet to take in", "lib/job/graph_collective.c",
     "return rank->final || !mpiq_has_polled(job, rank) ? MPIQ_NODE_LIVE : MPIQ_NONE;", "return MPIQ_NONE;"),
    ("collective: who leaves between the looks may have sent", "lib/job/graph_collective.c",
     "return rank->changed & MPIQ_CHANGED_CALLS ? MPIQ_NODE_LIVE : MPIQ_NONE;", "return MPIQ_NONE;"),
    ("step mode: whom it holds may act", "lib/job/rank_activity.c",
     "    if (thread->stepped) /* it goes on as soon as somebody presses a key */\n        return true;\n", ""),
    ("step mode: whom it holds is held", "lib/job/rank_activity.c",
     "    if (thread->stepped)\n        return MPIQ_ACTIVITY_HELD;\n", ""),
    ("step mode: the thread that it holds says what the rank does", "lib/job/rank_activity.c",
     "16 * (thread->stepped != 0) + ", ""),
    ("step mode: the call that a rank is held before has not begun", "lib/merge/threads.c",
     "        row->in_mpi = false;\n        call = \"\";\n", ""),
    ("step mode: whom it holds does not compute", "lib/job/verdict.c",
     "if (thread->same_wait == MPIQ_YES || thread->stepped)", "if (thread->same_wait == MPIQ_YES)"),
    ("step mode: the verdict says whom it holds", "lib/job/verdict.c",
     "else if (holds(&tally, &tally.stepped))", "else if (false)"),
    ("step mode: some are not all", "lib/job/verdict.c",
     "bool is_all = ranks->size + tally->finished == tally->read;", "bool is_all = true;"),
]

# Quick first; each with the arguments it runs with.
TESTS = [("causes", []), ("partitioned", []), ("windows", []), ("moments", []), ("joined", []), ("unread", []), ("evidence", []), ("messages", []), ("collectives", []), ("forced", []), ("neighbours", []), ("paths", []), ("ranks", []), ("asleep", []), ("step_mode", []), ("random", ["60000"]), ("torn", ["4000"])]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


class Mutants:
    """What all mutations share: the tests, compiled once."""

    def __init__(self, source, build, work):
        self.source, self.work = source, work
        archives = ["tests/job/libjob_builder.a", "lib/job/libmpiq_job.a", "lib/words/libmpiq_words.a", "lib/merge/libmpiq_merge.a", "lib/state/libmpiq_state.a", "lib/names/libmpiq_names.a", "lib/libmpiq_base.a"]
        packages = run(["pkg-config", "--cflags", "--libs", "libzstd"]).stdout.split()
        self.flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-w", f"-I{source}/include", f"-I{source}/lib", f"-I{source}/tests"]
        self.libraries = [*[str(build / archive) for archive in archives], *packages, "-lcunit", "-lpthread"]
        for name, _ in TESTS:
            self.make(f"test_{name}", "-c", "-o", str(work / f"test_{name}.o"), f"{source}/tests/job/test_{name}.c")

    def make(self, what, *arguments):
        made = run(["cc", *self.flags, *arguments])
        if made.returncode != 0:
            raise RuntimeError(f"{what} cannot be made:\n{made.stderr}")

    def caught_by(self, number, path, text):
        """The test that notices that text is in the place of the file; "": none does."""
        # Its own directory comes first, so that "state/…" finds the headers of the source alone.
        own = self.work / str(number)
        own.mkdir()
        mutant = own / pathlib.Path(path).name
        mutant.write_text(text)
        self.make(f"{path} with the mutation", "-c", "-o", f"{mutant}.o", str(mutant))
        for name, arguments in TESTS:
            program = own / f"test_{name}"
            self.make(f"test_{name} with the mutation of {path}", "-o", str(program), str(self.work / f"test_{name}.o"),
                      f"{mutant}.o", *self.libraries)
            if run([str(program), *arguments]).returncode != 0:
                return name
        return ""


def changed(source, rule, path, old, new):
    text = (source / path).read_text()
    if text.count(old) != 1:
        raise SystemExit(f"{rule}: {path} has the text to replace {text.count(old)} times, not once:\n{old}")
    return text.replace(old, new)


def main():
    source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    wanted = [word for word in sys.argv[3:] if word != "--texts"]
    chosen = [mutation for mutation in MUTATIONS if not wanted or any(part in mutation[0] for part in wanted)]
    texts = [changed(source, *mutation) for mutation in chosen]
    if "--texts" in sys.argv:
        return 0
    survivors = []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        mutants = Mutants(source, build, pathlib.Path(work))
        answers = threads.map(mutants.caught_by, range(len(chosen)), [path for _, path, _, _ in chosen], texts)
        for (rule, _, _, _), caught in zip(chosen, answers):
            print(f"{rule}: {'caught by ' + caught if caught else 'SURVIVES'}", flush=True)
            if not caught:
                survivors.append(rule)
    print(f"{len(chosen)} rules broken, {len(survivors)} not noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    os.environ.setdefault("MPIQ_JOB_TEST_RANKS", "60")
    sys.exit(main())
