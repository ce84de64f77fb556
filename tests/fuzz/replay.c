/* SPDX-License-Identifier: BSD-3-Clause */
/* replay - gives each file of the named folders to a fuzzer's entry, without libFuzzer: what once went wrong
   stays a test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    enum { LIMIT = 16 << 20 };
    uint8_t *data = malloc(LIMIT);
    size_t size = data ? fread(data, 1, LIMIT, file) : 0;
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int replay_folder(const char *path, int *replayed)
{
    DIR *folder = opendir(path);
    if (!folder) {
        perror(path);
        return 1;
    }
    int failed = 0;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= replay_file(name);
        ++*replayed;
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, replayed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay_folder(argv[i], &replayed);
    printf("%d inputs replayed\n", replayed);
    return failed || replayed == 0;
}
