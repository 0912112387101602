/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1, for tests alone: it answers what a text file says.
 *
 * The file's path is in GPUPANEL_TEST_NVML_STATE. It is read again whenever it changed, so a test
 * can take a GPU away while somebody samples. Lines are "key = value"; "[gpu]" begins a GPU, in
 * the order in which NVML would list them, "[mig]" an instance of the GPU before it; "#" begins a
 * comment. A reading that has no line is not supported. Without the variable or the file there is
 * no driver. tests/nvml/standin.py writes the file and says what the keys are.
 *
 * Structures and numbers are those of nvml.h as the module pynvml declares them. Compiled with
 * -DOLD_DRIVER it lacks what drivers before 510 lack: memory info v2, process lists v3, the number
 * of fans, the clocks event reasons; compiled with -DNEW_DRIVER it lacks what will be taken out.
 */
#ifndef STANDIN_STATE_H
#define STANDIN_STATE_H

enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, ARGUMENT_VERSION_MISMATCH = 25
};
enum {
    MAX_GPUS = 32, MAX_PROCESSES = 32, MAX_FAILURES = 64, MAX_FUNCTIONS = 128, MAX_FANS = 8,
    MAX_LINKS = 36, MAX_NEIGHBOURS = 16, MAX_HANDLES = 256, TEXT = 96
};
enum { COMPUTE, GRAPHICS, MPS, PROCESS_LISTS };
#define MIB (1024ULL * 1024ULL)
#define MEMORY_NOT_AVAILABLE (~0ULL)

/* The readings that are one number, each named as its key in the file. */
#define READINGS(X)                                                                            \
    X(architecture) X(memory_total_mib) X(memory_reserved_mib) X(memory_used_mib)              \
    X(utilization_percent) X(memory_utilization_percent) X(temperature_c)                      \
    X(temperature_slowdown_c) X(temperature_shutdown_c) X(power_mw) X(power_limit_mw)          \
    X(power_limit_default_mw) X(power_limit_least_mw) X(power_limit_most_mw)                   \
    X(energy_mj)                                                                               \
    X(clock_mhz) X(memory_clock_mhz) X(throttle_mask) X(pcie_generation) X(pcie_width)         \
    X(pcie_generation_max) X(pcie_width_max) X(ecc_corrected) X(ecc_uncorrected)               \
    X(retired_pages_single_bit) X(retired_pages_double_bit) X(remapped_rows_corrected)         \
    X(remapped_rows_uncorrected) X(mig_mode) X(nvlink_fabric)          \
    X(compute_mode)

#define AS_NUMBER(name) R_##name,
enum { READINGS(AS_NUMBER) READING_COUNT };

typedef struct { unsigned int pid; unsigned long long bytes; } Process;
typedef struct { unsigned int pid, percent, age_ms; } ProcessUse;
typedef struct { char function[TEXT]; int code; } Failure;
/* An NVLink connection: to the GPU at a PCI bus id, or to a "switch". */
typedef struct { char to[TEXT]; int is_up; } Link;
typedef struct { char bus[TEXT]; unsigned int level; } Neighbour;

typedef struct {
    int handle;        /* one for each UUID for as long as the library is loaded */
    int parent_handle; /* of the GPU that a MIG instance is a part of; 0 for a GPU */
    char name[TEXT], uuid[TEXT], bus[TEXT];
    int major, minor, lost, slow_ms, mig_place;
    char hangs[TEXT]; /* the function that does not come back while the file says so */
    unsigned long long readings[READING_COUNT];
    char has[READING_COUNT];
    unsigned int fans[MAX_FANS], fan_count;
    Link links[MAX_LINKS];
    unsigned int link_count;
    Neighbour neighbours[MAX_NEIGHBOURS];
    unsigned int neighbour_count;
    Process processes[PROCESS_LISTS][MAX_PROCESSES];
    unsigned int process_count[PROCESS_LISTS];
    ProcessUse uses[MAX_PROCESSES];
    unsigned int use_count;
    Failure failures[MAX_FAILURES];
    int failure_count;
} Gpu;

typedef struct {
    char driver[TEXT];
    int cuda, init;
    Gpu gpus[MAX_GPUS]; /* instances behind their GPU */
    unsigned int gpu_count;
} State;

/* What every call does first: counts itself, reads the file, and sees whether it may answer.
 * A state never changes and is never freed: other threads may still be reading an earlier one. */
int enter(const char *function);
int enter_gpu(const char *function, void *handle, const Gpu **gpu);
const State *state_now(void);
/* Whether a GPU answers this function: an error number, or SUCCESS. */
int reach(const Gpu *gpu, const char *function);

/* The processes that hold memory of a GPU by the stand-in CUDA: how many, of at most ``room``. */
unsigned int held_of(const Gpu *gpu, Process *held, unsigned int room);

int give(const Gpu *gpu, int reading, unsigned int *to);
int give_text(const char *text, char *to, unsigned int size);

#define ENTER()                      \
    do {                             \
        int code_ = enter(__func__); \
        if (code_) return code_;     \
    } while (0)
#define ENTER_GPU()                                     \
    const Gpu *gpu = 0;                                 \
    do {                                                \
        int code_ = enter_gpu(__func__, handle, &gpu);  \
        if (code_) return code_;                        \
    } while (0)

#endif
