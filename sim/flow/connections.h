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
  // The last message that began while it flowed has so many bytes; the times follow from these and from the
  // way that all of them take.
  std::uint64_t wire_bytes = 0;  // 0: there was none since the way was found
  Time latency, answer, ideal;
};

// A hash table with open addressing, at most half full, over a pool: nothing is allocated once both have
// grown. Indices of connections stay while these do.
class Connections {
 public:
  Connections() : places_(16) {}
  Connection& operator[](std::uint32_t index) { return pool_[index]; }
  const Connection& operator[](std::uint32_t index) const { return pool_[index]; }
  std::uint32_t size() const { return used_; }
  // All indices are below; of those not in use, `head` is kNone.
  std::uint32_t end() const { return static_cast<std::uint32_t>(pool_.size()); }

  // New ones have `open` 0.
  std::uint32_t find_or_add(const ConnectionKey& key) {
    if ((used_ + 1) * std::size_t{2} > places_.size()) grow();
    const std::uint32_t hash = hash_of(key);
    const std::size_t at = place_of(hash, [&](std::uint32_t index) { return pool_[index].key == key; });
    if (places_[at].index != Connection::kNone) return places_[at].index;
    ++used_;
    std::uint32_t index = static_cast<std::uint32_t>(pool_.size());
    if (free_.empty()) {
      pool_.push_back({.key = key});
    } else {
      index = free_.back();
      free_.pop_back();
      pool_[index] = {.key = key};
    }
    places_[at] = {index, hash};
    return index;
  }
  void remove(std::uint32_t index) {
    erase_place(place_of(hash_of(pool_[index].key), [index](std::uint32_t there) { return there == index; }));
    free_.push_back(index);
    --used_;
  }

 private:
  // The hash is kept so that a look at another's place is no look at its connection.
  struct Place {
    std::uint32_t index = Connection::kNone, hash = 0;
  };
  static std::uint32_t hash_of(const ConnectionKey& key) {
    const std::uint64_t hosts = std::uint64_t{key.source} << 32 | key.destination;
    return static_cast<std::uint32_t>(mix64(mix64(hosts) + (std::uint64_t{key.channel} << 16 | key.nics)));
  }
  // Where that one is, or the empty place where it belongs.
  template <typename Is>
  std::size_t place_of(std::uint32_t hash, const Is& is) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash & mask;
    while (places_[at].index != Connection::kNone && !(places_[at].hash == hash && is(places_[at].index))) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void grow() {
    std::vector<Place> old(places_.size() * 2);
    old.swap(places_);
    for (const Place& place : old) {
      if (place.index == Connection::kNone) continue;
      places_[place_of(place.hash, [](std::uint32_t) { return false; })] = place;
    }
  }
  // Backward-shift deletion keeps probe sequences unbroken without tombstones (Knuth, TAOCP 3, 6.4 R).
  void erase_place(std::size_t hole) {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; places_[i].index != Connection::kNone; i = (i + 1) & mask) {
      const std::size_t at_home = places_[i].hash & mask;
      if (((i - at_home) & mask) >= ((i - hole) & mask)) {
        places_[hole] = places_[i];
        hole = i;
      }
    }
    places_[hole] = {};
  }

  std::vector<Place> places_;
  std::vector<Connection> pool_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
};

}  // namespace weft::sim::flow
