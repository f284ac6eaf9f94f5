#include "tests/goal/collectives/data.h"

#include <fmt/core.h>

#include <numeric>
#include <stdexcept>

namespace weft::goal {
namespace {

std::uint64_t drawn(std::uint64_t rank, std::uint64_t unit) {
  std::uint64_t x = rank * 0x9E3779B97F4A7C15u + (unit + 1) * 0xD1B54A32D192ED03u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kNobody = 1'000'000;  // the rank that what nobody has filled is drawn for

bool has_blocks(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllgather ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}
bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kAllreduce ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kScan ||
         kind == CollectiveKind::kExscan;
}

// Blocks are looked at element by element up to here, else by their greatest common divisor.
constexpr std::uint64_t kMostFineUnits = 1 << 12;

}  // namespace

CollectiveData::CollectiveData(std::span<const Collective> calls)
    : calls_(calls),
      kind_(calls[0].kind),
      p_(static_cast<std::uint32_t>(calls.size())),
      root_(calls[0].root) {
  if (kind_ == CollectiveKind::kBarrier || kind_ == CollectiveKind::kAlltoall) {
    units_ = p_;
  } else if (has_blocks(kind_)) {
    const Collective& known = calls[root_];
    only_root_knows_ = !known.counts.empty() && calls[root_ == 0 ? p_ - 1 : 0].counts.empty();
    block_begin_.push_back(0);
    unit_bytes_ = 0;
    for (std::uint32_t r = 0; r < p_; ++r) {
      const std::uint64_t block = known.counts.empty() ? known.bytes : known.counts[r];
      block_begin_.push_back(block_begin_.back() + block);
      unit_bytes_ = std::gcd(unit_bytes_, block);
    }
    bytes_ = block_begin_.back();
    const std::uint64_t finer = std::gcd(unit_bytes_, std::uint64_t{calls[0].element_bytes});
    if (finer > 0 && bytes_ / finer <= kMostFineUnits) unit_bytes_ = finer;
    units_ = bytes_ == 0 ? 0 : bytes_ / unit_bytes_;
  } else {
    bytes_ = calls[0].bytes;
    unit_bytes_ = calls[0].element_bytes;
    units_ = (bytes_ + unit_bytes_ - 1) / unit_bytes_;
  }
  for (std::uint32_t r = 0; r < p_; ++r) {
    held_.emplace_back(units_);
    for (std::uint64_t u = 0; u < units_; ++u) {
      const bool mine = !block_begin_.empty() && bytes_ > 0 && u * unit_bytes_ >= block_begin_[r] &&
                        u * unit_bytes_ < block_begin_[r + 1];
      const bool filled = reduces(kind_) || mine || (r == root_ && kind_ != CollectiveKind::kGather);
      held_[r][u] = drawn(filled ? r : kNobody + r, u);
      if (kind_ == CollectiveKind::kAllgather) held_[r][u] = drawn(mine ? r : kNobody + r, u);
      if (kind_ == CollectiveKind::kBarrier) held_[r][u] = u == r ? 1 : 0;
      // Slot u of rank r: who sends it and who gets it, in one number.
      if (kind_ == CollectiveKind::kAlltoall) held_[r][u] = std::uint64_t{r} * p_ + (r + u) % p_;
    }
  }
  if (kind_ == CollectiveKind::kAlltoall) initial_ = held_;
  if (kind_ == CollectiveKind::kExscan) before_.assign(p_, std::vector<std::uint64_t>(units_));
  if (!reduces(kind_)) return;
  sums_ = held_;
  for (std::uint32_t r = 1; r < p_; ++r) {
    for (std::uint64_t u = 0; u < units_; ++u) sums_[r][u] += sums_[r - 1][u];
  }
}

std::uint64_t CollectiveData::unit_at(std::uint64_t byte) const {
  if (byte == bytes_) return units_;
  if (byte % unit_bytes_ != 0) throw std::runtime_error(fmt::format("an element is split at {}", byte));
  return byte / unit_bytes_;
}

CollectiveData::Units CollectiveData::locate(std::uint32_t me, const Part& part) const {
  if (kind_ == CollectiveKind::kAlltoall) {
    if (part.begin >= p_ || part.count > p_) throw std::runtime_error("there are no such slots");
    return {part.begin, part.count};
  }
  if (only_root_knows_ && me != root_) {
    if (part.count != block_begin_[me + 1] - block_begin_[me]) {
      throw std::runtime_error("a rank that knows its own block only moves something else");
    }
    return block(me, me, StepKind::kSend);
  }
  if (part.begin > bytes_ || part.count > bytes_) throw std::runtime_error("a part outside of the vector");
  const std::uint64_t end = part.begin + part.count, begin_unit = unit_at(part.begin);
  const std::uint64_t end_unit = end <= bytes_ ? unit_at(end) : units_ + unit_at(end - bytes_);
  return {begin_unit % units_, end_unit - begin_unit};
}

CollectiveData::Units CollectiveData::block(std::uint32_t me, std::uint32_t peer, StepKind kind) const {
  if (kind_ == CollectiveKind::kAlltoall) {
    return {kind == StepKind::kSend ? (peer + p_ - me) % p_ : (me + p_ - peer) % p_, 1};
  }
  const std::uint64_t begin = unit_at(block_begin_[peer]);
  return {begin % units_, unit_at(block_begin_[peer + 1]) - begin};
}

void CollectiveData::read(std::uint32_t rank, const Units& units, bool original, Payload& into) const {
  const std::vector<std::uint64_t>& from = original && !initial_.empty() ? initial_[rank] : held_[rank];
  for (std::uint64_t i = 0; i < units.count; ++i) into.push_back(from[(units.begin + i) % units_]);
}

void CollectiveData::write(std::uint32_t rank, const Units& units, std::span<const std::uint64_t> payload) {
  for (std::uint64_t i = 0; i < units.count; ++i) held_[rank][(units.begin + i) % units_] = payload[i];
}

void CollectiveData::combine(std::uint32_t rank, const Units& units, std::span<const std::uint64_t> payload) {
  for (std::uint64_t i = 0; i < units.count; ++i) {
    const std::uint64_t u = (units.begin + i) % units_;
    if (kind_ == CollectiveKind::kBarrier) {
      held_[rank][u] |= payload[i];
    } else {
      held_[rank][u] += payload[i];
    }
    if (!before_.empty()) before_[rank][u] += payload[i];
  }
}

std::uint64_t CollectiveData::alltoall_bytes(std::span<const std::uint64_t> payload) const {
  std::uint64_t bytes = 0;
  for (const std::uint64_t block : payload) {
    const Collective& sender = calls_[block / p_];
    bytes += sender.counts.empty() ? sender.bytes : sender.counts[block % p_];
  }
  return bytes;
}

std::string CollectiveData::wrong_at(std::uint32_t rank) const {
  std::uint64_t first = 0, end = units_;
  if (rank != root_ && (kind_ == CollectiveKind::kReduce || kind_ == CollectiveKind::kGather)) return "";
  if (kind_ == CollectiveKind::kReduceScatter || kind_ == CollectiveKind::kScatter) {
    if (bytes_ == 0) return "";
    first = unit_at(block_begin_[rank]);
    end = unit_at(block_begin_[rank + 1]);
  }
  std::uint32_t owner = 0;
  for (std::uint64_t u = first; u < end; ++u) {
    while (!block_begin_.empty() && block_begin_[owner + 1] <= u * unit_bytes_) ++owner;
    std::uint64_t holds = held_[rank][u], expected = 0;
    switch (kind_) {
      case CollectiveKind::kBarrier:
        expected = 1;
        break;
      case CollectiveKind::kBcast:
      case CollectiveKind::kScatter:
        expected = drawn(root_, u);
        break;
      case CollectiveKind::kAllgather:
      case CollectiveKind::kGather:
        expected = drawn(owner, u);
        break;
      case CollectiveKind::kAlltoall:
        expected = (rank + p_ - u) % p_ * p_ + rank;
        if (alltoall_bytes(std::span(&expected, 1)) == 0) continue;
        break;
      case CollectiveKind::kExscan:
        holds = before_[rank][u];
        expected = rank == 0 ? 0 : sums_[rank - 1][u];
        break;
      default:
        expected = sums_[kind_ == CollectiveKind::kScan ? rank : p_ - 1][u];
    }
    if (holds != expected) return fmt::format("rank {} ends with wrong data in unit {}", rank, u);
  }
  return "";
}

}  // namespace weft::goal
