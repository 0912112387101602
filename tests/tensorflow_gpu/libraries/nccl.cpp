// libnccl.so.2 between the ranks of one process: the last one that comes computes for all.
// Between processes it cannot be used: their identities do not meet.
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

// The part of NCCL's interface that TensorFlow calls, with NCCL's numbers.
enum Result : int { OK = 0, INTERNAL_ERROR = 3, INVALID_ARGUMENT = 4 };
enum Reduction : int { SUM = 0, PRODUCT = 1, MAXIMUM = 2, MINIMUM = 3, AVERAGE = 4 };
enum DataType : int {
  INT8 = 0,
  UINT8 = 1,
  INT32 = 2,
  UINT32 = 3,
  INT64 = 4,
  UINT64 = 5,
  FLOAT16 = 6,
  FLOAT32 = 7,
  FLOAT64 = 8,
};
struct UniqueId {
  char bytes[128];
};

namespace {

// What one rank hands over, and where it wants the result.
struct Call {
  const void* from;
  void* to;
};
// The calls of all ranks that belong together.
struct Meeting {
  std::vector<Call> calls;
  int here = 0, gone = 0;
  bool is_done = false;
};
struct Ranks {
  int count = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<long, Meeting> meetings;
  bool is_aborted = false;
};

std::mutex mutex;
std::map<long, std::shared_ptr<Ranks>> groups;
long last_group = 0;

size_t size_of(DataType type) {
  switch (type) {
    case INT8:
    case UINT8: return 1;
    case FLOAT16: return 2;
    case INT32:
    case UINT32:
    case FLOAT32: return 4;
    default: return 8;
  }
}

template <class Number>
void reduce_as(const std::vector<Call>& calls, size_t count, Reduction how, void* to) {
  auto* first = static_cast<const Number*>(calls[0].from);
  std::vector<Number> result(first, first + count);
  for (size_t rank = 1; rank < calls.size(); ++rank) {
    auto* other = static_cast<const Number*>(calls[rank].from);
    for (size_t i = 0; i < count; ++i) switch (how) {
        case PRODUCT: result[i] *= other[i]; break;
        case MAXIMUM: result[i] = result[i] < other[i] ? other[i] : result[i]; break;
        case MINIMUM: result[i] = other[i] < result[i] ? other[i] : result[i]; break;
        default: result[i] += other[i];
      }
  }
  if (how == AVERAGE)
    for (Number& each : result) each /= static_cast<Number>(calls.size());
  memcpy(to, result.data(), count * sizeof(Number));
}

Result reduce(const std::vector<Call>& calls, size_t count, DataType type, Reduction how,
              void* to) {
  switch (type) {
    case FLOAT32: reduce_as<float>(calls, count, how, to); break;
    case FLOAT64: reduce_as<double>(calls, count, how, to); break;
    case INT32: reduce_as<int>(calls, count, how, to); break;
    case INT64: reduce_as<long>(calls, count, how, to); break;
    case FLOAT16: reduce_as<_Float16>(calls, count, how, to); break;
    default: return INVALID_ARGUMENT;
  }
  return OK;
}

}  // namespace

struct Communicator {
  std::shared_ptr<Ranks> ranks;
  int rank;
  long calls = 0;
};

// Waits until every rank has come; the last one computes.
template <class Compute>
static Result meet(Communicator* communicator, const void* from, void* to, Compute compute) {
  Ranks& ranks = *communicator->ranks;
  std::unique_lock<std::mutex> lock(ranks.mutex);
  long number = communicator->calls++;
  Meeting& meeting = ranks.meetings[number];
  meeting.calls.resize(ranks.count);
  meeting.calls[communicator->rank] = {from, to};
  if (++meeting.here == ranks.count) {
    compute(meeting.calls);
    meeting.is_done = true;
    ranks.changed.notify_all();
  }
  ranks.changed.wait(lock, [&] { return meeting.is_done || ranks.is_aborted; });
  bool is_done = meeting.is_done;
  if (++meeting.gone == ranks.count) ranks.meetings.erase(number);
  return is_done ? OK : INTERNAL_ERROR;
}

