// The next channels towards a host, as RoutingTable::candidates() returns them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace weft::routing {

// A list that is either in the table or here, worked out when it was asked for. It can't be moved: give it a
// name, and hand on a span of it.
class Candidates {
 public:
  Candidates(const Candidates&) = delete;
  Candidates& operator=(const Candidates&) = delete;

  const std::uint32_t* begin() const { return data_; }
  const std::uint32_t* end() const { return data_ + size_; }
  const std::uint32_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::uint32_t operator[](std::size_t i) const { return data_[i]; }
  std::uint32_t front() const { return *data_; }
  // A span of a list without a name would outlive it.
  operator std::span<const std::uint32_t>() && = delete;

 private:
  friend class RoutingTable;
  static constexpr std::size_t kOwn = 256;

  // Fills itself: fill(*this).
  template <typename Fill>
  explicit Candidates(Fill&& fill) {
    fill(*this);
  }
  // Room for so many, here or, if they are very many, on the heap.
  std::uint32_t* room(std::size_t most) {
    if (most <= kOwn) return own_.data();
    large_ = std::make_unique<std::uint32_t[]>(most);
    return large_.get();
  }
  void take(const std::uint32_t* data, std::size_t size) {
    data_ = data;
    size_ = size;
  }
  template <typename Predicate>
  void keep_if(Predicate&& predicate) {
    std::uint32_t* const to = large_ != nullptr && data_ == large_.get() ? large_.get() : room(size_);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (predicate(data_[i])) to[kept++] = data_[i];
    }
    take(to, kept);
  }

  const std::uint32_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<std::uint32_t[]> large_;
  std::array<std::uint32_t, kOwn> own_;  // not filled with zeros: it is on the way of packets
};

}  // namespace weft::routing
