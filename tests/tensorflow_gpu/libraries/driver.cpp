// libcuda.so.1: the driver API over the host's memory. Every stream is carried out at once, by its
// caller: nothing runs beside anything, and a card that is lost answers with an error.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cards.h"
#include "cuda_interface.h"

struct Context {
  int card;
};
struct Stream {
  Context* context;
  int priority;
};
struct Event {
  std::chrono::steady_clock::time_point at;
  int card;
};

namespace {

constexpr int VERSION = 12080;
constexpr int MAX_CARDS = 64;

Context contexts[MAX_CARDS];
bool retained[MAX_CARDS];
bool started = false;
thread_local Context* current = nullptr;

int count() { return static_cast<int>(visible_cards().size()); }
bool is_card(DeviceNumber device) { return device >= 0 && device < count(); }
int current_card() { return current ? current->card : 0; }
void* host(DeviceAddress address) { return reinterpret_cast<void*>(address); }

Context* context_of(int card) {
  contexts[card].card = card;
  return &contexts[card];
}

// What a card answers that is asked to do something, or whether it has done it. One that hangs
// does so when it comes to an answer again.
Result state_of(int card) {
  while (hangs(card)) usleep(10'000);
  return is_lost(card) ? LAUNCH_FAILED : OK;
}

int card_of(Stream* stream) {
  return stream && stream->context ? stream->context->card : current_card();
}

// A copy; where a card's memory is meant, it must be that of a card.
Result copied(void* to, const void* from, size_t bytes, const void* of_card) {
  int card = bytes ? owner_of(of_card) : 0;
  if (card < 0) {
    fprintf(stderr, "stand-in CUDA: a copy names memory that is not a card's\n");
    return INVALID_VALUE;
  }
  if (Result failed = bytes ? state_of(card) : OK) return failed;
  memmove(to, from, bytes);
  return OK;
}

}  // namespace

API Result cuInit(unsigned) {
  if (count() == 0) return NO_DEVICE;
  started = true;
  return OK;
}
API Result cuDriverGetVersion(int* version) { return *version = VERSION, OK; }
API Result cuDeviceGetCount(int* number) {
  return started ? (*number = count(), OK) : NOT_INITIALIZED;
}
API Result cuDeviceGet(DeviceNumber* device, int ordinal) {
  if (!is_card(ordinal)) return INVALID_DEVICE;
  return *device = ordinal, OK;
}
API Result cuDeviceGetName(char* name, int length, DeviceNumber device) {
  if (!is_card(device)) return INVALID_DEVICE;
  return snprintf(name, length, "%s", visible_cards()[device].name.c_str()), OK;
}
API Result cuDeviceTotalMem_v2(size_t* bytes, DeviceNumber device) {
  if (!is_card(device)) return INVALID_DEVICE;
  return *bytes = visible_cards()[device].total, OK;
}
API Result cuDeviceGetUuid_v2(Uuid* uuid, DeviceNumber device) {
  if (!is_card(device)) return INVALID_DEVICE;
  int place = 0;
  const char* at = visible_cards()[device].uuid.c_str() + strlen("GPU-");
  while (*at && place < 16) {
    if (*at == '-') {
      ++at;
      continue;
    }
    char two[3] = {at[0], at[1], 0};
    uuid->bytes[place++] = static_cast<char>(strtoul(two, nullptr, 16));
    at += 2;
  }
  return OK;
}
API Result cuDeviceGetUuid(Uuid* uuid, DeviceNumber device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
API Result cuDeviceGetPCIBusId(char* id, int length, DeviceNumber device) {
  if (!is_card(device)) return INVALID_DEVICE;
  // CUDA's has a domain of four digits, NVML's one of eight.
  return snprintf(id, length, "%s", visible_cards()[device].bus.c_str() + 4), OK;
}
API Result cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceNumber device) {
  if (!is_card(device)) return INVALID_DEVICE;
  const Card& card = visible_cards()[device];
  unsigned domain = 0, bus = 0, slot = 0;
  sscanf(card.bus.c_str(), "%x:%x:%x", &domain, &bus, &slot);
  switch (attribute) {
    case COMPUTE_CAPABILITY_MAJOR: *value = card.major; break;
    case COMPUTE_CAPABILITY_MINOR: *value = card.minor; break;
    case MULTIPROCESSOR_COUNT: *value = card.multiprocessors; break;
    case PCI_BUS_ID: *value = static_cast<int>(bus); break;
    case PCI_DEVICE_ID: *value = static_cast<int>(slot); break;
    case PCI_DOMAIN_ID: *value = static_cast<int>(domain); break;
    case WARP_SIZE: *value = 32; break;
    case MAX_THREADS_PER_BLOCK:
    case MAX_BLOCK_DIM_X:
    case MAX_BLOCK_DIM_Y: *value = 1024; break;
    case MAX_BLOCK_DIM_Z: *value = 64; break;
    case MAX_GRID_DIM_X: *value = 2147483647; break;
    case MAX_GRID_DIM_Y:
    case MAX_GRID_DIM_Z: *value = 65535; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
    case MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 101376; break;
    case MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 102400; break;
    case MAX_REGISTERS_PER_BLOCK:
    case MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
    case MAX_THREADS_PER_MULTIPROCESSOR: *value = 1536; break;
    case CLOCK_RATE: *value = 1500000; break;
    case MEMORY_CLOCK_RATE: *value = 9001000; break;
    case GLOBAL_MEMORY_BUS_WIDTH: *value = 256; break;
    case L2_CACHE_SIZE: *value = 4 << 20; break;
    case UNIFIED_ADDRESSING:
    case MEMORY_POOLS_SUPPORTED: *value = 1; break;
    default: *value = 0;
  }
  return OK;
}
API Result cuDeviceCanAccessPeer(int* can, DeviceNumber, DeviceNumber) { return *can = 1, OK; }
API Result cuDeviceGetP2PAttribute(int* value, int, DeviceNumber, DeviceNumber) {
  return *value = 1, OK;
}

// ---- Contexts: one for each card ---------------------------------------------------------------

API Result cuDevicePrimaryCtxRetain(Context** context, DeviceNumber device) {
  if (!is_card(device)) return INVALID_DEVICE;
  if (is_lost(device) || !may_compute(device)) return DEVICE_UNAVAILABLE;
  retained[device] = true;
  return *context = context_of(device), OK;
}
API Result cuDevicePrimaryCtxRelease_v2(DeviceNumber) { return OK; }
API Result cuDevicePrimaryCtxSetFlags_v2(DeviceNumber, unsigned) { return OK; }
API Result cuDevicePrimaryCtxGetState(DeviceNumber device, unsigned* flags, int* active) {
  if (!is_card(device)) return INVALID_DEVICE;
  return *flags = 0, *active = retained[device], OK;
}
API Result cuDevicePrimaryCtxReset_v2(DeviceNumber) { return OK; }
API Result cuCtxSetCurrent(Context* context) { return current = context, OK; }
API Result cuCtxGetCurrent(Context** context) { return *context = current, OK; }
API Result cuCtxPushCurrent_v2(Context* context) { return current = context, OK; }
API Result cuCtxPopCurrent_v2(Context** context) {
  if (context) *context = current;
  return OK;
}
API Result cuCtxGetDevice(DeviceNumber* device) { return *device = current_card(), OK; }
API Result cuCtxGetApiVersion(Context*, unsigned* version) { return *version = VERSION, OK; }
API Result cuCtxSynchronize() { return state_of(current_card()); }
API Result cuCtxEnablePeerAccess(Context*, unsigned) { return OK; }
API Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, OK;
}
API Result cuCtxGetSharedMemConfig(int* configuration) { return *configuration = 0, OK; }
API Result cuCtxSetSharedMemConfig(int) { return OK; }

