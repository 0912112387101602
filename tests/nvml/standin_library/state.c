/* The file of states, read again whenever it changed, and how every call begins. */
#define _GNU_SOURCE
#include "state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define AS_TEXT(name) #name,
static const char *const reading_names[] = {READINGS(AS_TEXT)};

static const State no_driver = {.init = DRIVER_NOT_LOADED};
static const State *volatile state = &no_driver;
static struct timespec read_at;
static ino_t read_inode;
static int initialized;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How often each function was called, for tests that count. */
static struct { const char *name; unsigned long calls; } counts[MAX_FUNCTIONS];

/* Every UUID seen: its place plus one is the handle, so that NULL is none. */
static char handles[MAX_HANDLES][TEXT];

static void count_call(const char *name) {
    for (int i = 0; i < MAX_FUNCTIONS; i++) {
        if (counts[i].name == NULL) counts[i].name = name;
        if (strcmp(counts[i].name, name) == 0) {
            counts[i].calls++;
            return;
        }
    }
}

/* Calls of one function since the last reset; of all functions when the name is empty. */
unsigned long standin_calls(const char *name) {
    unsigned long sum = 0;
    for (int i = 0; i < MAX_FUNCTIONS && counts[i].name; i++)
        if (!name[0] || strcmp(counts[i].name, name) == 0) sum += counts[i].calls;
    return sum;
}

void standin_reset_calls(void) { memset(counts, 0, sizeof counts); }

static int handle_of(const char *uuid) {
    for (int i = 0; i < MAX_HANDLES; i++) {
        if (!handles[i][0]) snprintf(handles[i], TEXT, "%s", uuid);
        if (!strcmp(handles[i], uuid)) return i + 1;
    }
    return 0;
}

static void copy_text(char *to, const char *from) { snprintf(to, TEXT, "%s", from); }

static void add_process(Gpu *gpu, int list, const char *value) {
    unsigned int pid = 0;
    unsigned long long mib = 0;
    int fields = sscanf(value, "%u:%llu", &pid, &mib);
    if (fields < 1 || gpu->process_count[list] == MAX_PROCESSES) return;
    Process *process = &gpu->processes[list][gpu->process_count[list]++];
    process->pid = pid;
    process->bytes = fields == 2 ? mib * MIB : MEMORY_NOT_AVAILABLE;
}

static void add_use(Gpu *gpu, const char *value) {
    if (gpu->use_count == MAX_PROCESSES) return;
    ProcessUse *use = &gpu->uses[gpu->use_count++];
    sscanf(value, "%u:%u:%u", &use->pid, &use->percent, &use->age_ms);
}

static void add_link(Gpu *gpu, const char *value, int is_up) {
    if (gpu->link_count == MAX_LINKS) return;
    Link *link = &gpu->links[gpu->link_count++];
    copy_text(link->to, value);
    link->is_up = is_up;
}

static void add_neighbour(Gpu *gpu, const char *bus, const char *level) {
    if (gpu->neighbour_count == MAX_NEIGHBOURS) return;
    Neighbour *neighbour = &gpu->neighbours[gpu->neighbour_count++];
    copy_text(neighbour->bus, bus);
    neighbour->level = (unsigned)atoi(level);
}

static void add_failure(Gpu *gpu, const char *function, const char *code) {
    if (gpu->failure_count == MAX_FAILURES) return;
    Failure *failure = &gpu->failures[gpu->failure_count++];
    copy_text(failure->function, function);
    failure->code = atoi(code);
}

static int set_reading(Gpu *gpu, const char *key, const char *value) {
    for (int reading = 0; reading < READING_COUNT; reading++)
        if (!strcmp(key, reading_names[reading])) {
            gpu->readings[reading] = strtoull(value, NULL, 10);
            gpu->has[reading] = 1;
            return 1;
        }
    return 0;
}

static void set_gpu(Gpu *gpu, const char *key, const char *value) {
    if (set_reading(gpu, key, value)) return;
    if (!strcmp(key, "name")) copy_text(gpu->name, value);
    else if (!strcmp(key, "uuid")) copy_text(gpu->uuid, value);
    else if (!strcmp(key, "bus")) copy_text(gpu->bus, value);
    else if (!strcmp(key, "capability")) sscanf(value, "%d.%d", &gpu->major, &gpu->minor);
    else if (!strcmp(key, "lost")) gpu->lost = atoi(value);
    else if (!strcmp(key, "hangs")) copy_text(gpu->hangs, value);
    else if (!strcmp(key, "slow_ms")) gpu->slow_ms = atoi(value);
    else if (!strcmp(key, "mig_place")) gpu->mig_place = atoi(value);
    else if (!strcmp(key, "compute")) add_process(gpu, COMPUTE, value);
    else if (!strcmp(key, "graphics")) add_process(gpu, GRAPHICS, value);
    else if (!strcmp(key, "mps")) add_process(gpu, MPS, value);
    else if (!strcmp(key, "process_use")) add_use(gpu, value);
    else if (!strcmp(key, "nvlink")) add_link(gpu, value, 1);
    else if (!strcmp(key, "nvlink_down")) add_link(gpu, value, 0);
    else if (!strncmp(key, "near.", 5)) add_neighbour(gpu, key + 5, value);
    else if (!strncmp(key, "fail.", 5)) add_failure(gpu, key + 5, value);
    else if (!strcmp(key, "fan") && gpu->fan_count < MAX_FANS)
        gpu->fans[gpu->fan_count++] = (unsigned)atoi(value);
}

