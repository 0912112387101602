/* The system, the handles, and what one GPU tells of itself. */
#define _GNU_SOURCE
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *nvmlErrorString(int code) {
    (void)code;
    return "an error that the stand-in was told to give";
}

int nvmlSystemGetDriverVersion(char *version, unsigned int size) {
    ENTER();
    const State *state = state_now();
    return give_text(state->driver, version, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    ENTER();
    const State *state = state_now();
    *version = state->cuda;
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *count) {
    ENTER();
    const State *state = state_now();
    *count = 0;
    for (unsigned int i = 0; i < state->gpu_count; i++) *count += !state->gpus[i].parent_handle;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle) {
    ENTER();
    const State *state = state_now();
    for (unsigned int i = 0; i < state->gpu_count; i++) {
        if (state->gpus[i].parent_handle || index--) continue;
        int code = reach(&state->gpus[i], __func__);
        if (code) return code;
        *handle = (void *)(size_t)state->gpus[i].handle;
        return SUCCESS;
    }
    return INVALID_ARGUMENT;
}

/* TensorFlow asks by CUDA's name of the bus, whose domain has four digits instead of eight. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle) {
    ENTER();
    const State *state = state_now();
    for (unsigned int i = 0; i < state->gpu_count; i++) {
        size_t asked = strlen(bus), whole = strlen(state->gpus[i].bus);
        if (state->gpus[i].parent_handle || asked > whole) continue;
        if (strcasecmp(state->gpus[i].bus + whole - asked, bus)) continue;
        int code = reach(&state->gpus[i], __func__);
        if (code) return code;
        *handle = (void *)(size_t)state->gpus[i].handle;
        return SUCCESS;
    }
    return NOT_FOUND;
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

#define READING(function, reading)                     \
    int function(void *handle, unsigned int *value) {  \
        ENTER_GPU();                                   \
        return give(gpu, R_##reading, value);         \
    }

READING(nvmlDeviceGetArchitecture, architecture)
READING(nvmlDeviceGetPowerUsage, power_mw)

/* What was set holds for every process, in a file beside that of the state: "UUID milliwatts". */
static unsigned int limit_set(const Gpu *gpu) {
    char path[4096], uuid[TEXT];
    unsigned int limit = 0, line;
    snprintf(path, sizeof path, "%s.limits", getenv("GPUPANEL_TEST_NVML_STATE"));
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    while (fscanf(file, "%95s %u", uuid, &line) == 2)
        if (!strcmp(uuid, gpu->uuid)) limit = line;
    fclose(file);
    return limit;
}

int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned int *value) {
    ENTER_GPU();
    int code = give(gpu, R_power_limit_mw, value);
    unsigned int set = code ? 0 : limit_set(gpu);
    if (set) *value = set;
    return code;
}

int nvmlDeviceGetPowerManagementLimitConstraints(void *handle, unsigned int *least,
                                                 unsigned int *most) {
    ENTER_GPU();
    int code = give(gpu, R_power_limit_least_mw, least);
    return code ? code : give(gpu, R_power_limit_most_mw, most);
}

int nvmlDeviceSetPowerManagementLimit(void *handle, unsigned int limit) {
    ENTER_GPU();
    unsigned int least, most;
    char path[4096];
    if (give(gpu, R_power_limit_least_mw, &least) || give(gpu, R_power_limit_most_mw, &most))
        return NOT_SUPPORTED;
    if (limit < least || limit > most) return INVALID_ARGUMENT;
    snprintf(path, sizeof path, "%s.limits", getenv("GPUPANEL_TEST_NVML_STATE"));
    FILE *file = fopen(path, "a");
    if (!file) return INVALID_ARGUMENT;
    fprintf(file, "%s %u\n", gpu->uuid, limit);
    fclose(file);
    return SUCCESS;
}
READING(nvmlDeviceGetPowerManagementDefaultLimit, power_limit_default_mw)
READING(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation)
READING(nvmlDeviceGetCurrPcieLinkWidth, pcie_width)
READING(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation_max)
READING(nvmlDeviceGetMaxPcieLinkWidth, pcie_width_max)

int nvmlDeviceGetUtilizationRates(void *handle, unsigned int rates[2]) {
    ENTER_GPU();
    int code = give(gpu, R_utilization_percent, &rates[0]);
    if (give(gpu, R_memory_utilization_percent, &rates[1])) rates[1] = rates[0] / 2;
    return code;
}

int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *millijoules) {
    ENTER_GPU();
    unsigned int value = 0;
    int code = give(gpu, R_energy_mj, &value);
    *millijoules = value;
    return code;
}