// ---- Memory ------------------------------------------------------------------------------------

API Result cuMemGetInfo_v2(size_t* room, size_t* total) {
  uint64_t free_bytes, total_bytes;
  room_of(current_card(), &free_bytes, &total_bytes);
  return *room = free_bytes, *total = total_bytes, OK;
}
API Result cuMemAlloc_v2(DeviceAddress* address, size_t bytes) {
  if (Result failed = state_of(current_card())) return failed;
  void* taken = take(current_card(), bytes);
  if (!taken) return OUT_OF_MEMORY;
  return *address = reinterpret_cast<DeviceAddress>(taken), OK;
}
API Result cuMemFree_v2(DeviceAddress address) {
  return give_back(host(address)) ? OK : INVALID_VALUE;
}
API Result cuMemAllocManaged(DeviceAddress* address, size_t bytes, unsigned) {
  return cuMemAlloc_v2(address, bytes);
}
API Result cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  return posix_memalign(pointer, 4096, bytes ? bytes : 1) ? OUT_OF_MEMORY : OK;
}
API Result cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}
API Result cuMemFreeHost(void* pointer) { return free(pointer), OK; }
API Result cuMemHostRegister_v2(void*, size_t, unsigned) { return OK; }
API Result cuMemHostUnregister(void*) { return OK; }
API Result cuMemHostGetDevicePointer_v2(DeviceAddress* address, void* pointer, unsigned) {
  return *address = reinterpret_cast<DeviceAddress>(pointer), OK;
}
API Result cuMemGetAddressRange_v2(DeviceAddress* base, size_t* bytes, DeviceAddress address) {
  void* start = nullptr;
  if (owner_of(host(address), bytes, &start) < 0) return NOT_FOUND;
  return *base = reinterpret_cast<DeviceAddress>(start), OK;
}
API Result cuPointerGetAttribute(void* value, PointerAttribute attribute, DeviceAddress address) {
  int card = owner_of(host(address));
  switch (attribute) {
    case POINTER_MEMORY_TYPE:
      return *static_cast<unsigned*>(value) = card < 0 ? HOST_MEMORY : DEVICE_MEMORY, OK;
    case POINTER_DEVICE_ORDINAL:
      return *static_cast<int*>(value) = card, OK;
    case POINTER_CONTEXT:
      return *static_cast<Context**>(value) = card < 0 ? nullptr : context_of(card), OK;
    case POINTER_IS_MANAGED:
      return *static_cast<int*>(value) = 0, OK;
    default:
      return INVALID_VALUE;
  }
}

