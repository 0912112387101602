// libcudart.so.12: the runtime API over the stand-in driver. A kernel of CUDA cannot be carried
// out: its launch is refused by name, never passed over.
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "cards.h"
#include "cuda_interface.h"

// Of the driver.
extern "C" {
Result cuInit(unsigned);
Result cuDriverGetVersion(int*);
Result cuDeviceGetCount(int*);
Result cuDeviceGetName(char*, int, DeviceNumber);
Result cuDeviceTotalMem_v2(size_t*, DeviceNumber);
Result cuDeviceGetUuid_v2(Uuid*, DeviceNumber);
Result cuDeviceGetPCIBusId(char*, int, DeviceNumber);
Result cuDeviceGetAttribute(int*, DeviceAttribute, DeviceNumber);
Result cuDevicePrimaryCtxRetain(Context**, DeviceNumber);
Result cuCtxSetCurrent(Context*);
Result cuCtxGetCurrent(Context**);
Result cuCtxGetDevice(DeviceNumber*);
Result cuCtxSynchronize();
Result cuMemGetInfo_v2(size_t*, size_t*);
Result cuMemAlloc_v2(DeviceAddress*, size_t);
Result cuMemFree_v2(DeviceAddress);
Result cuStreamSynchronize(Stream*);
Result cuEventCreate(Event**, unsigned);
Result cuEventDestroy_v2(Event*);
Result cuEventRecord(Event*, Stream*);
Result cuEventElapsedTime(float*, Event*, Event*);
Result cuGetErrorName(Result, const char**);
Result cuGetErrorString(Result, const char**);
}

namespace {

thread_local int chosen = 0;
thread_local Result last = OK;

std::mutex mutex;
std::map<const void*, std::string>& kernels() {
  static auto* names = new std::map<const void*, std::string>;
  return *names;
}

Result noted(Result result) {
  if (result != OK) last = result;
  return result;
}

int number_of_cards() {
  int number = 0;
  return cuInit(0) == OK && cuDeviceGetCount(&number) == OK ? number : 0;
}

}  // namespace

// ---- Kernels, which libraries register as they are loaded --------------------------------------

API void** __cudaRegisterFatBinary(void*) {
  static void* one = nullptr;
  return &one;
}
API void __cudaRegisterFatBinaryEnd(void**) {}
API void __cudaUnregisterFatBinary(void**) {}
API void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, void*,
                                void*, void*, void*, int*) {
  std::lock_guard<std::mutex> lock(mutex);
  kernels()[function] = name ? name : "";
}
API void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
API unsigned __cudaPushCallConfiguration(Size3, Size3, size_t, void*) { return 0; }
API Result __cudaPopCallConfiguration(Size3* grid, Size3* block, size_t* shared, void* stream) {
  *grid = *block = Size3{1, 1, 1};
  *shared = 0;
  *static_cast<void**>(stream) = nullptr;
  return OK;
}
API Result cudaLaunchKernel(const void* function, Size3, Size3, void**, size_t, Stream*) {
  std::lock_guard<std::mutex> lock(mutex);
  fprintf(stderr, "stand-in CUDA: refused the kernel %s\n", kernels()[function].c_str());
  return noted(NOT_SUPPORTED);
}
API Result cudaFuncGetAttributes(FunctionAttributes* attributes, const void*) {
  *attributes = {};
  attributes->threads_per_block = 1024;
  return OK;
}
API Result cudaFuncSetCacheConfig(const void*, int) { return OK; }
API Result cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                  size_t, unsigned) {
  return *blocks = 1, OK;
}
API Result cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, int) { return OK; }

// ---- Devices -----------------------------------------------------------------------------------