API Result ncclGetVersion(int* version) { return *version = 22105, OK; }
API Result ncclGetUniqueId(UniqueId* id) {
  std::lock_guard<std::mutex> lock(mutex);
  *id = {};
  ++last_group;
  memcpy(id->bytes, &last_group, sizeof last_group);
  groups[last_group] = std::make_shared<Ranks>();
  return OK;
}
API Result ncclCommInitRank(Communicator** communicator, int count, UniqueId id, int rank) {
  std::lock_guard<std::mutex> lock(mutex);
  long group;
  memcpy(&group, id.bytes, sizeof group);
  auto found = groups.find(group);
  if (found == groups.end()) return INVALID_ARGUMENT;
  found->second->count = count;
  *communicator = new Communicator{found->second, rank};
  return OK;
}
API Result ncclCommInitRankConfig(Communicator** communicator, int count, UniqueId id, int rank,
                                  void*) {
  return ncclCommInitRank(communicator, count, id, rank);
}
API Result ncclCommDestroy(Communicator*) { return OK; }
API Result ncclCommFinalize(Communicator*) { return OK; }
API Result ncclCommAbort(Communicator* communicator) {
  std::lock_guard<std::mutex> lock(communicator->ranks->mutex);
  communicator->ranks->is_aborted = true;
  communicator->ranks->changed.notify_all();
  return OK;
}
API Result ncclCommGetAsyncError(Communicator*, Result* error) { return *error = OK, OK; }
API Result ncclCommCount(Communicator* communicator, int* count) {
  return *count = communicator->ranks->count, OK;
}
API Result ncclCommUserRank(Communicator* communicator, int* rank) {
  return *rank = communicator->rank, OK;
}
API const char* ncclGetErrorString(Result error) { return error ? "internal error" : "no error"; }
API const char* ncclGetLastError(Communicator*) { return ""; }
API Result ncclGroupStart() { return OK; }
API Result ncclGroupEnd() { return OK; }

API Result ncclAllReduce(const void* from, void* to, size_t count, DataType type, Reduction how,
                         Communicator* communicator, void*) {
  Result reduced = OK;
  Result met = meet(communicator, from, to, [&](std::vector<Call>& calls) {
    std::vector<char> result(count * size_of(type));
    reduced = reduce(calls, count, type, how, result.data());
    for (Call& call : calls) memcpy(call.to, result.data(), result.size());
  });
  return met ? met : reduced;
}
API Result ncclReduce(const void* from, void* to, size_t count, DataType type, Reduction how,
                      int root, Communicator* communicator, void*) {
  Result reduced = OK;
  Result met = meet(communicator, from, to, [&](std::vector<Call>& calls) {
    reduced = reduce(calls, count, type, how, calls[root].to);
  });
  return met ? met : reduced;
}
API Result ncclBroadcast(const void* from, void* to, size_t count, DataType type, int root,
                         Communicator* communicator, void*) {
  return meet(communicator, from, to, [&](std::vector<Call>& calls) {
    for (Call& call : calls)
      if (call.to && call.to != calls[root].from)
        memcpy(call.to, calls[root].from, count * size_of(type));
  });
}
API Result ncclAllGather(const void* from, void* to, size_t count, DataType type,
                         Communicator* communicator, void*) {
  return meet(communicator, from, to, [&](std::vector<Call>& calls) {
    size_t bytes = count * size_of(type);
    std::vector<char> all(bytes * calls.size());
    for (size_t rank = 0; rank < calls.size(); ++rank)
      memcpy(all.data() + rank * bytes, calls[rank].from, bytes);
    for (Call& call : calls) memcpy(call.to, all.data(), all.size());
  });
}
API Result ncclReduceScatter(const void* from, void* to, size_t count, DataType type,
                             Reduction how, Communicator* communicator, void*) {
  Result reduced = OK;
  Result met = meet(communicator, from, to, [&](std::vector<Call>& calls) {
    size_t bytes = count * size_of(type);
    std::vector<char> sums(bytes * calls.size());
    reduced = reduce(calls, count * calls.size(), type, how, sums.data());
    for (size_t rank = 0; rank < calls.size(); ++rank)
      memcpy(calls[rank].to, sums.data() + rank * bytes, bytes);
  });
  return met ? met : reduced;
}
