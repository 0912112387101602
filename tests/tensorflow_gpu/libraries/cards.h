// The cards of the stand-in: which there are, and who holds how much of their memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Card {
  std::string name, uuid, bus;
  int major = 8, minor = 9, multiprocessors = 64;
  uint64_t total = 0;   // bytes of the card
};

// Those that CUDA shows to this process, in its order (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER).
__attribute__((visibility("default"))) const std::vector<Card>& visible_cards();

// What the state file says of a card by now: it may be lost while a process uses it.
bool is_lost(int card);
bool hangs(int card);  // it answers nothing that it is asked to do
bool garbles(int card);  // what other cards copy to it is wrong there

bool may_compute(int card);  // by its compute mode, and who else computes on it

void* take(int card, size_t bytes);  // nullptr: the card has no more
bool give_back(void* pointer);       // false: it is not of a card
void room_of(int card, uint64_t* free_bytes, uint64_t* total_bytes);

// Whose memory it is: the number of a card, or -1 for the host's.
int owner_of(const void* pointer, size_t* bytes = nullptr, void** start = nullptr);
