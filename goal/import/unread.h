// What a trace says that its importer does not read, by name: told to users, so that nothing is passed over
// in silence.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "goal/anomaly.h"

namespace weft::goal {

// How often each name was met.
using Unread = std::map<std::string, std::uint64_t, std::less<>>;

// Counts a name, of which the first 80 bytes are kept. At most 10,000 names are told apart.
void count_unread(Unread& unread, std::string_view name, std::uint64_t times = 1);
// Is it one that by its name tells a size, a rate or a time?
bool tells_a_quantity(std::string_view name);
// What users are told: the names, at most 16, those that tell quantities first. REQUIRES: not empty.
Anomaly unread_anomaly(const Unread& unread);

// Counts the names of things that come in rows of the same names, such as the arguments of events: what is at
// a place mostly has the name that was there before, which is then not looked up.
class UnreadRow {
 public:
  explicit UnreadRow(Unread& unread) : unread_(unread) {}
  void begin() { place_ = 0; }
  // The next name of the row, and whether it is read.
  template <typename IsRead>
  void add(std::string_view name, IsRead is_read) {
    if (place_ == known_.size()) known_.emplace_back();
    Known& known = known_[place_++];
    if (known.name != name) learn(known, name, is_read(name));
    if (known.count != nullptr) ++*known.count;
  }

 private:
  struct Known {
    std::string name;
    std::uint64_t* count = nullptr;  // null: it is read
  };
  void learn(Known& known, std::string_view name, bool is_read);

  Unread& unread_;
  std::vector<Known> known_;
  std::size_t place_ = 0;
};

}  // namespace weft::goal
