#include "congestion/recoveries/erasure_coding.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::congestion {

namespace {

std::vector<ParameterSpec> parameters() {
  std::vector<ParameterSpec> all = {
      {"data", ParameterType::kInteger, "8", "Data packets of a block (Uno: 8, SDR-RDMA: 32).",
       from_to("1", "4096")},
      {"redundant", ParameterType::kInteger, "2",
       "Redundant packets behind them, no more than these (Uno: 2, SDR-RDMA: 8).", at_least("1")},
      {"code", ParameterType::kText, "mds",
       "With mds, any so many packets as there are data packets give the block; with xor, each "
       "redundant packet stands for one of its share of the data packets.",
       one_of({"mds", "xor"})}};
  for (ParameterSpec& each : selective_repeat_parameters()) all.push_back(std::move(each));
  return all;
}

}  // namespace

ErasureCoding::Settings::Settings(const Parameters& parameters) : SelectiveRepeat::Settings(parameters) {
  const std::string& name = parameters.text("code");
  code.scheme = name == "mds" ? ErasureCode::Scheme::kMds : ErasureCode::Scheme::kXor;
  const std::int64_t data = parameters.integer("data"), redundant = parameters.integer("redundant");
  if (redundant > data) parameters.fail("redundant", "it must be from 1 to data");
  code.data = static_cast<std::uint32_t>(data);
  code.redundant = static_cast<std::uint32_t>(redundant);
}

// Redundant packets are as long as the longest of their block's.
ErasureCoding::Tail ErasureCoding::tail_of(std::uint64_t bytes) const {
  const std::uint64_t data = Recovery::packets_for(bytes), in_last = (data - 1) % code_.data + 1;
  const auto last_bytes = static_cast<std::uint32_t>(bytes - (data - 1) * sizes_.full_bytes());
  return {.data = in_last,
          .last_bytes = last_bytes,
          .redundant = static_cast<std::uint32_t>(std::min<std::uint64_t>(code_.redundant, in_last)),
          .redundant_bytes = in_last > 1 ? sizes_.full_bytes() : last_bytes};
}

std::uint64_t ErasureCoding::payload_for(std::uint64_t bytes) const {
  const Tail tail = tail_of(bytes);
  const std::uint64_t whole = (Recovery::packets_for(bytes) - tail.data) / code_.data;
  return bytes + whole * code_.redundant * sizes_.full_bytes() +
         std::uint64_t{tail.redundant} * tail.redundant_bytes;
}

void ErasureCoding::append(std::uint64_t bytes) {
  const auto all = static_cast<std::uint32_t>(packets_for(bytes));
  const Tail tail = tail_of(bytes);
  messages_.append(all);
  sizes_.append(all - tail.redundant, tail.last_bytes);
  sizes_.append(tail.redundant, tail.redundant_bytes);
}

Recovery::Outcome ErasureCoding::on_ack(const Answer& ack) {
  Answer known = ack;
  known.cumulative = std::min(ack.cumulative, next_);
  known.duplicate = false;  // redundant packets come to blocks that are there
  Outcome outcome = SelectiveRepeat::on_ack(known);
  skip_to(ack.cumulative, outcome);
  const std::uint32_t base = ack.sack == 0 ? ack.number : sack_base(ack.cumulative, ack.number);
  for (std::uint32_t n = std::max(base, first_); n <= ack.number && n < next_;) {
    const Block block = block_of(n);
    settle_rebuilt(block, outcome);
    n = block.end();
  }
  pass_acked();
  messages_.forget_below(first_);
  return outcome;
}

// A payload was cut off.
Recovery::Outcome ErasureCoding::on_nack(const Answer& nack) {
  Outcome outcome;
  settle_below(std::min(nack.cumulative, next_), outcome);
  skip_to(nack.cumulative, outcome);
  if (nack.number >= first_ && slot(nack.number) == encode(nack.sent.ps(), kInFlight)) {
    const Block block = block_of(nack.number);
    give_up(nack.number, outcome);
    send_needed(block);
  }
  messages_.forget_below(first_);
  timer_.progress(nack.now);
  return outcome;
}

