#include "cards.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

namespace {

constexpr uint64_t MIB = 1 << 20;

// A context takes some of each card that a process uses; CUDA's is of 300 to 500 MiB.
constexpr uint64_t CONTEXT = 256 * MIB;

// The driver hands out memory in pages of this size.
constexpr uint64_t PAGE = 2 * MIB;

std::string setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

int multiprocessors_of(const std::string& name) {
  static const std::pair<const char*, int> known[] = {
      {"4090", 128}, {"3060", 28}, {"H100", 132}, {"A100", 108}, {"K80", 13}};
  for (auto& [part, count] : known)
    if (name.find(part) != std::string::npos) return count;
  return 64;
}

struct CardInFile {
  Card card;
  uint64_t elsewhere = 0;  // reserved by the driver, or used by what the file says
  bool lost = false, hangs = false, garbles = false;
  bool is_split = false;     // in MIG mode: only its instances compute
  bool is_instance = false;  // of the card before it
  bool is_used = false;  // somebody else computes on it
  int mode = 0;          // 3: one process at a time may compute on it, 2: none
};

std::vector<CardInFile> read_from(const std::string& path) {
  std::vector<CardInFile> cards;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line == "[gpu]" || line == "[mig]") {
      cards.emplace_back();
      cards.back().is_instance = line == "[mig]";
    }
    size_t equals = line.find(" = ");
    if (cards.empty() || equals == std::string::npos) continue;
    std::string key = line.substr(0, equals), value = line.substr(equals + 3);
    CardInFile& found = cards.back();
    Card& card = found.card;
    if (key == "name") card.name = value, card.multiprocessors = multiprocessors_of(value);
    if (key == "uuid") card.uuid = value;
    if (key == "bus") card.bus = value;
    if (key == "capability") sscanf(value.c_str(), "%d.%d", &card.major, &card.minor);
    if (key == "memory_total_mib") card.total = strtoull(value.c_str(), nullptr, 10) * MIB;
    if (key == "memory_reserved_mib" || key == "memory_used_mib")
      found.elsewhere += strtoull(value.c_str(), nullptr, 10) * MIB;
    if (key == "lost") found.lost = value == "1";
    if (key == "cuda_hangs") found.hangs = value == "1";
    if (key == "mig_mode") found.is_split = value == "1";
    if (key == "multiprocessors") card.multiprocessors = atoi(value.c_str());
    if (key == "compute") found.is_used = true;
    if (key == "compute_mode") found.mode = atoi(value.c_str());
    if (key == "garbles") found.garbles = value == "1";
  }
  return cards;
}

// The state file of the stand-in NVML, so that both speak of the same cards; read again whenever
// another one was renamed into its place.
std::vector<CardInFile> cards_in_file() {
  static std::mutex lock;
  static std::vector<CardInFile> cards;
  static ino_t read = 0;
  std::lock_guard<std::mutex> held(lock);
  const std::string path = setting("GPUPANEL_TEST_NVML_STATE");
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return {};
  if (found.st_ino != read) cards = read_from(path), read = found.st_ino;
  return cards;
}

CardInFile in_file(const std::string& uuid) {
  for (CardInFile& each : cards_in_file())
    if (each.card.uuid == uuid) return each;
  CardInFile gone;
  gone.lost = true;
  return gone;
}

// Of MIG instances CUDA shows a process one, and nothing beside it.
std::vector<Card> instance_named(const std::string& visible) {
  for (CardInFile& each : cards_in_file())
    if (each.is_instance && !each.lost && each.card.uuid == visible) return {each.card};
  return {};
}

std::vector<Card> chosen_cards() {
  if (setting("CUDA_VISIBLE_DEVICES").rfind("MIG-", 0) == 0) {
    const std::string all = setting("CUDA_VISIBLE_DEVICES");
    return instance_named(all.substr(0, all.find(',')));
  }
  std::vector<Card> cards;
  for (CardInFile& each : cards_in_file())
    if (!each.lost && !each.is_split && !each.is_instance) cards.push_back(each.card);
  if (setting("CUDA_DEVICE_ORDER") == "PCI_BUS_ID")
    std::stable_sort(cards.begin(), cards.end(),
                     [](const Card& a, const Card& b) { return a.bus < b.bus; });
  else  // the fastest first
    std::stable_sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) {
      return a.multiprocessors > b.multiprocessors;
    });
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return cards;
  std::vector<Card> shown;
  std::stringstream words{std::string(visible)};
  for (std::string word; std::getline(words, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    const Card* found = nullptr;
    if (word.rfind("GPU-", 0) == 0) {
      for (const Card& card : cards)
        if (card.uuid.rfind(word, 0) == 0) found = &card;
    } else if (!word.empty() && isdigit(word[0])) {
      size_t place = strtoul(word.c_str(), nullptr, 10);
      if (place < cards.size()) found = &cards[place];
    }
    if (!found) break;  // what stands behind one that is not there is hidden, too
    shown.push_back(*found);
  }
  return shown;
}

