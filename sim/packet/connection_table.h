// Which connection a message belongs to, where messages share them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/packet/ids.h"
#include "sim/units/random.h"

namespace weft::sim::packet {

// In one direction.
struct ConnectionKey {
  HostId source{0}, destination{0};
  std::uint32_t channel = 0;  // Message::channel
  std::uint16_t nics = 0;     // of the source, and of the destination in the upper byte
  bool operator==(const ConnectionKey&) const = default;
};

// From keys to slots; kNoSlot: it isn't there. Open addressing, 20 bytes an entry, half to three quarters
// full when it grows.
class ConnectionTable {
 public:
  SlotId find(const ConnectionKey& key) const {
    if (entries_.empty()) return kNoSlot;
    for (std::size_t place = home(key);; place = next(place)) {
      const Entry& entry = entries_[place];
      if (entry.slot == kNoSlot || entry.key == key) return entry.slot;
    }
  }
  // REQUIRES: the key isn't there.
  void insert(const ConnectionKey& key, SlotId slot) {
    if (4 * (used_ + 1) > 3 * entries_.size()) grow();
    ++used_;
    place(key, slot);
  }
  // REQUIRES: the key is there.
  void erase(const ConnectionKey& key) {
    std::size_t hole = home(key);
    while (!(entries_[hole].key == key)) hole = next(hole);
    --used_;
    // What comes behind moves up, unless it would stand before its home.
    for (std::size_t place = next(hole); entries_[place].slot != kNoSlot; place = next(place)) {
      const std::size_t from_home = (place - home(entries_[place].key)) & (entries_.size() - 1);
      if (from_home < ((place - hole) & (entries_.size() - 1))) continue;
      entries_[hole] = entries_[place];
      hole = place;
    }
    entries_[hole] = {};
  }
  std::size_t size() const { return used_; }

 private:
  struct Entry {
    ConnectionKey key;
    SlotId slot = kNoSlot;
  };

  std::size_t home(const ConnectionKey& key) const {
    const std::uint64_t hosts = std::uint64_t{key.source} << 32 | key.destination;
    const std::uint64_t rest = std::uint64_t{key.channel} << 16 | key.nics;
    return mix64(mix64(hosts) ^ rest) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t place) const { return (place + 1) & (entries_.size() - 1); }
  void place(const ConnectionKey& key, SlotId slot) {
    std::size_t place = home(key);
    while (entries_[place].slot != kNoSlot) place = next(place);
    entries_[place] = {key, slot};
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : entries_.size() * 2);
    std::swap(old, entries_);
    for (const Entry& entry : old) {
      if (entry.slot != kNoSlot) place(entry.key, entry.slot);
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace weft::sim::packet
