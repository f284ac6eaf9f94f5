// Which lane of a collective operation takes the messages of a tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/random.h"

namespace weft::sim {

// Found in constant time, however many lanes there are. A hash table with open addressing, at most half full:
// 16 bytes for each tag, and as many free.
class OpenReceives {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX, kSeveral = UINT32_MAX - 1;

  OpenReceives() : places_(16) {}

  // The lane has a step that receives messages of this tag; `active` is its collective operation.
  void add(std::uint32_t active, std::uint32_t tag, std::uint32_t lane) {
    if ((used_ + 1) * 2 > places_.size()) grow();
    Place& place = places_[place_of(active, tag)];
    if (place.steps++ == 0) {
      place = {.active = active, .tag = tag, .lane = lane, .steps = 1};
      ++used_;
    } else if (place.lane != lane) {
      place.lane = kSeveral;
    }
  }
  // Takes one such step away. REQUIRES: it was added.
  void remove(std::uint32_t active, std::uint32_t tag) {
    const std::size_t at = place_of(active, tag);
    if (--places_[at].steps == 0) erase(at);
  }
  // Whose steps they are: kNone: nobody's; kSeveral: of more than one lane, now or since there was none.
  std::uint32_t lane(std::uint32_t active, std::uint32_t tag) const {
    return places_[place_of(active, tag)].lane;
  }
  // Fetches what lane() will look at.
  void prefetch(std::uint32_t active, std::uint32_t tag) const {
    __builtin_prefetch(&places_[home(active, tag)]);
  }
  std::uint64_t memory_bytes() const { return places_.capacity() * sizeof(Place); }

 private:
  struct Place {
    std::uint32_t active = 0, tag = 0, lane = kNone;
    std::uint32_t steps = 0;  // 0: it is free
  };

  std::size_t home(std::uint32_t active, std::uint32_t tag) const {
    return mix64(std::uint64_t{active} << 32 | tag) & (places_.size() - 1);
  }
  // Where it is, or the free place where it belongs.
  std::size_t place_of(std::uint32_t active, std::uint32_t tag) const {
    std::size_t at = home(active, tag);
    while (places_[at].steps > 0 && (places_[at].active != active || places_[at].tag != tag)) {
      at = (at + 1) & (places_.size() - 1);
    }
    return at;
  }
  void grow() {
    std::vector<Place> old(places_.size() * 2);
    old.swap(places_);
    for (const Place& place : old) {
      if (place.steps > 0) places_[place_of(place.active, place.tag)] = place;
    }
  }
  // Backward-shift deletion keeps probe sequences unbroken without tombstones (Knuth, TAOCP 3, 6.4 R).
  void erase(std::size_t hole) {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; places_[i].steps > 0; i = (i + 1) & mask) {
      const std::size_t at_home = home(places_[i].active, places_[i].tag);
      if (((i - at_home) & mask) >= ((i - hole) & mask)) {
        places_[hole] = places_[i];
        hole = i;
      }
    }
    places_[hole] = {};
    --used_;
  }

  std::vector<Place> places_;
  std::size_t used_ = 0;
};

}  // namespace weft::sim