// The receiver has all below, what was not sent yet included.
void ErasureCoding::skip_to(std::uint32_t number, Outcome& outcome) {
  for (; next_ < number; ++next_) {
    outcome.spared_bytes += payload(next_);
    if (next_ - first_ == ring_.size()) grow_ring();
    slot(next_) = encode(0, kAcked);
  }
  pass_acked();
}

// Who can rebuild it needs nothing more of it.
bool ErasureCoding::settle_rebuilt(const Block& block, Outcome& outcome) {
  if (!code_.rebuilds(block, [this](std::uint32_t n) { return is_acked(n); })) return false;
  const std::uint32_t sent = std::min(block.end(), next_);
  for (std::uint32_t n = std::max(block.first, first_); n < sent; ++n) settle(n, outcome);
  if (next_ > block.first) skip_to(block.end(), outcome);
  return true;
}

// If what has come and what may come don't rebuild the block, its data packets that are given up are sent
// again; with XOR those of groups that lack more than one.
void ErasureCoding::send_needed(const Block& block) {
  const auto comes = [this](std::uint32_t n) {
    return n < first_ || n >= next_ || state(slot(n)) != kGivenUp;
  };
  if (code_.rebuilds(block, comes)) return;
  ++*blocks_again_;
  const bool by_group = code_.scheme == ErasureCode::Scheme::kXor;
  const std::uint32_t groups = by_group ? block.redundant : 1;
  for (std::uint32_t group = 0; group < groups; ++group) {
    if (by_group && ErasureCode::missing_in(block, group, comes) <= 1) continue;
    for (std::uint32_t i = group; i < block.data; i += groups) {
      if (!comes(block.first + i)) send_again(block.first + i);
    }
  }
}

void ErasureCoding::miss(std::uint32_t number, Outcome& outcome) {
  const Block block = block_of(number);
  if (settle_rebuilt(block, outcome)) return;
  give_up(number, outcome);
  send_needed(block);
}

Reassembly::Verdict ErasureReassembly::on_packet(std::uint32_t number, Arrivals& arrivals) {
  const bool newest = arrivals.lateness(number) == 0;
  if (!arrivals.add(number)) return Verdict::kDuplicate;
  const ErasureMessages::Message message = messages_.of(number);
  const ErasureCode::Block block = code_.block_of(message.first, message.packets, number);
  // In order, nothing beyond: too early for a look at each.
  if (newest && arrivals.first_missing() == number + 1 && number + 1 < block.first + block.data) {
    return Verdict::kTaken;
  }
  if (code_.rebuilds(block, [&](std::uint32_t n) { return arrivals.has(n); })) {
    for (std::uint32_t n = block.first; n != block.end(); ++n) arrivals.add(n);
    messages_.forget_below(arrivals.first_missing());
  }
  return Verdict::kTaken;
}

RecoveryKind erasure_coding() {
  return {
      .info =
          {.name = "erasure_coding",
           .summary =
               "Behind each block of data packets go redundant ones, from which lost packets are rebuilt; a "
               "block that can't be is repaired by selective repeat.",
           .source = "Khalilov et al., SDR-RDMA, arXiv 2505.05366; Bonato et al., Uno, SC'25; RFC 6675",
           .parameters = parameters(),
           .about =
               "Sends redundant/data more, and in exchange losses cost no round trip, as long as a block "
               "loses no more than its code makes up for; where it does, its missing data packets are sent "
               "again as by selective_repeat, with whose parameters losses are found. Needs nothing of "
               "queues. Good over long distances with random losses, where a round trip is long against the "
               "message; bad where the link is what is short, or losses come in bursts longer than a block's "
               "redundancy."},
      .hears_paths = true,
      .wants_bitmaps = true,
      .adds_redundancy = true,
      .make_factory = RecoveryFactoryFor<ErasureCoding, ErasureReassembly>::make,
      .signals = {"block_again"}};
}

}  // namespace weft::congestion
