// The part of CUDA's interface that TensorFlow calls: types, numbers and layouts of CUDA 12.
//
// They are declared here, so that no header of NVIDIA is needed. What a function means is said in
// NVIDIA's reference of the driver API (functions cu...) and of the runtime API (cuda...).
#pragma once
#include <cstddef>
#include <cstdint>

#define API extern "C" __attribute__((visibility("default")))

// Of the driver and of the runtime alike.
enum Result : int {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  DEVICE_UNAVAILABLE = 46,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  NOT_FOUND = 500,
  NOT_READY = 600,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
  UNKNOWN = 999,
};

enum DeviceAttribute : int {
  MAX_THREADS_PER_BLOCK = 1,
  MAX_BLOCK_DIM_X = 2,
  MAX_BLOCK_DIM_Y = 3,
  MAX_BLOCK_DIM_Z = 4,
  MAX_GRID_DIM_X = 5,
  MAX_GRID_DIM_Y = 6,
  MAX_GRID_DIM_Z = 7,
  MAX_SHARED_MEMORY_PER_BLOCK = 8,
  WARP_SIZE = 10,
  MAX_REGISTERS_PER_BLOCK = 12,
  CLOCK_RATE = 13,
  MULTIPROCESSOR_COUNT = 16,
  PCI_BUS_ID = 33,
  PCI_DEVICE_ID = 34,
  MEMORY_CLOCK_RATE = 36,
  GLOBAL_MEMORY_BUS_WIDTH = 37,
  L2_CACHE_SIZE = 38,
  MAX_THREADS_PER_MULTIPROCESSOR = 39,
  UNIFIED_ADDRESSING = 41,
  PCI_DOMAIN_ID = 50,
  COMPUTE_CAPABILITY_MAJOR = 75,
  COMPUTE_CAPABILITY_MINOR = 76,
  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  MEMORY_POOLS_SUPPORTED = 115,
};

enum PointerAttribute : int {
  POINTER_CONTEXT = 1,
  POINTER_MEMORY_TYPE = 2,
  POINTER_IS_MANAGED = 8,
  POINTER_DEVICE_ORDINAL = 9,
};
enum MemoryType : unsigned { HOST_MEMORY = 1, DEVICE_MEMORY = 2 };

using DeviceNumber = int;  // in the order in which this process sees the devices
using DeviceAddress = unsigned long long;
struct Context;
struct Stream;
struct Event;

struct Uuid {
  char bytes[16];
};

// The beginning of what creates a memory pool; the rest of its 88 bytes is not looked at.
struct PoolProperties {
  int allocation_type, handle_types, location_type, location_id;
};

struct Size3 {
  unsigned x, y, z;
};

// cudaDeviceProp of CUDA 12, 1,032 bytes; what nobody here fills in has no name.
struct DeviceProperties {
  char name[256];
  Uuid uuid;
  char luid[16];
  size_t memory, shared_memory_per_block;
  int registers_per_block, warp_size;
  size_t pitch;
  int threads_per_block, block_size[3], grid_size[3], clock_khz;
  size_t constant_memory;
  int major, minor;
  size_t texture_alignments[2];
  int overlap, multiprocessors;
  int textures[48];
  int pci_bus;
  int between[4];
  int unified_addressing, memory_clock_khz, memory_bus_bits, l2_cache, l2_persisting;
  int threads_per_multiprocessor, streams[3];
  size_t shared_memory_per_multiprocessor;
  int registers_per_multiprocessor;
  int rest[95];
};
static_assert(offsetof(DeviceProperties, memory) == 288);
static_assert(offsetof(DeviceProperties, multiprocessors) == 388);
static_assert(offsetof(DeviceProperties, pci_bus) == 584);
static_assert(offsetof(DeviceProperties, threads_per_multiprocessor) == 624);
static_assert(offsetof(DeviceProperties, registers_per_multiprocessor) == 648);
static_assert(sizeof(DeviceProperties) == 1032);

// cudaFuncAttributes of CUDA 12.
struct FunctionAttributes {
  size_t shared, constant, local;
  int threads_per_block, rest[29];
};
static_assert(sizeof(FunctionAttributes) == 144);