#ifndef NEW_DRIVER
int nvmlDeviceGetTemperature(void *handle, unsigned int sensor, unsigned int *celsius) {
    ENTER_GPU();
    if (sensor != 0) return INVALID_ARGUMENT;
    return give(gpu, R_temperature_c, celsius);
}
#endif

#ifndef OLD_DRIVER
typedef struct { unsigned int version, sensor; int celsius; } Temperature;

int nvmlDeviceGetTemperatureV(void *handle, Temperature *temperature) {
    ENTER_GPU();
    if (temperature->version != 0x100000C) return ARGUMENT_VERSION_MISMATCH;
    if (temperature->sensor != 0) return INVALID_ARGUMENT;
    return give(gpu, R_temperature_c, (unsigned int *)&temperature->celsius);
}
#endif

int nvmlDeviceGetTemperatureThreshold(void *handle, unsigned int kind, unsigned int *celsius) {
    ENTER_GPU();
    if (kind == 0) return give(gpu, R_temperature_shutdown_c, celsius);
    if (kind == 1) return give(gpu, R_temperature_slowdown_c, celsius);
    return NOT_SUPPORTED;
}

/* Of graphics (0), the streaming multiprocessors (1), the memory (2) and video (3). */
int nvmlDeviceGetClockInfo(void *handle, unsigned int kind, unsigned int *mhz) {
    ENTER_GPU();
    if (kind > 3) return INVALID_ARGUMENT;
    return give(gpu, kind == 2 ? R_memory_clock_mhz : R_clock_mhz, mhz);
}

int nvmlDeviceGetFanSpeed(void *handle, unsigned int *percent) {
    ENTER_GPU();
    if (!gpu->fan_count) return NOT_SUPPORTED;
    *percent = gpu->fans[0];
    return SUCCESS;
}

#ifndef OLD_DRIVER
int nvmlDeviceGetNumFans(void *handle, unsigned int *count) {
    ENTER_GPU();
    *count = gpu->fan_count;
    return SUCCESS;
}

int nvmlDeviceGetFanSpeed_v2(void *handle, unsigned int fan, unsigned int *percent) {
    ENTER_GPU();
    if (fan >= gpu->fan_count) return INVALID_ARGUMENT;
    *percent = gpu->fans[fan];
    return SUCCESS;
}
#endif

static int give_throttle_mask(const Gpu *gpu, unsigned long long *mask) {
    if (!gpu->has[R_throttle_mask]) return NOT_SUPPORTED;
    *mask = gpu->readings[R_throttle_mask];
    return SUCCESS;
}

#ifndef NEW_DRIVER
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *mask) {
    ENTER_GPU();
    return give_throttle_mask(gpu, mask);
}
#endif

#ifndef OLD_DRIVER
int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *mask) {
    ENTER_GPU();
    return give_throttle_mask(gpu, mask);
}
#endif

int nvmlDeviceGetComputeMode(void *handle, int *mode) {
    ENTER_GPU();
    return give(gpu, R_compute_mode, (unsigned int *)mode);
}

/* Corrected (0) or not (1), since the driver was loaded (0). */
int nvmlDeviceGetTotalEccErrors(void *handle, unsigned int kind, unsigned int counter,
                                unsigned long long *errors) {
    ENTER_GPU();
    int reading = kind ? R_ecc_uncorrected : R_ecc_corrected;
    if (kind > 1 || counter != 0) return INVALID_ARGUMENT;
    if (!gpu->has[reading]) return NOT_SUPPORTED;
    *errors = gpu->readings[reading];
    return SUCCESS;
}

/* After several single bit errors (0), after a double bit error (1). */
int nvmlDeviceGetRetiredPages(void *handle, unsigned int cause, unsigned int *count,
                              unsigned long long *addresses) {
    ENTER_GPU();
    unsigned int room = addresses ? *count : 0;
    int code = give(gpu, cause ? R_retired_pages_double_bit : R_retired_pages_single_bit, count);
    if (code) return code;
    if (room < *count) return INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < *count; i++) addresses[i] = 0x1000ULL * i;
    return SUCCESS;
}

int nvmlDeviceGetRemappedRows(void *handle, unsigned int *corrected, unsigned int *uncorrected,
                              unsigned int *is_pending, unsigned int *has_failed) {
    ENTER_GPU();
    *is_pending = *has_failed = 0;
    int code = give(gpu, R_remapped_rows_corrected, corrected);
    return code ? code : give(gpu, R_remapped_rows_uncorrected, uncorrected);
}