// A line in the file of GPUPANEL_TEST_CUDA_COPIES for each copy between a card and the host.
static void note_copy(const char* where, size_t bytes) {
  const char* path = getenv("GPUPANEL_TEST_CUDA_COPIES");
  if (!path) return;
  if (FILE* file = fopen(path, "a")) {
    fprintf(file, "%s %zu\n", where, bytes);
    fclose(file);
  }
}

API Result cuMemcpyHtoD_v2(DeviceAddress to, const void* from, size_t bytes) {
  note_copy("to a card", bytes);
  return copied(host(to), from, bytes, host(to));
}
API Result cuMemcpyDtoH_v2(void* to, DeviceAddress from, size_t bytes) {
  note_copy("to the host", bytes);
  return copied(to, host(from), bytes, host(from));
}
API Result cuMemcpyDtoD_v2(DeviceAddress to, DeviceAddress from, size_t bytes) {
  Result result = copied(host(to), host(from), bytes, host(to));
  int card = owner_of(host(to));
  if (bytes && card >= 0 && card != owner_of(host(from)) && garbles(card))
    static_cast<unsigned char*>(host(to))[bytes / 2] ^= 1;
  return result;
}
API Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, size_t bytes, Stream*) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
API Result cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, size_t bytes, Stream*) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
API Result cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, size_t bytes, Stream*) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
API Result cuMemcpyPeerAsync(DeviceAddress to, Context*, DeviceAddress from, Context*,
                             size_t bytes, Stream*) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
API Result cuMemcpyAsync(DeviceAddress to, DeviceAddress from, size_t bytes, Stream*) {
  return memmove(host(to), host(from), bytes), OK;
}
API Result cuMemsetD8_v2(DeviceAddress to, unsigned char value, size_t count) {
  return memset(host(to), value, count), OK;
}
API Result cuMemsetD8Async(DeviceAddress to, unsigned char value, size_t count, Stream*) {
  return cuMemsetD8_v2(to, value, count);
}
API Result cuMemsetD32_v2(DeviceAddress to, unsigned value, size_t count) {
  for (size_t i = 0; i < count; ++i) static_cast<unsigned*>(host(to))[i] = value;
  return OK;
}
API Result cuMemsetD32Async(DeviceAddress to, unsigned value, size_t count, Stream*) {
  return cuMemsetD32_v2(to, value, count);
}

// ---- Pools, from which the allocator cuda_malloc_async takes: a pool is the whole card ---------

