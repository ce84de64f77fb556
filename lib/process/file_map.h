/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_map - maps regular files whose names are untrusted.
 *
 * A path may lead to a FIFO, a device or out of a container, so only regular files beneath the given root
 * are opened, without blocking.  A file that is truncated while it is mapped would kill the program with
 * SIGBUS; here its missing pages become zeros and the map says so.
 */
#ifndef MPIQ_FILE_MAP_H
#define MPIQ_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct mpiq_file_map;

/* Opens path for reading.  root: a descriptor of the directory that is "/" for the path and for every
   symbolic link on the way, or -1: ours.  -1 with errno set on failure; EINVAL: it is no regular file. */
int mpiq_file_open(int root, const char *path, struct stat *ret);

/* Maps the whole file, which may be closed afterwards; NULL with errno set on failure. */
struct mpiq_file_map *mpiq_file_map_create(int fd);
void mpiq_file_map_destroy(struct mpiq_file_map *map);

void *mpiq_file_map_bytes(const struct mpiq_file_map *map);
size_t mpiq_file_map_size(const struct mpiq_file_map *map);

/* Whether a part of the file that was read had gone: what was read is not what the file held. */
bool mpiq_file_map_torn(const struct mpiq_file_map *map);

#endif