static void set_key(State *into, const char *key, const char *value) {
    if (into->gpu_count) set_gpu(&into->gpus[into->gpu_count - 1], key, value);
    else if (!strcmp(key, "driver")) copy_text(into->driver, value);
    else if (!strcmp(key, "cuda")) into->cuda = atoi(value);
    else if (!strcmp(key, "init")) into->init = atoi(value);
}

static const State *parse(FILE *file) {
    State *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) abort();
    char line[512], key[TEXT], value[TEXT];
    int is_instance[MAX_GPUS] = {0};
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '[') {
            if (fresh->gpu_count == MAX_GPUS) break;
            is_instance[fresh->gpu_count++] = !strncmp(line, "[mig]", 5);
        } else if (line[0] != '#' && sscanf(line, " %95[^ =] = %95[^\n]", key, value) == 2) {
            set_key(fresh, key, value);
        }
    }
    for (unsigned int i = 0, parent = 0; i < fresh->gpu_count; i++) {
        fresh->gpus[i].handle = handle_of(fresh->gpus[i].uuid);
        if (is_instance[i]) fresh->gpus[i].parent_handle = fresh->gpus[parent].handle;
        else parent = i;
    }
    return fresh;
}

static void read_state(void) {
    const char *path = getenv("GPUPANEL_TEST_NVML_STATE");
    struct stat found;
    if (path == NULL || stat(path, &found) != 0) {
        memset(&read_at, 0, sizeof read_at);
        state = &no_driver;
        return;
    }
    if (found.st_ino == read_inode && found.st_mtim.tv_sec == read_at.tv_sec &&
        found.st_mtim.tv_nsec == read_at.tv_nsec)
        return;
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    state = parse(file);
    fclose(file);
    read_inode = found.st_ino;
    read_at = found.st_mtim;
}

const State *state_now(void) {
    pthread_mutex_lock(&lock);
    read_state();
    const State *now = state;
    pthread_mutex_unlock(&lock);
    return now;
}

int enter(const char *function) {
    pthread_mutex_lock(&lock);
    count_call(function);
    read_state();
    int code = initialized ? state->init : UNINITIALIZED;
    pthread_mutex_unlock(&lock);
    return code;
}

static int find_gpu(const State *now, void *handle, const Gpu **gpu) {
    size_t number = (size_t)handle;
    if (now->init) return now->init;
    if (number == 0 || number > MAX_HANDLES || !handles[number - 1][0]) return INVALID_ARGUMENT;
    for (unsigned int i = 0; i < now->gpu_count; i++)
        if (now->gpus[i].handle == (int)number) {
            *gpu = &now->gpus[i];
            return SUCCESS;
        }
    /* Not in the file any more: a GPU was taken out, an instance taken apart. */
    return strncmp(handles[number - 1], "MIG-", 4) ? GPU_IS_LOST : INVALID_ARGUMENT;
}

int enter_gpu(const char *function, void *handle, const Gpu **gpu) {
    int code = enter(function);
    const State *now = state;
    if (!code) code = find_gpu(now, handle, gpu);
    if (!code && (*gpu)->slow_ms) {
        struct timespec pause = {(*gpu)->slow_ms / 1000, ((*gpu)->slow_ms % 1000) * 1000000L};
        nanosleep(&pause, NULL);
        code = find_gpu(state_now(), handle, gpu); /* As it is now. */
    }
    return code ? code : reach(*gpu, function);
}

int reach(const Gpu *gpu, const char *function) {
    void *handle = (void *)(size_t)gpu->handle;
    struct timespec pause = {0, 20 * 1000000L};
    while (!strcmp(gpu->hangs, function)) {
        nanosleep(&pause, NULL);
        int code = find_gpu(state_now(), handle, &gpu);
        if (code) return code;
    }
    if (gpu->lost) return GPU_IS_LOST;
    for (int i = 0; i < gpu->failure_count; i++)
        if (!strcmp(gpu->failures[i].function, function)) return gpu->failures[i].code;
    return SUCCESS;
}

int give(const Gpu *gpu, int reading, unsigned int *to) {
    if (!gpu->has[reading]) return NOT_SUPPORTED;
    *to = (unsigned int)gpu->readings[reading];
    return SUCCESS;
}

int give_text(const char *text, char *to, unsigned int size) {
    if (strlen(text) + 1 > size) return INSUFFICIENT_SIZE;
    strcpy(to, text);
    return SUCCESS;
}

int nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    count_call(__func__);
    read_state();
    if (state->init == SUCCESS) initialized++;
    int code = state->init;
    pthread_mutex_unlock(&lock);
    return code;
}

/* TensorFlow calls it by this name, and pynvml by that of above. */
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

int nvmlShutdown(void) {
    pthread_mutex_lock(&lock);
    count_call(__func__);
    int code = initialized ? SUCCESS : UNINITIALIZED;
    if (initialized) initialized--;
    pthread_mutex_unlock(&lock);
    return code;
}
