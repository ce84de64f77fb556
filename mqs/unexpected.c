/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "list.h"
#include "ob1.h"
#include "process.h"
#include "unexpected.h"

#define MAX_MESSAGES (1 << 18)

/* hdr_type of ob1: the whole message, an announcement, one that the receiver may fetch itself. */
#define HEADER_MATCH 65
#define HEADER_RENDEZVOUS 66
#define HEADER_RGET 67

/* Bytes of a match header on the wire: without the padding at its end. */
static int header_length(const struct layout *layout)
{
    return layout->offset[AT_HEADER_SEQUENCE] + layout_width(layout, AT_HEADER_SEQUENCE);
}

static int decode_message(mqs_process_info *info, mqs_taddr_t fragment, const unsigned char *bytes,
                          const struct ob1_peer *peer, struct message *ret)
{
    const struct layout *layout = &info->layout;
    const unsigned char *header = bytes + layout->offset[AT_FRAG_HEADER];
    const unsigned char *segment = bytes + layout->offset[AT_FRAG_SEGMENTS];
    uint64_t length = field_unsigned(info, segment, AT_SEGMENT_LENGTH);
    mqs_taddr_t data = (mqs_taddr_t)field_unsigned(info, segment, AT_SEGMENT_ADDRESS);
    int type = (int)field_unsigned(info, header, AT_HEADER_TYPE);

    ret->fragment = fragment;
    ret->source = (int)field_signed(info, header, AT_HEADER_SOURCE);
    ret->tag = (int)field_signed(info, header, AT_HEADER_TAG);
    ret->sequence = (uint16_t)(field_unsigned(info, header, AT_HEADER_SEQUENCE) - peer->expected);
    switch (type) {
    case HEADER_MATCH:
        if (length < (uint64_t)header_length(layout)) {
            return ERROR_UNEXPECTED;
        }
        ret->eager = true;
        ret->length = length - (uint64_t)header_length(layout);
        ret->buffer = ret->length == 0 ? 0 : data + (mqs_taddr_t)header_length(layout);
        break;
    case HEADER_RENDEZVOUS:
    case HEADER_RGET:
        ret->length = field_unsigned(info, header, AT_RENDEZVOUS_LENGTH);
        break;
    default:
        return ERROR_UNEXPECTED;
    }
    return mqs_ok;
}

static int add_message(mqs_process_info *info, mqs_taddr_t fragment, const struct ob1_peer *peer, bool early,
                       mqs_taddr_t *next, mqs_taddr_t *range)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct message message;
    struct message *item;
    int code = fetch_structure(info, fragment, AT_FRAG, bytes);

    if (code != mqs_ok) {
        return code;
    }
    memset(&message, 0, sizeof message);
    code = decode_message(info, fragment, bytes, peer, &message);
    if (code != mqs_ok) {
        return code;
    }
    message.early = early;
    *next = (mqs_taddr_t)field_unsigned(info, bytes, AT_ITEM_NEXT);
    *range = (mqs_taddr_t)field_unsigned(info, bytes, AT_FRAG_RANGE);
    item = vector_add(&info->messages.list, sizeof *item, MAX_MESSAGES);
    if (item == NULL) {
        return info->messages.list.count >= MAX_MESSAGES ? ERROR_TOO_MANY : ERROR_NO_STORE;
    }
    *item = message;
    return mqs_ok;
}

static int visit_unexpected(mqs_process_info *info, void *argument, mqs_taddr_t fragment, mqs_taddr_t *next)
{
    mqs_taddr_t range;

    return add_message(info, fragment, argument, false, next, &range);
}

/* A ring of messages; *left is what may still come from this peer. */
static int read_ring(mqs_process_info *info, const struct ob1_peer *peer, mqs_taddr_t first, bool heads,
                     size_t *left)
{
    mqs_taddr_t at = first;

    do {
        mqs_taddr_t next;
        mqs_taddr_t range;
        int code;

        if (at == 0 || *left == 0) {
            return ERROR_UNEXPECTED;
        }
        (*left)--;
        code = add_message(info, at, peer, true, &next, &range);
        if (code == mqs_ok && heads && range != 0) {
            code = read_ring(info, peer, range, false, left);
        }
        if (code != mqs_ok) {
            return code;
        }
        at = next;
    } while (at != first);
    return mqs_ok;
}

static int compare_sequences(const void *a, const void *b)
{
    const struct message *left = a;
    const struct message *right = b;

    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static int read_from(mqs_process_info *info, void *argument, const struct ob1_peer *peer)
{
    struct ob1_peer sender = *peer;
    struct vector *list = &info->messages.list;
    size_t before = list->count;
    size_t early;
    size_t left = 0x10000; /* as many numbers as there are */
    int code = list_visit_all(info, peer->address + (mqs_taddr_t)info->layout.offset[AT_OB1_PROC_UNEXPECTED],
                              MAX_MESSAGES, ERROR_UNEXPECTED, visit_unexpected, &sender);

    (void)argument;
    early = list->count;
    if (code == mqs_ok && peer->early != 0) {
        code = read_ring(info, peer, peer->early, true, &left);
    }
    if (code != mqs_ok) {
        return code;
    }
    /* The unexpected ones are listed as they came in order; they lie behind the expected number, those too
       early ahead of it. */
    if (list->count > early) {
        qsort((struct message *)list->items + early, list->count - early, sizeof(struct message),
              compare_sequences);
    }
    for (size_t i = before; i < list->count; i++) {
        ((struct message *)list->items)[i].sequence =
            (uint16_t)(((struct message *)list->items)[i].sequence + peer->expected);
    }
    return mqs_ok;
}

int messages_read(mqs_process_info *info, const struct communicator *comm)
{
    int code;

    messages_clear(&info->messages);
    code = process_queues(info);
    if (code != mqs_ok) {
        return code;
    }
    if (!layout_has_group(&info->layout, GROUP_OB1)) {
        return ERROR_LAYOUT;
    }
    code = ob1_walk_peers(info, comm, read_from, NULL);
    if (code != mqs_ok) {
        messages_clear(&info->messages);
    }
    return code;
}

void messages_clear(struct messages *messages)
{
    vector_clear(&messages->list);
    messages->next = 0;
}

static int add_channel(mqs_process_info *info, void *argument, const struct ob1_peer *peer)
{
    mqs_channel *channel = vector_add(&info->channels.list, sizeof *channel, 1 << 20);

    (void)argument;
    if (channel == NULL) {
        return ERROR_NO_STORE;
    }
    channel->peer_local = peer->rank;
    channel->sent = (uint16_t)(peer->sent + 1u);
    channel->expected = peer->expected;
    return mqs_ok;
}

int channels_read(mqs_process_info *info, const struct communicator *comm)
{
    int code;

    channels_clear(&info->channels);
    code = process_queues(info);
    if (code == mqs_ok && !layout_has_group(&info->layout, GROUP_OB1)) {
        code = mqs_no_information;
    }
    if (code == mqs_ok) {
        code = ob1_walk_peers(info, comm, add_channel, NULL);
    }
    if (code != mqs_ok) {
        channels_clear(&info->channels);
        return code;
    }
    info->channels.set_up = true;
    return mqs_ok;
}

void channels_clear(struct channels *channels)
{
    vector_clear(&channels->list);
    channels->next = 0;
    channels->set_up = false;
}
