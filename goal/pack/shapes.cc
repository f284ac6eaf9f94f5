#include "goal/pack/shapes.h"

#include <algorithm>

namespace weft::goal::pack {
namespace {

std::uint32_t hash_of(const ShapeFields& fields, std::span<const std::uint64_t> edges) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(kind_byte(fields.kind)) | std::uint64_t{fields.nic} << 8 |
             std::uint64_t{fields.cpu} << 16 | std::uint64_t{fields.target} << 32);
  digest.add(fields.tag);
  digest.add(fields.comm + (edges.size() << 32));
  for (const std::uint64_t edge : edges) digest.add(edge);
  return static_cast<std::uint32_t>(digest.low ^ digest.high);
}

}  // namespace

ShapeBook::ShapeBook() : slots_(1024, kAny) {}

bool ShapeBook::equal(std::uint32_t shape, const ShapeFields& fields,
                      std::span<const std::uint64_t> edges) const {
  const Shape& known = shapes_[shape];
  return known.fields == fields && known.edge_count == edges.size() &&
         std::equal(edges.begin(), edges.end(),
                    edges_.begin() + static_cast<std::ptrdiff_t>(known.edge_begin));
}

std::uint32_t ShapeBook::number(const ShapeFields& fields, std::span<const std::uint64_t> edges) {
  // In loops, what follows is what followed before.
  if (before_ != kAny) {
    const std::uint32_t guess = shapes_[before_].next;
    if (guess != kAny && equal(guess, fields, edges)) return before_ = guess;
  }
  const std::uint32_t hash = hash_of(fields, edges);
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != kAny &&
         (shapes_[slots_[slot]].hash != hash || !equal(slots_[slot], fields, edges))) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  std::uint32_t found = slots_[slot];
  if (found == kAny) {
    found = slots_[slot] = static_cast<std::uint32_t>(shapes_.size());
    shapes_.push_back({fields, static_cast<std::uint32_t>(edges.size()), edges_.size(), hash, kAny});
    edges_.insert(edges_.end(), edges.begin(), edges.end());
    if (shapes_.size() * 2 > slots_.size()) grow();
  }
  if (before_ != kAny) shapes_[before_].next = found;
  return before_ = found;
}

void ShapeBook::grow() {
  slots_.assign(slots_.size() * 4, kAny);
  for (std::uint32_t shape = 0; shape < shapes_.size(); ++shape) {
    std::size_t slot = shapes_[shape].hash & (slots_.size() - 1);
    while (slots_[slot] != kAny) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = shape;
  }
}

void Places::grow(std::uint32_t name) {
  const std::size_t size = std::max<std::size_t>(std::size_t{name} + 1, 2 * stamps_.size());
  stamps_.resize(size, 0);
  places_.resize(size, 0);
}

}  // namespace weft::goal::pack
