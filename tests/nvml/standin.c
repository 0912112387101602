/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1, for tests alone: it answers what a text file says.
 *
 * The file's path is in GPUPANEL_TEST_NVML_STATE. It is read again whenever it changed, so a test
 * can take a GPU away while somebody samples. Lines are "key = value"; "[gpu]" begins a GPU, in
 * the order in which NVML would list them; "#" begins a comment. Without the variable or the file
 * there is no driver. tests/nvml/standin.py writes the file and says what the keys are.
 *
 * Structures and numbers are those of nvml.h as the module pynvml declares them. Compiled with
 * -DOLD_DRIVER it lacks what drivers before 510 lack: memory info v2 and process lists v3.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15
};
enum { MAX_GPUS = 16, MAX_PROCESSES = 32, MAX_FAILURES = 32, MAX_FUNCTIONS = 64, TEXT = 96 };
enum { COMPUTE, GRAPHICS, MPS, PROCESS_LISTS };
#define MIB (1024ULL * 1024ULL)
#define MEMORY_NOT_AVAILABLE (~0ULL)

typedef struct { unsigned int pid; unsigned long long bytes; } Process;
typedef struct { char function[TEXT]; int code; } Failure;

typedef struct {
    char name[TEXT], uuid[TEXT], bus[TEXT];
    int major, minor, lost, slow_ms;
    unsigned long long total_mib, reserved_mib, used_mib;
    unsigned int utilization, temperature, power_mw, power_limit_mw;
    Process processes[PROCESS_LISTS][MAX_PROCESSES];
    unsigned int process_count[PROCESS_LISTS];
    Failure failures[MAX_FAILURES];
    int failure_count;
} Gpu;

typedef struct {
    char driver[TEXT];
    int cuda, init;
    Gpu gpus[MAX_GPUS];
    unsigned int gpu_count;
} State;

static State state = {.init = DRIVER_NOT_LOADED};
static struct timespec read_at;
static ino_t read_inode;
static int initialized;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How often each function was called, for tests that count. */
static struct { const char *name; unsigned long calls; } counts[MAX_FUNCTIONS];

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

static void set_gpu(Gpu *gpu, const char *key, const char *value) {
    if (!strcmp(key, "name")) copy_text(gpu->name, value);
    else if (!strcmp(key, "uuid")) copy_text(gpu->uuid, value);
    else if (!strcmp(key, "bus")) copy_text(gpu->bus, value);
    else if (!strcmp(key, "capability")) sscanf(value, "%d.%d", &gpu->major, &gpu->minor);
    else if (!strcmp(key, "lost")) gpu->lost = atoi(value);
    else if (!strcmp(key, "slow_ms")) gpu->slow_ms = atoi(value);
    else if (!strcmp(key, "memory_total_mib")) gpu->total_mib = strtoull(value, NULL, 10);
    else if (!strcmp(key, "memory_reserved_mib")) gpu->reserved_mib = strtoull(value, NULL, 10);
    else if (!strcmp(key, "memory_used_mib")) gpu->used_mib = strtoull(value, NULL, 10);
    else if (!strcmp(key, "utilization_percent")) gpu->utilization = (unsigned)atoi(value);
    else if (!strcmp(key, "temperature_c")) gpu->temperature = (unsigned)atoi(value);
    else if (!strcmp(key, "power_mw")) gpu->power_mw = (unsigned)atoi(value);
    else if (!strcmp(key, "power_limit_mw")) gpu->power_limit_mw = (unsigned)atoi(value);
    else if (!strcmp(key, "compute")) add_process(gpu, COMPUTE, value);
    else if (!strcmp(key, "graphics")) add_process(gpu, GRAPHICS, value);
    else if (!strcmp(key, "mps")) add_process(gpu, MPS, value);
    else if (!strncmp(key, "fail.", 5) && gpu->failure_count < MAX_FAILURES) {
        Failure *failure = &gpu->failures[gpu->failure_count++];
        copy_text(failure->function, key + 5);
        failure->code = atoi(value);
    }
}