API Result cudaRuntimeGetVersion(int* version) { return *version = 12050, OK; }
API Result cudaDriverGetVersion(int* version) { return noted(cuDriverGetVersion(version)); }
API Result cudaGetDeviceCount(int* count) {
  *count = number_of_cards();
  return *count ? OK : noted(NO_DEVICE);
}
API Result cudaSetDevice(DeviceNumber device) {
  Context* context;
  if (Result failed = cuDevicePrimaryCtxRetain(&context, device)) return noted(failed);
  chosen = device;
  return noted(cuCtxSetCurrent(context));
}
API Result cudaGetDevice(DeviceNumber* device) {
  Context* context = nullptr;
  cuCtxGetCurrent(&context);
  return context ? noted(cuCtxGetDevice(device)) : (*device = chosen, OK);
}
API Result cudaDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceNumber device) {
  return noted(cuDeviceGetAttribute(value, attribute, device));
}
API Result cudaDeviceGetPCIBusId(char* id, int length, DeviceNumber device) {
  return noted(cuDeviceGetPCIBusId(id, length, device));
}
API Result cudaGetDeviceProperties_v2(DeviceProperties* properties, DeviceNumber device) {
  if (device < 0 || device >= number_of_cards()) return noted(INVALID_DEVICE);
  *properties = {};
  cuDeviceGetName(properties->name, sizeof properties->name, device);
  cuDeviceGetUuid_v2(&properties->uuid, device);
  cuDeviceTotalMem_v2(&properties->memory, device);
  auto asked = [device](DeviceAttribute attribute) {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  properties->major = asked(COMPUTE_CAPABILITY_MAJOR);
  properties->minor = asked(COMPUTE_CAPABILITY_MINOR);
  properties->multiprocessors = asked(MULTIPROCESSOR_COUNT);
  properties->warp_size = asked(WARP_SIZE);
  properties->threads_per_block = asked(MAX_THREADS_PER_BLOCK);
  properties->threads_per_multiprocessor = asked(MAX_THREADS_PER_MULTIPROCESSOR);
  properties->registers_per_block = asked(MAX_REGISTERS_PER_BLOCK);
  properties->registers_per_multiprocessor = asked(MAX_REGISTERS_PER_MULTIPROCESSOR);
  properties->shared_memory_per_block = asked(MAX_SHARED_MEMORY_PER_BLOCK);
  properties->shared_memory_per_multiprocessor = asked(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  properties->clock_khz = asked(CLOCK_RATE);
  properties->memory_clock_khz = asked(MEMORY_CLOCK_RATE);
  properties->memory_bus_bits = asked(GLOBAL_MEMORY_BUS_WIDTH);
  properties->l2_cache = asked(L2_CACHE_SIZE);
  properties->unified_addressing = asked(UNIFIED_ADDRESSING);
  properties->pci_bus = asked(PCI_BUS_ID);
  for (int axis = 0; axis < 3; ++axis) {
    properties->block_size[axis] = asked(static_cast<DeviceAttribute>(MAX_BLOCK_DIM_X + axis));
    properties->grid_size[axis] = asked(static_cast<DeviceAttribute>(MAX_GRID_DIM_X + axis));
  }
  return OK;
}
API Result cudaDeviceSynchronize() { return noted(cuCtxSynchronize()); }
API Result cudaDeviceSetSharedMemConfig(int) { return OK; }

// ---- Memory, streams and events ----------------------------------------------------------------

API Result cudaMemGetInfo(size_t* room, size_t* total) {
  return noted(cuMemGetInfo_v2(room, total));
}
API Result cudaMalloc(void** pointer, size_t bytes) {
  return noted(cuMemAlloc_v2(reinterpret_cast<DeviceAddress*>(pointer), bytes));
}
API Result cudaFree(void* pointer) {
  return pointer ? noted(cuMemFree_v2(reinterpret_cast<DeviceAddress>(pointer))) : OK;
}
API Result cudaHostGetFlags(unsigned* flags, void*) { return *flags = 0, OK; }
API Result cudaMemcpyAsync(void* to, const void* from, size_t bytes, int, Stream*) {
  return memmove(to, from, bytes), OK;
}
API Result cudaMemcpy(void* to, const void* from, size_t bytes, int) {
  return memmove(to, from, bytes), OK;
}
API Result cudaMemsetAsync(void* to, int value, size_t bytes, Stream*) {
  return memset(to, value, bytes), OK;
}
API Result cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                             Stream*) {
  auto* row = static_cast<char*>(to);
  for (size_t number = 0; number < height; ++number, row += pitch) memset(row, value, width);
  return OK;
}
API Result cudaStreamQuery(Stream*) { return OK; }
API Result cudaStreamSynchronize(Stream* stream) { return noted(cuStreamSynchronize(stream)); }
API Result cudaEventCreateWithFlags(Event** event, unsigned flags) {
  return noted(cuEventCreate(event, flags));
}
API Result cudaEventCreate(Event** event) { return noted(cuEventCreate(event, 0)); }
API Result cudaEventDestroy(Event* event) { return noted(cuEventDestroy_v2(event)); }
API Result cudaEventRecord(Event* event, Stream* stream) {
  return noted(cuEventRecord(event, stream));
}
API Result cudaEventSynchronize(Event*) { return OK; }
API Result cudaEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return noted(cuEventElapsedTime(milliseconds, from, to));
}
API Result cudaGetLastError() {
  Result was = last;
  return last = OK, was;
}
API Result cudaPeekAtLastError() { return last; }
API const char* cudaGetErrorString(Result error) {
  const char* words = "no error";
  if (error) cuGetErrorString(error, &words);
  return words;
}
API const char* cudaGetErrorName(Result error) {
  const char* words = "cudaSuccess";
  if (error) cuGetErrorName(error, &words);
  return words;
}
