// How the writer of packed files sees operations: as shapes, equal for operations that differ only in their
// place, and in whom they name in a way that tables tell. For this folder only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/unpacked.h"

namespace weft::goal::pack {

// 128 bits of hash: what agrees in them is taken for equal.
struct Digest {
  std::uint64_t low = 0x243F6A8885A308D3ULL, high = 0x13198A2E03707344ULL;
  bool operator==(const Digest&) const = default;
  void add(std::uint64_t value) {
    low = (low ^ value) * 0x9E3779B97F4A7C15ULL;
    low ^= low >> 32;
    high = (high + value) * 0xBF58476D1CE4E5B9ULL;
    high ^= high >> 29;
  }
};
struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

// As in the column `kind`.
inline char kind_byte(const KindOfOp& kind) {
  return kind.synchronous() ? kSynchronousSend : static_cast<char>(OpKind(kind));
}

// The fields of an operation as pack.proto's Programs has them, but for its value.
struct ShapeFields {
  KindOfOp kind = OpKind::kCalc;
  std::uint8_t nic = 0;
  std::uint16_t cpu = 0;
  std::uint32_t target = 0, comm = 0;
  std::uint64_t tag = 0;
  bool operator==(const ShapeFields&) const = default;
};

// Gives equal shapes equal numbers, counted from 0 in order of first use.
class ShapeBook {
 public:
  ShapeBook();
  std::uint32_t number(const ShapeFields& fields, std::span<const std::uint64_t> edges);
  const ShapeFields& fields(std::uint32_t shape) const { return shapes_[shape].fields; }
  std::span<const std::uint64_t> edges(std::uint32_t shape) const {
    return {edges_.data() + shapes_[shape].edge_begin, shapes_[shape].edge_count};
  }
  std::size_t size() const { return shapes_.size(); }

 private:
  struct Shape {
    ShapeFields fields;
    std::uint32_t edge_count;
    std::uint64_t edge_begin;
    std::uint32_t hash;
    std::uint32_t next;  // shape that followed the last time
  };
  bool equal(std::uint32_t shape, const ShapeFields& fields, std::span<const std::uint64_t> edges) const;
  void grow();

  std::vector<Shape> shapes_;
  std::vector<std::uint64_t> edges_;
  std::vector<std::uint32_t> slots_;  // open addressing; kAny: free
  std::uint32_t before_ = kAny;       // the number given last
};

// What one rank's operations name, each with its place in order of first use.
class Places {
 public:
  // REQUIRES: name < 2^32 - 1.
  std::uint32_t place(std::uint32_t name) {
    if (name >= stamps_.size()) grow(name);
    if (stamps_[name] != stamp_) {
      stamps_[name] = stamp_;
      places_[name] = static_cast<std::uint32_t>(names_.size());
      names_.push_back(name);
    }
    return places_[name];
  }
  const std::vector<std::uint32_t>& names() const { return names_; }
  void clear() {
    names_.clear();
    ++stamp_;
  }

 private:
  void grow(std::uint32_t name);

  std::vector<std::uint32_t> names_, places_;
  std::vector<std::uint64_t> stamps_;
  std::uint64_t stamp_ = 1;
};

}  // namespace weft::goal::pack