static void set_key(State *into, const char *key, const char *value) {
    if (into->gpu_count) set_gpu(&into->gpus[into->gpu_count - 1], key, value);
    else if (!strcmp(key, "driver")) copy_text(into->driver, value);
    else if (!strcmp(key, "cuda")) into->cuda = atoi(value);
    else if (!strcmp(key, "init")) into->init = atoi(value);
}

static void parse(FILE *file) {
    static State fresh;
    memset(&fresh, 0, sizeof fresh);
    char line[512], key[TEXT], value[TEXT];
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "[gpu]", 5)) {
            if (fresh.gpu_count < MAX_GPUS) fresh.gpu_count++;
        } else if (line[0] != '#' && sscanf(line, " %95[^ =] = %95[^\n]", key, value) == 2) {
            set_key(&fresh, key, value);
        }
    }
    state = fresh;
}

static void read_state(void) {
    const char *path = getenv("GPUPANEL_TEST_NVML_STATE");
    struct stat found;
    if (path == NULL || stat(path, &found) != 0) {
        memset(&state, 0, sizeof state);
        memset(&read_at, 0, sizeof read_at);
        state.init = DRIVER_NOT_LOADED;
        return;
    }
    if (found.st_ino == read_inode && found.st_mtim.tv_sec == read_at.tv_sec &&
        found.st_mtim.tv_nsec == read_at.tv_nsec)
        return;
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    parse(file);
    fclose(file);
    read_inode = found.st_ino;
    read_at = found.st_mtim;
}

/* What every call does first: counts itself, reads the file, and sees whether it may answer. */
static int enter(const char *function) {
    pthread_mutex_lock(&lock);
    count_call(function);
    read_state();
    int code = initialized ? state.init : UNINITIALIZED;
    pthread_mutex_unlock(&lock);
    return code;
}

/* A handle is the GPU's place in the list plus one, so that NULL is none. */
static int enter_gpu(const char *function, void *handle, Gpu **gpu) {
    int code = enter(function);
    if (code) return code;
    size_t place = (size_t)handle;
    if (place == 0 || place > state.gpu_count) return INVALID_ARGUMENT;
    *gpu = &state.gpus[place - 1];
    if ((*gpu)->slow_ms) {
        struct timespec pause = {(*gpu)->slow_ms / 1000, ((*gpu)->slow_ms % 1000) * 1000000L};
        nanosleep(&pause, NULL);
    }
    if ((*gpu)->lost) return GPU_IS_LOST;
    for (int i = 0; i < (*gpu)->failure_count; i++)
        if (!strcmp((*gpu)->failures[i].function, function)) return (*gpu)->failures[i].code;
    return SUCCESS;
}

#define ENTER()                                   \
    do {                                          \
        int code_ = enter(__func__);              \
        if (code_) return code_;                  \
    } while (0)
#define ENTER_GPU()                               \
    Gpu *gpu = NULL;                              \
    do {                                          \
        int code_ = enter_gpu(__func__, handle, &gpu); \
        if (code_) return code_;                  \
    } while (0)

static int give_text(const char *text, char *to, unsigned int size) {
    if (strlen(text) + 1 > size) return INSUFFICIENT_SIZE;
    strcpy(to, text);
    return SUCCESS;
}

int nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    count_call(__func__);
    read_state();
    if (state.init == SUCCESS) initialized++;
    int code = state.init;
    pthread_mutex_unlock(&lock);
    return code;
}

int nvmlShutdown(void) {
    pthread_mutex_lock(&lock);
    count_call(__func__);
    int code = initialized ? SUCCESS : UNINITIALIZED;
    if (initialized) initialized--;
    pthread_mutex_unlock(&lock);
    return code;
}

const char *nvmlErrorString(int code) {
    (void)code;
    return "an error that the stand-in was told to give";
}

