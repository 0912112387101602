/*
 * What nvitop asks and gpupanel does not, answered as a data centre's GPU on Linux answers: so that
 * bench_against_nvitop.py compares two programs that get every answer. Built together with the
 * stand-in of tests/nvml.
 */
#include "state.h"

#define NUMBER(function, answer)                       \
    int function(void *handle, unsigned int *value) {  \
        ENTER_GPU();                                   \
        *value = (answer);                             \
        return SUCCESS;                                \
    }

NUMBER(nvmlDeviceGetPowerManagementLimit, 700000)
NUMBER(nvmlDeviceGetPersistenceMode, 1)
NUMBER(nvmlDeviceGetPerformanceState, 0)
NUMBER(nvmlDeviceGetDisplayMode, 0)
NUMBER(nvmlDeviceGetDisplayActive, 0)

#define NUMBER_OF_A_KIND(function, answer)                                \
    int function(void *handle, unsigned int kind, unsigned int *value) {  \
        ENTER_GPU();                                                      \
        *value = (answer) + kind;                                         \
        return SUCCESS;                                                   \
    }

NUMBER_OF_A_KIND(nvmlDeviceGetMaxClockInfo, 1980)
NUMBER_OF_A_KIND(nvmlDeviceGetPcieThroughput, 20000)

#define UTILIZATION(function)                                                      \
    int function(void *handle, unsigned int *percent, unsigned int *microseconds) { \
        ENTER_GPU();                                                               \
        *percent = 0;                                                              \
        *microseconds = 167000;                                                    \
        return SUCCESS;                                                            \
    }

UTILIZATION(nvmlDeviceGetEncoderUtilization)
UTILIZATION(nvmlDeviceGetDecoderUtilization)

int nvmlDeviceGetDriverModel(void *handle, unsigned int *now, unsigned int *later) {
    ENTER_GPU();
    (void)now;
    (void)later;
    return NOT_SUPPORTED; /* Windows alone has it */
}
