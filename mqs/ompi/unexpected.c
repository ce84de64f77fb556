/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "list.h"
#include "ob1.h"
#include "unexpected.h"

#define MAX_MESSAGES (1 << 18)

/* hdr_type of ob1: the whole message, an announcement, one that the receiver may fetch itself. */
#define HEADER_MATCH 65
#define HEADER_RENDEZVOUS 66
#define HEADER_RGET 67

/* Bytes of a match header on the wire: without the padding at its end, unless the padding is a member. */
static int header_length(const struct layout *layout)
{
    if (layout_has(layout, AT_HEADER_PADDING)) {
        return layout->offset[AT_HEADER_PADDING] + 2;
    }
    return layout->offset[AT_HEADER_SEQUENCE] + layout_width(layout, AT_HEADER_SEQUENCE);
}

static int decode_message(struct memory *memory, mqs_taddr_t fragment, const unsigned char *bytes,
                          const struct ob1_peer *peer, struct message *ret)
{
    const struct layout *layout = &memory->layout;
    const unsigned char *header = bytes + layout->offset[AT_FRAG_HEADER];
    const unsigned char *segment = bytes + layout->offset[AT_FRAG_SEGMENTS];
    uint64_t length = field_unsigned(memory, segment, AT_SEGMENT_LENGTH);
    mqs_taddr_t data = (mqs_taddr_t)field_unsigned(memory, segment, AT_SEGMENT_ADDRESS);
    int type = (int)field_unsigned(memory, header, AT_HEADER_TYPE);

    ret->fragment = fragment;
    ret->source = (int)field_signed(memory, header, AT_HEADER_SOURCE);
    ret->tag = (int)field_signed(memory, header, AT_HEADER_TAG);
    ret->sequence = (uint16_t)(field_unsigned(memory, header, AT_HEADER_SEQUENCE) - peer->expected);
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
        ret->length = field_unsigned(memory, header, AT_RENDEZVOUS_LENGTH);
        break;
    default:
        return ERROR_UNEXPECTED;
    }
    return mqs_ok;
}

/* Whose messages are read, and into which list. */
struct sender {
    struct vector *list;
    const struct ob1_peer *peer;
};

static int add_message(struct memory *memory, const struct sender *sender, mqs_taddr_t fragment, bool early,
                       mqs_taddr_t *next, mqs_taddr_t *range)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct message message;
    struct message *item;
    int code = fetch_structure(memory, fragment, AT_FRAG, bytes);

    if (code != mqs_ok) {
        return code;
    }
    memset(&message, 0, sizeof message);
    code = decode_message(memory, fragment, bytes, sender->peer, &message);
    if (code != mqs_ok) {
        return code;
    }
    message.early = early;
    *next = (mqs_taddr_t)field_unsigned(memory, bytes, AT_ITEM_NEXT);
    *range = (mqs_taddr_t)field_unsigned(memory, bytes, AT_FRAG_RANGE);
    item = vector_add(sender->list, sizeof *item, MAX_MESSAGES);
    if (item == NULL) {
        return sender->list->count >= MAX_MESSAGES ? ERROR_TOO_MANY : ERROR_NO_STORE;
    }
    *item = message;
    return mqs_ok;
}

static int visit_unexpected(struct memory *memory, void *argument, mqs_taddr_t fragment, mqs_taddr_t *next)
{
    mqs_taddr_t range;

    return add_message(memory, argument, fragment, false, next, &range);
}

/* A ring of messages; *left is what may still come from this peer. */
static int read_ring(struct memory *memory, const struct sender *sender, mqs_taddr_t first, bool heads,
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
        code = add_message(memory, sender, at, true, &next, &range);
        if (code == mqs_ok && heads && range != 0) {
            code = read_ring(memory, sender, range, false, left);
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

static int read_from(struct memory *memory, void *argument, const struct ob1_peer *peer)
{
    struct messages *messages = argument;
    struct vector *list = &messages->list;
    struct sender sender = {list, peer};
    size_t before = list->count;
    size_t early;
    size_t left = 0x10000; /* as many numbers as there are */
    int code =
        list_visit_all(memory, peer->address + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_UNEXPECTED],
                       MAX_MESSAGES, ERROR_UNEXPECTED, visit_unexpected, &sender);

    early = list->count;
    if (code == mqs_ok && peer->early != 0) {
        code = read_ring(memory, &sender, peer->early, true, &left);
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

int messages_read(struct memory *memory, const struct communicator *comm, struct messages *ret)
{
    int code;

    messages_clear(ret);
    if (!layout_has_group(&memory->layout, GROUP_OB1)) {
        return ERROR_LAYOUT;
    }
    code = ob1_walk_peers(memory, comm, read_from, ret);
    if (code != mqs_ok) {
        messages_clear(ret);
    }
    return code;
}

void messages_clear(struct messages *messages)
{
    vector_clear(&messages->list);
}

static int add_channel(struct memory *memory, void *argument, const struct ob1_peer *peer)
{
    struct channels *channels = argument;
    mqs_channel *channel = vector_add(&channels->list, sizeof *channel, 1 << 20);

    (void)memory;
    if (channel == NULL) {
        return ERROR_NO_STORE;
    }
    channel->peer_local = peer->rank;
    channel->sent = (uint16_t)(peer->sent + 1u);
    channel->expected = peer->expected;
    return mqs_ok;
}

int channels_read(struct memory *memory, const struct communicator *comm, struct channels *ret)
{
    int code;

    channels_clear(ret);
    if (!layout_has_group(&memory->layout, GROUP_OB1)) {
        return mqs_no_information;
    }
    code = ob1_walk_peers(memory, comm, add_channel, ret);
    if (code != mqs_ok) {
        channels_clear(ret);
        return code;
    }
    ret->set_up = true;
    return mqs_ok;
}

void channels_clear(struct channels *channels)
{
    vector_clear(&channels->list);
    channels->next = 0;
    channels->set_up = false;
}
