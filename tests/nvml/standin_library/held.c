/* The memory that processes hold of a GPU by the stand-in CUDA (tests/tensorflow_gpu).
 *
 * Each holds a file UUID.pid.start of eight bytes in the folder GPUPANEL_TEST_CUDA_FOLDER. */
#define _GNU_SOURCE
#include "state.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether that process lives and began then: its number may be another's by now. */
static int lives(unsigned int pid, const char *start) {
    char path[64], text[1024] = "", began[64] = "";
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *behind_name = strrchr(text, ')'), *rest = 0;
    if (!behind_name || strlen(behind_name) < 3) return 0;
    char status = behind_name[2];
    int number = 2;
    for (char *word = strtok_r(behind_name + 1, " ", &rest); word; word = strtok_r(0, " ", &rest))
        if (++number == 22) snprintf(began, sizeof began, "%s", word);
    return status != 'Z' && status != 'X' && !strcmp(began, start);
}

unsigned int held_of(const Gpu *gpu, Process *held, unsigned int room) {
    const char *folder = getenv("GPUPANEL_TEST_CUDA_FOLDER");
    DIR *listing = folder ? opendir(folder) : 0;
    if (!listing) return 0;
    unsigned int count = 0;
    size_t length = strlen(gpu->uuid);
    for (struct dirent *entry; (entry = readdir(listing)) && count < room;) {
        const char *name = entry->d_name;
        if (strncmp(name, gpu->uuid, length) || name[length] != '.') continue;
        unsigned int pid = (unsigned int)atol(name + length + 1);
        const char *start = strchr(name + length + 1, '.');
        if (!start || !lives(pid, start + 1)) continue;
        char path[1024];
        if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) continue;
        FILE *file = fopen(path, "rb");
        if (!file) continue;
        unsigned long long bytes = 0;
        if (fread(&bytes, sizeof bytes, 1, file) == 1 && bytes) held[count++] = (Process){pid, bytes};
        fclose(file);
    }
    closedir(listing);
    return count;
}
