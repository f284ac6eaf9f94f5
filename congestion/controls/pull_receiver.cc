#include "congestion/controls/pull_receiver.h"

#include <algorithm>

namespace weft::congestion {
namespace {

class PullReceivers final : public ReceiverFactory {
 public:
  explicit PullReceivers(const PullReceiver::Settings& settings) : settings_(settings) {}
  std::unique_ptr<Receiver> make(const ReceiverInfo& nic) const override {
    return std::make_unique<PullReceiver>(nic, settings_);
  }

 private:
  PullReceiver::Settings settings_;
};

}  // namespace

std::unique_ptr<ReceiverFactory> pull_receivers(const PullReceiver::Settings& settings) {
  return std::make_unique<PullReceivers>(settings);
}

void PullReceiver::Turns::push(std::uint32_t number) {
  if (size_ == ring_.size()) {
    std::vector<std::uint32_t> wider(std::max<std::size_t>(8, ring_.size() * 2));
    for (std::size_t i = 0; i < size_; ++i) wider[i] = ring_[(first_ + i) % ring_.size()];
    ring_ = std::move(wider);
    first_ = 0;
  }
  ring_[(first_ + size_++) & (ring_.size() - 1)] = number;
}

std::uint32_t PullReceiver::Turns::pop() {
  const std::uint32_t number = ring_[first_];
  first_ = (first_ + 1) & (ring_.size() - 1);
  --size_;
  return number;
}

PullReceiver::PullReceiver(const ReceiverInfo& nic, const Settings& settings)
    : settings_(settings),
      mtu_(nic.mtu_bytes),
      wire_bytes_(nic.mtu_bytes + nic.header_bytes),
      pull_bytes_(static_cast<std::uint64_t>(settings.packets_per_pull) * mtu_),
      idle_bytes_(static_cast<std::uint64_t>(settings.idle_window * static_cast<double>(nic.line_rate.bps()) /
                                             8 * nic.longest_rtt.seconds())),
      line_rate_(nic.line_rate),
      network_rate_(settings.network_rate, nic.longest_rtt, nic.random) {}

// Its place is kept while it is in the middle of a message; `word` may still name it afterwards.
std::uint32_t PullReceiver::find(ConnectionId connection, std::uint32_t& word, ReceiverActions& actions) {
  if (word != 0 && flows_[word - 1].connection == connection) return word - 1;
  std::uint32_t number = first_free_;
  if (number == kNone) {
    number = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    first_free_ = flows_[number].next_free;
  }
  const std::uint64_t granted = actions.granted(connection);
  flows_[number] = {.connection = connection, .earned = granted, .granted = granted};
  word = number + 1;
  return number;
}

// What it is to be granted beyond what it was.
std::uint64_t PullReceiver::due(const Flow& flow) const {
  const std::uint64_t upto =
      settings_.per_arrival ? std::min(flow.earned, flow.wanted + flow.cut) : flow.wanted;
  return upto - std::min(upto, flow.granted);
}

AckTime PullReceiver::on_data(const Arrival& arrival, std::uint32_t& word, ReceiverActions& actions) {
  if (settings_.has_network_rate) {
    rate_cuts_ += network_rate_.advance(arrival.now);
    network_rate_.arrive(arrival);
  }
  const std::uint32_t number = find(arrival.connection, word, actions);
  Flow& flow = flows_[number];
  flow.complete = arrival.completes;
  flow.wanted = std::max(flow.wanted, arrival.wanted_credit);
  flow.earned += mtu_;
  if (arrival.trimmed) (settings_.per_arrival ? flow.cut : flow.wanted) += mtu_;  // not in what is told
  if (!flow.active && due(flow) > 0) {
    flow.active = true;
    active_.push(number);
  } else if (!flow.active && flow.granted > 0) {
    rest(number);
  }
  free_if_done(number);
  if (!running_ && !(active_.empty() && idle_.empty())) serve(actions);
  return AckTime::kByRule;
}

void PullReceiver::on_timer(ReceiverActions& actions) { serve(actions); }

// One pull, and the time for what it lets in.
void PullReceiver::serve(ReceiverActions& actions) {
  std::uint64_t bytes = 0;
  while (bytes == 0 && !active_.empty()) bytes = serve_active(actions);
  while (bytes == 0 && !idle_.empty()) bytes = serve_idle(actions);
  running_ = bytes > 0;
  if (!running_) return;
  double rate = settings_.rate;
  if (settings_.has_network_rate) {
    rate_cuts_ += network_rate_.advance(actions.now());
    rate *= network_rate_.rate();
  }
  const std::uint64_t on_wire = (bytes * wire_bytes_ + mtu_ - 1) / mtu_;
  const double time_ps = static_cast<double>(line_rate_.serialization(on_wire).ps()) / rate;
  actions.set_timer(actions.now() + Time::ps(static_cast<std::int64_t>(time_ps)));
}

std::uint64_t PullReceiver::serve_active(ReceiverActions& actions) {
  const std::uint32_t number = active_.pop();
  Flow& flow = flows_[number];
  const std::uint64_t bytes = std::min(due(flow), pull_bytes_);
  flow.granted += bytes;
  flow.active = due(flow) > 0;
  if (flow.active) {
    active_.push(number);
  } else {
    rest(number);
  }
  if (bytes > 0) actions.grant(flow.connection, bytes);
  free_if_done(number);
  return bytes;
}

// It wants nothing. What it is told of its wishes may be late, so it is pulled unasked when nobody is asking.
void PullReceiver::rest(std::uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.complete || flow.idle || unasked(flow) >= idle_bytes_) return;
  flow.idle = true;
  idle_.push(number);
}

std::uint64_t PullReceiver::serve_idle(ReceiverActions& actions) {
  const std::uint32_t number = idle_.pop();
  Flow& flow = flows_[number];
  flow.idle = !flow.active && !flow.complete && unasked(flow) < idle_bytes_;
  if (!flow.idle) {
    free_if_done(number);
    return 0;
  }
  flow.granted += pull_bytes_;
  ++unasked_pulls_;
  idle_.push(number);
  actions.grant(flow.connection, pull_bytes_);
  return pull_bytes_;
}

void PullReceiver::free_if_done(std::uint32_t number) {
  Flow& flow = flows_[number];
  if (!flow.complete || flow.active || flow.idle || flow.cut > 0) return;
  flow.connection = kNobody;
  flow.next_free = first_free_;
  first_free_ = number;
}

Signals PullReceiver::signals() const {
  Signals counts{{"most_pulled_flows", flows_.size()}};
  if (idle_bytes_ > 0) counts.emplace_back("unasked_pull", unasked_pulls_);
  if (settings_.has_network_rate) counts.emplace_back("rate_cut", rate_cuts_);
  return counts;
}

}  // namespace weft::congestion
