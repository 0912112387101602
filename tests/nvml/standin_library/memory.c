/* Memory, and the processes that hold it. */
#define _GNU_SOURCE
#include "state.h"

#include <stddef.h>
#include <time.h>

typedef struct { unsigned long long total, free, used; } Memory;

static int give_memory(const Gpu *gpu, unsigned long long *total, unsigned long long *used,
                       unsigned long long *reserved) {
    if (!gpu->has[R_memory_total_mib]) return NOT_SUPPORTED;
    *total = gpu->readings[R_memory_total_mib] * MIB;
    *used = gpu->readings[R_memory_used_mib] * MIB;
    *reserved = gpu->readings[R_memory_reserved_mib] * MIB;
    Process held[MAX_PROCESSES];
    unsigned int count = held_of(gpu, held, MAX_PROCESSES);
    for (unsigned int i = 0; i < count; i++) *used += held[i].bytes;
    return SUCCESS;
}

/* The first version counts what the driver reserves as used. */
int nvmlDeviceGetMemoryInfo(void *handle, Memory *memory) {
    ENTER_GPU();
    unsigned long long reserved;
    int code = give_memory(gpu, &memory->total, &memory->used, &reserved);
    if (code) return code;
    memory->used += reserved;
    memory->free = memory->used < memory->total ? memory->total - memory->used : 0;
    return SUCCESS;
}

typedef struct {
    unsigned int pid;
    unsigned long long used_gpu_memory;
    unsigned int gpu_instance_id, compute_instance_id;
} ProcessInfo;

static void append(const Process *process, unsigned int instance, unsigned int room,
                   unsigned int *have, ProcessInfo *infos) {
    if (*have < room)
        infos[*have] = (ProcessInfo){process->pid, process->bytes, instance, instance};
    ++*have;
}

/* A GPU in MIG mode lists the processes of its instances, each with the instance's number. */
static int give_processes(const Gpu *gpu, int list, unsigned int *count, ProcessInfo *infos) {
    const State *state = state_now();
    unsigned int room = infos ? *count : 0, have = 0, none = 0xFFFFFFFFu;
    for (unsigned int i = 0; i < state->gpu_count; i++) {
        const Gpu *each = &state->gpus[i];
        if (each->handle != gpu->handle && each->parent_handle != gpu->handle) continue;
        unsigned int instance = each->parent_handle ? (unsigned)each->mig_place : none;
        for (unsigned int n = 0; n < each->process_count[list]; n++)
            append(&each->processes[list][n], instance, room, &have, infos);
    }
    Process held[MAX_PROCESSES];
    unsigned int holding = list == COMPUTE ? held_of(gpu, held, MAX_PROCESSES) : 0;
    for (unsigned int n = 0; n < holding; n++) append(&held[n], none, room, &have, infos);
    *count = have;
    return room < have ? INSUFFICIENT_SIZE : SUCCESS;
}

#define PROCESS_LIST(function, list)                                               \
    int function(void *handle, unsigned int *count, ProcessInfo *infos) {          \
        ENTER_GPU();                                                               \
        return give_processes(gpu, list, count, infos);                           \
    }

PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v2, COMPUTE)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, GRAPHICS)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, MPS)

typedef struct {
    unsigned int pid;
    unsigned long long time_us;
    unsigned int sm, memory, encoder, decoder;
} UseSample;

/* A GPU without any sample does not support it; without one that is new enough nobody used it. */
int nvmlDeviceGetProcessUtilization(void *handle, UseSample *samples, unsigned int *count,
                                    unsigned long long since_us) {
    ENTER_GPU();
    if (!gpu->use_count) return NOT_SUPPORTED;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long now_us = now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
    unsigned int room = samples ? *count : 0, have = 0;
    for (unsigned int i = 0; i < gpu->use_count; i++) {
        const ProcessUse *use = &gpu->uses[i];
        unsigned long long time_us = now_us - use->age_ms * 1000ULL;
        if (time_us <= since_us) continue;
        if (have < room) samples[have] = (UseSample){use->pid, time_us, use->percent, 0, 0, 0};
        have++;
    }
    *count = have;
    if (!have) return NOT_FOUND;
    return room < have ? INSUFFICIENT_SIZE : SUCCESS;
}

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
    if (memory->version != 0x02000028) return ARGUMENT_VERSION_MISMATCH;
    int code = give_memory(gpu, &memory->total, &memory->used, &memory->reserved);
    if (code) return code;
    unsigned long long taken = memory->used + memory->reserved;
    memory->free = taken < memory->total ? memory->total - taken : 0;
    return SUCCESS;
}
#endif
