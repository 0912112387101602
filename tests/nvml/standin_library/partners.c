/* The instances of a GPU in MIG mode, and its connections with other GPUs. */
#define _GNU_SOURCE
#include "state.h"

#include <stdio.h>
#include <string.h>

enum { MAX_INSTANCES = 7, TO_GPU = 0, TO_SWITCH = 2, SYSTEM = 50, NVLINK = 2, P2P_NOT_SUPPORTED = 5 };

int nvmlDeviceGetMigMode(void *handle, unsigned int *current, unsigned int *pending) {
    ENTER_GPU();
    *pending = 0;
    int code = give(gpu, R_mig_mode, current);
    if (!code) *pending = *current;
    return code;
}

int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned int *count) {
    ENTER_GPU();
    *count = gpu->has[R_mig_mode] ? MAX_INSTANCES : 0;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned int index, void **instance) {
    ENTER_GPU();
    if (index >= MAX_INSTANCES) return INVALID_ARGUMENT;
    const State *state = state_now();
    for (unsigned int i = 0; i < state->gpu_count; i++)
        if (state->gpus[i].parent_handle == gpu->handle &&
            state->gpus[i].mig_place == (int)index) {
            *instance = (void *)(size_t)state->gpus[i].handle;
            return SUCCESS;
        }
    return NOT_FOUND;
}

static int find_link(const Gpu *gpu, unsigned int number, const Link **link) {
    if (!gpu->link_count) return NOT_SUPPORTED;
    if (number >= gpu->link_count) return INVALID_ARGUMENT;
    *link = &gpu->links[number];
    return SUCCESS;
}

int nvmlDeviceGetNvLinkState(void *handle, unsigned int number, unsigned int *is_up) {
    ENTER_GPU();
    const Link *link;
    int code = find_link(gpu, number, &link);
    if (!code) *is_up = (unsigned)link->is_up;
    return code;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned int number, unsigned int *kind) {
    ENTER_GPU();
    const Link *link;
    int code = find_link(gpu, number, &link);
    if (!code) *kind = strcmp(link->to, "switch") ? TO_GPU : TO_SWITCH;
    return code;
}

typedef struct {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
} PciInfo;

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned int number, PciInfo *info) {
    ENTER_GPU();
    const Link *link;
    int code = find_link(gpu, number, &link);
    if (code) return code;
    memset(info, 0, sizeof *info);
    snprintf(info->bus_id, sizeof info->bus_id, "%.31s", link->to);
    return SUCCESS;
}

#define ENTER_OTHER()                                         \
    const Gpu *other = 0;                                     \
    do {                                                      \
        int code_ = enter_gpu(__func__, other_handle, &other); \
        if (code_) return code_;                              \
    } while (0)

int nvmlDeviceGetTopologyCommonAncestor(void *handle, void *other_handle, unsigned int *level) {
    ENTER_GPU();
    ENTER_OTHER();
    *level = SYSTEM;
    for (unsigned int i = 0; i < gpu->neighbour_count; i++)
        if (!strcmp(gpu->neighbours[i].bus, other->bus)) *level = gpu->neighbours[i].level;
    for (unsigned int i = 0; i < other->neighbour_count; i++)
        if (!strcmp(other->neighbours[i].bus, gpu->bus)) *level = other->neighbours[i].level;
    return SUCCESS;
}

static int leads_to(const Gpu *gpu, const char *where) {
    for (unsigned int i = 0; i < gpu->link_count; i++)
        if (gpu->links[i].is_up && !strcmp(gpu->links[i].to, where)) return 1;
    return 0;
}

/* Over NVLink: straight, or through switches of the same fabric; never in MIG mode. */
int nvmlDeviceGetP2PStatus(void *handle, void *other_handle, unsigned int what,
                           unsigned int *status) {
    ENTER_GPU();
    ENTER_OTHER();
    int switched = leads_to(gpu, "switch") && leads_to(other, "switch") &&
                   gpu->readings[R_nvlink_fabric] == other->readings[R_nvlink_fabric];
    int is_whole = !gpu->readings[R_mig_mode] && !other->readings[R_mig_mode];
    int is_on = what == NVLINK && is_whole && (switched || leads_to(gpu, other->bus));
    *status = is_on ? SUCCESS : P2P_NOT_SUPPORTED;
    return SUCCESS;
}