API Result cuDeviceGetDefaultMemPool(Context** pool, DeviceNumber device) {
  return *pool = context_of(device), OK;
}
API Result cuMemPoolCreate(Context** pool, const PoolProperties* properties) {
  return *pool = context_of(properties->location_id), OK;
}
API Result cuMemPoolDestroy(Context*) { return OK; }
API Result cuMemPoolSetAttribute(Context*, int, void*) { return OK; }
API Result cuMemPoolGetAttribute(Context*, int, void* value) {
  return *static_cast<uint64_t*>(value) = 0, OK;
}
API Result cuMemPoolSetAccess(Context*, const void*, size_t) { return OK; }
API Result cuMemAllocFromPoolAsync(DeviceAddress* address, size_t bytes, Context* pool, Stream*) {
  void* taken = take(pool->card, bytes);
  if (!taken) return OUT_OF_MEMORY;
  return *address = reinterpret_cast<DeviceAddress>(taken), OK;
}
API Result cuMemFreeAsync(DeviceAddress address, Stream*) { return cuMemFree_v2(address); }

// ---- Streams and events: all is done by the time that it is asked for --------------------------

API Result cuStreamCreateWithPriority(Stream** stream, unsigned, int priority) {
  return *stream = new Stream{current, priority}, OK;
}
API Result cuStreamCreate(Stream** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
API Result cuStreamDestroy_v2(Stream* stream) { return delete stream, OK; }
API Result cuStreamQuery(Stream* stream) { return state_of(card_of(stream)); }
API Result cuStreamSynchronize(Stream* stream) { return state_of(card_of(stream)); }
API Result cuStreamWaitEvent(Stream*, Event*, unsigned) { return OK; }
API Result cuStreamGetCtx(Stream* stream, Context** context) {
  return *context = stream ? stream->context : current, OK;
}
API Result cuStreamGetPriority(Stream* stream, int* priority) {
  return *priority = stream ? stream->priority : 0, OK;
}
API Result cuStreamIsCapturing(Stream*, int* status) { return *status = 0, OK; }
API Result cuStreamAddCallback(Stream* stream, void (*call)(Stream*, Result, void*), void* data,
                               unsigned) {
  return call(stream, OK, data), OK;
}
API Result cuLaunchHostFunc(Stream*, void (*call)(void*), void* data) { return call(data), OK; }
API Result cuEventCreate(Event** event, unsigned) {
  return *event = new Event{std::chrono::steady_clock::now(), current_card()}, OK;
}
API Result cuEventDestroy_v2(Event* event) { return delete event, OK; }
API Result cuEventRecord(Event* event, Stream* stream) {
  event->at = std::chrono::steady_clock::now(), event->card = card_of(stream);
  return OK;
}
API Result cuEventQuery(Event* event) {
  if (hangs(event->card)) return NOT_READY;
  return is_lost(event->card) ? LAUNCH_FAILED : OK;
}
API Result cuEventSynchronize(Event* event) { return state_of(event->card); }
API Result cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return OK;
}
API Result cuEventElapsedTime_v2(float* milliseconds, Event* from, Event* to) {
  return cuEventElapsedTime(milliseconds, from, to);
}

API Result cuGetErrorName(Result error, const char** words) {
  switch (error) {
    case OK: *words = "CUDA_SUCCESS"; break;
    case INVALID_VALUE: *words = "CUDA_ERROR_INVALID_VALUE"; break;
    case OUT_OF_MEMORY: *words = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case NO_DEVICE: *words = "CUDA_ERROR_NO_DEVICE"; break;
    case DEVICE_UNAVAILABLE: *words = "CUDA_ERROR_DEVICE_UNAVAILABLE"; break;
    case NOT_READY: *words = "CUDA_ERROR_NOT_READY"; break;
    case LAUNCH_FAILED: *words = "CUDA_ERROR_LAUNCH_FAILED"; break;
    case NOT_SUPPORTED: *words = "CUDA_ERROR_NOT_SUPPORTED"; break;
    default: *words = "CUDA_ERROR_UNKNOWN";
  }
  return OK;
}
API Result cuGetErrorString(Result error, const char** words) {
  switch (error) {
    case INVALID_VALUE: *words = "invalid argument"; break;
    case OUT_OF_MEMORY: *words = "out of memory"; break;
    case NO_DEVICE: *words = "no CUDA-capable device is detected"; break;
    case DEVICE_UNAVAILABLE: *words = "CUDA-capable device(s) is/are busy or unavailable"; break;
    case LAUNCH_FAILED: *words = "unspecified launch failure"; break;
    case NOT_SUPPORTED: *words = "operation not supported"; break;
    default: *words = "unknown error";
  }
  return OK;
}