struct Block {
  size_t bytes;
  int card;
};
std::mutex mutex;
std::map<uintptr_t, Block> blocks;
std::map<std::string, uint64_t*> own_counts;  // by UUID

// ---- What each process holds of a card: a file of eight bytes, named UUID.pid.start, that the
// ---- other processes and the stand-in NVML read.

std::string folder() { return setting("GPUPANEL_TEST_CUDA_FOLDER"); }

// When a process began, as the system counts; empty: it has ended, waited for or not.
std::string start_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t behind = text.rfind(')');
  if (behind == std::string::npos) return "";
  std::stringstream fields(text.substr(behind + 1));
  std::string field, state;
  for (int number = 3; number <= 22 && fields >> field; ++number)
    if (number == 3) state = field;
  return state == "Z" || state == "X" ? "" : field;
}

std::string name_of(const std::string& uuid, pid_t pid) {
  return uuid + "." + std::to_string(pid) + "." + start_of(pid);
}

uint64_t* own_count(const std::string& uuid) {
  auto found = own_counts.find(uuid);
  if (found != own_counts.end()) return found->second;
  void* memory = MAP_FAILED;
  if (!folder().empty()) {
    std::string path = folder() + "/" + name_of(uuid, getpid());
    int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file >= 0 && ftruncate(file, 8) == 0)
      memory = mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
  }
  auto* count = memory == MAP_FAILED ? new uint64_t(0) : static_cast<uint64_t*>(memory);
  return own_counts[uuid] = count;
}

uint64_t of_others(const std::string& uuid) {
  uint64_t sum = 0;
  DIR* listing = folder().empty() ? nullptr : opendir(folder().c_str());
  if (!listing) return 0;
  while (dirent* entry = readdir(listing)) {
    std::string name = entry->d_name;
    if (name.rfind(uuid + ".", 0) != 0) continue;
    pid_t pid = static_cast<pid_t>(atol(name.c_str() + uuid.size() + 1));
    // A process may have ended, and its number may be another's by now.
    if (pid == getpid() || start_of(pid).empty() || name != name_of(uuid, pid)) continue;
    uint64_t bytes = 0;
    int file = open((folder() + "/" + name).c_str(), O_RDONLY);
    if (file < 0) continue;
    if (read(file, &bytes, sizeof bytes) == sizeof bytes) sum += bytes;
    close(file);
  }
  closedir(listing);
  return sum;
}

}  // namespace

const std::vector<Card>& visible_cards() {
  static const auto* cards = new std::vector<Card>(chosen_cards());
  return *cards;
}

bool is_lost(int card) { return in_file(visible_cards()[card].uuid).lost; }

bool hangs(int card) { return in_file(visible_cards()[card].uuid).hangs; }

bool may_compute(int place) {
  const Card& card = visible_cards()[place];
  CardInFile found = in_file(card.uuid);
  return found.mode != 2 && (found.mode != 3 || (!found.is_used && !of_others(card.uuid)));
}

bool garbles(int card) { return in_file(visible_cards()[card].uuid).garbles; }

void room_of(int place, uint64_t* free_bytes, uint64_t* total_bytes) {
  const Card& card = visible_cards()[place];
  uint64_t used = in_file(card.uuid).elsewhere + of_others(card.uuid);
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t* own = own_count(card.uuid);
  if (*own == 0) *own = CONTEXT;
  used += *own;
  *total_bytes = card.total;
  *free_bytes = used < card.total ? card.total - used : 0;
}

void* take(int place, size_t bytes) {
  uint64_t room, total;
  room_of(place, &room, &total);
  size_t rounded = (bytes + PAGE - 1) / PAGE * PAGE;
  if (rounded > room) return nullptr;
  // The host gives a page only when it is written to, so that cards may be larger than it is.
  void* pointer = mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pointer == MAP_FAILED) return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  blocks[reinterpret_cast<uintptr_t>(pointer)] = {rounded, place};
  *own_count(visible_cards()[place].uuid) += rounded;
  return pointer;
}

bool give_back(void* pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = blocks.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == blocks.end()) return false;
  munmap(pointer, found->second.bytes);
  *own_count(visible_cards()[found->second.card].uuid) -= found->second.bytes;
  blocks.erase(found);
  return true;
}

int owner_of(const void* pointer, size_t* bytes, void** start) {
  std::lock_guard<std::mutex> lock(mutex);
  auto at = reinterpret_cast<uintptr_t>(pointer);
  auto behind = blocks.upper_bound(at);
  if (behind == blocks.begin()) return -1;
  auto& [first, block] = *--behind;
  if (at >= first + block.bytes) return -1;
  if (bytes) *bytes = block.bytes;
  if (start) *start = reinterpret_cast<void*>(first);
  return block.card;
}
