// Connections that have messages under way, found by what they are between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/random.h"
#include "sim/flow/paths.h"
#include "sim/units/quantity.h"

namespace weft::sim::flow {

struct ConnectionKey {
  std::uint32_t source = 0, destination = 0;  // hosts
  std::uint32_t channel = 0;
  std::uint16_t nics = 0;  // of the source and, in the lower byte, of the destination
  bool operator==(const ConnectionKey&) const = default;
};

// Its messages go by the owner's numbers.
struct Connection {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  ConnectionKey key;
  Trip trip;
  std::uint32_t head = kNone, tail = kNone;  // that have not left; the head is on its way
  std::uint32_t untold = kNone;              // the first of these whose sender waits to be told
  std::uint32_t open = 0;                    // that were not delivered
  std::uint64_t given = 0;                   // payload of all its messages
  Time arrival;                              // of the last one that has left
  bool flows = false;                        // does it have a rate?
};

// A hash table with open addressing over a pool: nothing is allocated once both have grown. Indices of
// connections stay while these do.
class Connections {
 public:
  Connections() : places_(16, Connection::kNone) {}
  Connection& operator[](std::uint32_t index) { return pool_[index]; }
  const Connection& operator[](std::uint32_t index) const { return pool_[index]; }
  std::uint32_t size() const { return used_; }

  // New ones have `open` 0.
  std::uint32_t find_or_add(const ConnectionKey& key) {
    if ((used_ + 1) * std::size_t{4} > places_.size() * 3) grow();
    std::uint32_t& place = places_[find(key)];
    if (place != Connection::kNone) return place;
    ++used_;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(pool_.size());
      pool_.push_back({.key = key});
      return place;
    }
    place = free_.back();
    free_.pop_back();
    pool_[place] = {.key = key};
    return place;
  }
  void remove(std::uint32_t index) {
    erase_place(find(pool_[index].key));
    free_.push_back(index);
    --used_;
  }

 private:
  std::size_t home(const ConnectionKey& key) const {
    const std::uint64_t hosts = std::uint64_t{key.source} << 32 | key.destination;
    return mix64(mix64(hosts) + (std::uint64_t{key.channel} << 16 | key.nics)) & (places_.size() - 1);
  }
  // Its place, or the empty one where it belongs.
  std::size_t find(const ConnectionKey& key) const {
    std::size_t place = home(key);
    while (places_[place] != Connection::kNone && !(pool_[places_[place]].key == key)) {
      place = (place + 1) & (places_.size() - 1);
    }
    return place;
  }
  void grow() {
    std::vector<std::uint32_t> old(places_.size() * 2, Connection::kNone);
    old.swap(places_);
    for (const std::uint32_t index : old) {
      if (index != Connection::kNone) places_[find(pool_[index].key)] = index;
    }
  }
  // Backward-shift deletion keeps probe sequences unbroken without tombstones (Knuth, TAOCP 3, 6.4 R).
  void erase_place(std::size_t hole) {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; places_[i] != Connection::kNone; i = (i + 1) & mask) {
      const std::size_t at_home = home(pool_[places_[i]].key);
      if (((i - at_home) & mask) >= ((i - hole) & mask)) {
        places_[hole] = places_[i];
        hole = i;
      }
    }
    places_[hole] = Connection::kNone;
  }

  std::vector<std::uint32_t> places_;
  std::vector<Connection> pool_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
};

}  // namespace weft::sim::flow