int nvmlSystemGetDriverVersion(char *version, unsigned int size) {
    ENTER();
    return give_text(state.driver, version, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    ENTER();
    *version = state.cuda;
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *count) {
    ENTER();
    *count = state.gpu_count;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle) {
    ENTER();
    if (index >= state.gpu_count) return INVALID_ARGUMENT;
    if (state.gpus[index].lost) return GPU_IS_LOST;
    *handle = (void *)(size_t)(index + 1);
    return SUCCESS;
}

int nvmlDeviceGetName(void *handle, char *name, unsigned int size) {
    ENTER_GPU();
    return give_text(gpu->name, name, size);
}

int nvmlDeviceGetUUID(void *handle, char *uuid, unsigned int size) {
    ENTER_GPU();
    return give_text(gpu->uuid, uuid, size);
}

typedef struct {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
} PciInfo;

int nvmlDeviceGetPciInfo_v3(void *handle, PciInfo *info) {
    ENTER_GPU();
    memset(info, 0, sizeof *info);
    snprintf(info->bus_id, sizeof info->bus_id, "%.31s", gpu->bus);
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
    ENTER_GPU();
    *major = gpu->major;
    *minor = gpu->minor;
    return SUCCESS;
}

typedef struct { unsigned long long total, free, used; } Memory;

/* The first version counts what the driver reserves as used. */
int nvmlDeviceGetMemoryInfo(void *handle, Memory *memory) {
    ENTER_GPU();
    memory->total = gpu->total_mib * MIB;
    memory->used = (gpu->used_mib + gpu->reserved_mib) * MIB;
    memory->free = memory->total - memory->used;
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *handle, unsigned int rates[2]) {
    ENTER_GPU();
    rates[0] = gpu->utilization;
    rates[1] = gpu->utilization / 2;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *handle, unsigned int sensor, unsigned int *celsius) {
    ENTER_GPU();
    if (sensor != 0) return INVALID_ARGUMENT;
    *celsius = gpu->temperature;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned int *milliwatts) {
    ENTER_GPU();
    *milliwatts = gpu->power_mw;
    return SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned int *milliwatts) {
    ENTER_GPU();
    *milliwatts = gpu->power_limit_mw;
    return SUCCESS;
}

typedef struct {
    unsigned int pid;
    unsigned long long used_gpu_memory;
    unsigned int gpu_instance_id, compute_instance_id;
} ProcessInfo;

static int give_processes(const Gpu *gpu, int list, unsigned int *count, ProcessInfo *infos) {
    unsigned int room = infos ? *count : 0, have = gpu->process_count[list];
    *count = have;
    if (room < have) return INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < have; i++) {
        infos[i].pid = gpu->processes[list][i].pid;
        infos[i].used_gpu_memory = gpu->processes[list][i].bytes;
        infos[i].gpu_instance_id = infos[i].compute_instance_id = 0xFFFFFFFFu;
    }
    return SUCCESS;
}

#define PROCESS_LIST(function, list)                                               \
    int function(void *handle, unsigned int *count, ProcessInfo *infos) {          \
        ENTER_GPU();                                                               \
        return give_processes(gpu, list, count, infos);                            \
    }

PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v2, COMPUTE)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, GRAPHICS)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, MPS)

#ifndef OLD_DRIVER
PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v3, COMPUTE)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, GRAPHICS)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, MPS)

typedef struct {
    unsigned int version;
    unsigned long long total, reserved, free, used;
} MemoryV2;

int nvmlDeviceGetMemoryInfo_v2(void *handle, MemoryV2 *memory) {
    ENTER_GPU();
    if (memory->version != 0x02000028) return INVALID_ARGUMENT;
    memory->total = gpu->total_mib * MIB;
    memory->reserved = gpu->reserved_mib * MIB;
    memory->used = gpu->used_mib * MIB;
    memory->free = memory->total - memory->used - memory->reserved;
    return SUCCESS;
}
#endif
