// A connection over a channel that does everything to packets that a network may do, for tests of recoveries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "congestion/recoveries/recoveries.h"
#include "congestion/recovery.h"
#include "sim/core/random.h"
#include "sim/units/module.h"

namespace weft::congestion {

// What the channel does. A corrupt packet is a lost one: the receiver's checksum tells.
struct Channel {
  double loss = 0, corruption = 0, duplication = 0, trimming = 0;  // of data
  double answer_loss = 0, answer_duplication = 0;
  Time delay = Time::us(10);        // each way
  Time data_jitter, answer_jitter;  // at most
  std::uint32_t paths = 1;          // entropies in turn; each keeps order, and has a delay of its own
  Time path_spread;                 // at most
  std::uint32_t held = 1;           // packets to an ACK, at most
  std::uint32_t window = 32;        // packets of congestion control
};

// Sends messages from one end to the other and notes what comes of it.
class LossyConnection {
 public:
  static constexpr std::uint32_t kMtu = 1000;

  LossyConnection(const std::string& recovery, const Channel& channel, std::uint64_t seed)
      : channel_(channel), random_(seed, 5) {
    const ModuleChoice choice = parse_module_choice(recovery);
    const RecoveryKind& kind = find_module(recoveries(), choice, "recovery");
    signals_.resize(kind.signals.size() + 1);
    hears_paths_ = kind.hears_paths;
    wants_bitmaps_ = kind.wants_bitmaps;
    factory_ = kind.make_factory(Parameters(kind.info, choice));
    const bool reordering = channel.data_jitter > Time() || channel.paths > 1;
    storage_ =
        std::make_unique<std::max_align_t[]>(factory_->recovery_bytes() / sizeof(std::max_align_t) + 1);
    sender_ = factory_->construct(storage_.get(), {.config = {.min_timeout = Time::us(100),
                                                              .max_timeout = Time::us(10'000),
                                                              .reordering = reordering,
                                                              .jitter = 0.1},
                                                   .mtu_bytes = kMtu,
                                                   .base_rtt = channel.delay * 2,
                                                   .longest_rtt = channel.delay * 2 + channel.path_spread,
                                                   .line_rate = Bandwidth::gbps(8),  // a packet in 1 us
                                                   .random = static_cast<std::uint32_t>(seed),
                                                   .rings = &rings_,
                                                   .losses = &losses_,
                                                   .signals = signals_.data()});
    reassembly_ = factory_->make_reassembly();
    for (std::uint32_t path = 0; path < channel.paths; ++path) {
      path_delays_.push_back(Time::ps(static_cast<std::int64_t>(
          random_.below(static_cast<std::uint64_t>(channel.path_spread.ps()) + 1))));
    }
    path_free_.resize(channel.paths);
  }
  ~LossyConnection() { sender_->~Recovery(); }
  LossyConnection(const LossyConnection&) = delete;
  LossyConnection& operator=(const LossyConnection&) = delete;

  void send_at(Time at, std::uint64_t bytes) { add(at, {.kind = Kind::kMessage, .bytes = bytes}); }

  // "" if all messages were delivered once, in order, and nothing is left; else what went wrong.
  std::string run() {
    for (std::uint64_t events = 0; !events_.empty(); ++events) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      handle(event);
      if (!error_.empty()) return error_;
      if (events == 5'000'000) return "it doesn't end";
      if (pending_messages_ == 0 && delivered_ == messages_.size() && sender_->done()) break;
    }
    return verdict();
  }

  const Recovery& sender() const { return *sender_; }
  std::uint64_t acked_bytes() const { return acked_bytes_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t transmissions() const { return transmissions_; }
  std::uint64_t first_transmissions() const { return first_transmissions_; }
  std::uint64_t first_bytes() const { return first_bytes_; }
  std::uint64_t duplicates() const { return duplicates_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t timeouts() const { return timeouts_; }
  const std::set<std::uint32_t>& came() const { return came_; }
  const std::vector<std::uint64_t>& signals() const { return signals_; }
  Time now() const { return now_; }
  // Times at which messages were delivered, in their order.
  const std::vector<Time>& delivered_at() const { return delivered_at_; }
  // Called whenever the receiver notes something: number of the packet that came.
  Arrivals arrivals;

 private:
  enum class Kind : std::uint8_t { kMessage, kTurn, kData, kHeader, kAck, kNack, kTimer, kAckTimer };
  struct Event {
    Kind kind = Kind::kTurn;
    std::uint64_t bytes = 0;
    std::uint32_t number = 0, cumulative = 0, path = 0;
    Time sent;
    bool duplicate = false;
    std::uint64_t sack = 0;
    Time at;
    std::uint64_t order = 0;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void add(Time at, Event event) {
    if (event.kind == Kind::kMessage) ++pending_messages_;
    event.at = at;
    event.order = order_++;
    events_.push(event);
  }
  bool happens(double probability) { return probability > 0 && random_.uniform() < probability; }
  Time up_to(Time most) {
    return Time::ps(static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most.ps()) + 1)));
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Kind::kMessage: {
        --pending_messages_;
        const std::uint64_t packets = sender_->packets_for(event.bytes);
        const std::uint32_t before = sender_->packets();
        sender_->append(event.bytes);
        if (sender_->packets() != before + packets) error_ = "packets_for and append differ";
        if (reassembly_ != nullptr) reassembly_->append(static_cast<std::uint32_t>(packets), event.bytes);
        messages_.push_back(sender_->packets());
        bytes_ += event.bytes;
        break;
      }
      case Kind::kTurn:
        turn_ = false;
        break;
      case Kind::kTimer:
        if (event.at != timer_) return;
        timer_ = Time::max();
        if (sender_->deadline() <= now_) note(sender_->on_timer(now_));
        break;
      case Kind::kAckTimer:
        if (event.at == ack_due_) acknowledge();
        return;
      case Kind::kData:
      case Kind::kHeader:
        return arrive(event);
      case Kind::kAck:
      case Kind::kNack: {
        const Answer answer{.now = now_,
                            .number = event.number,
                            .cumulative = event.cumulative,
                            .sent = event.sent,
                            .duplicate = event.duplicate,
                            .sack = event.sack,
                            .path = event.path,
                            .window_bytes = std::uint64_t{channel_.window} * kMtu};
        note(event.kind == Kind::kAck ? sender_->on_ack(answer) : sender_->on_nack(answer));
        if (sender_->done()) sender_->rest();
        break;
      }
    }
    if (sender_->gave_up()) error_ = "the sender gave up";
    send();
    if (const Time deadline = sender_->deadline(); deadline < timer_) {
      timer_ = std::max(deadline, now_);
      add(timer_, {.kind = Kind::kTimer});
    }
  }

  void note(const Recovery::Outcome& outcome) {
    acked_bytes_ += outcome.acked_bytes;
    timeouts_ += outcome.timeout;
    if (losses_.size() != outcome.lost_packets) error_ = "lost packets aren't told one by one";
    losses_.clear();
    if (sender_->in_flight_packets() > sender_->next_new() - sender_->first_unacked())
      error_ = "more in flight than was sent";
  }

  // One packet at a time, as the window allows.
  void send() {
    if (turn_) return;
    const bool again = sender_->lost() > 0;
    if (!again && sender_->next_new() == sender_->packets()) return;
    const std::uint32_t span = sender_->next_new() - sender_->first_unacked();
    if (!again && (span >= sender_->most_span() || span > 16 * channel_.window + 64)) return;
    if (sender_->in_flight_packets() >= channel_.window) return;
    const std::uint32_t number = sender_->next_to_send();
    if (number < sender_->first_unacked() || number >= sender_->packets()) error_ = "sends what isn't there";
    if (again != (number < sender_->next_new())) error_ = "sends the wrong one";
    const auto path = static_cast<std::uint32_t>(transmissions_ % channel_.paths);
    if (hears_paths_) sender_->on_path(path);
    sender_->on_send(number, now_);
    ++transmissions_;
    if (!again) {
      ++first_transmissions_;
      first_bytes_ += sender_->payload(number);
    }
    const Event data{.kind = Kind::kData, .number = number, .path = path, .sent = now_};
    transmit(data);
    if (happens(channel_.duplication)) transmit(data);
    turn_ = true;
    add(now_ + Time::us(1), {.kind = Kind::kTurn});
  }
  void transmit(Event data) {
    if (happens(channel_.loss) || happens(channel_.corruption)) {
      ++dropped_;
      return;
    }
    if (happens(channel_.trimming)) data.kind = Kind::kHeader;
    Time& free = path_free_[data.path];
    Time at = now_ + channel_.delay + path_delays_[data.path];
    if (channel_.data_jitter > Time()) {
      at = at + up_to(channel_.data_jitter);
    } else {
      free = at = std::max(at, free);  // a path is a queue
    }
    add(at, data);
  }

  void arrive(const Event& data) {
    if (data.kind == Kind::kHeader && !arrivals.has(data.number)) {
      acknowledge();
      return answer({.kind = Kind::kNack, .number = data.number, .path = data.path, .sent = data.sent});
    }
    came_.insert(data.number);
    if (held_ > 0 && std::max(data.number, highest_) - std::min(data.number, lowest_) >= 64) acknowledge();
    Reassembly::Verdict verdict = Reassembly::Verdict::kTaken;
    if (reassembly_ != nullptr) {
      verdict = reassembly_->on_packet(data.number, arrivals);
    } else if (!arrivals.add(data.number)) {
      verdict = Reassembly::Verdict::kDuplicate;
    }
    if (verdict == Reassembly::Verdict::kIgnored) return;
    if (verdict == Reassembly::Verdict::kRefused) {
      return answer({.kind = Kind::kNack, .number = data.number, .path = data.path, .sent = data.sent});
    }
    duplicates_ += verdict == Reassembly::Verdict::kDuplicate;
    while (delivered_ < messages_.size() && arrivals.first_missing() >= messages_[delivered_]) {
      ++delivered_;
      delivered_at_.push_back(now_);
    }
    hold(data, verdict == Reassembly::Verdict::kDuplicate);
  }
  void hold(const Event& data, bool duplicate) {
    highest_ = held_ == 0 ? data.number : std::max(highest_, data.number);
    lowest_ = held_ == 0 ? data.number : std::min(lowest_, data.number);
    newest_ = data;
    newest_.duplicate = duplicate;
    if (held_++ == 0) {
      ack_due_ = now_ + Time::us(5);
      if (channel_.held > 1) add(ack_due_, {.kind = Kind::kAckTimer});
    }
    if (held_ >= channel_.held || duplicate) acknowledge();
  }
  void acknowledge() {
    if (held_ == 0) return;
    held_ = 0;
    answer({.kind = Kind::kAck,
            .number = highest_,
            .path = newest_.path,
            .sent = newest_.sent,
            .duplicate = newest_.duplicate,
            .sack = channel_.held > 1 || wants_bitmaps_ ? arrivals.sack(highest_) : 0});
  }
  void answer(Event event) {
    event.cumulative = arrivals.first_missing();
    const Time at = now_ + channel_.delay + up_to(channel_.answer_jitter);
    if (!happens(channel_.answer_loss)) add(at, event);
    if (happens(channel_.answer_duplication)) add(at + Time::us(1), event);
  }

  std::string verdict() const {
    if (delivered_ != messages_.size()) return "messages are missing";
    if (!sender_->done()) return "the sender isn't done";
    if (sender_->lost() != 0 || sender_->in_flight_packets() != 0 || sender_->in_flight_bytes() != 0)
      return "something is left at the sender";
    if (arrivals.first_missing() != (messages_.empty() ? 0 : messages_.back()))
      return "the receiver has another number of packets";
    return "";
  }

  Channel channel_;
  sim::RandomStream random_;
  std::unique_ptr<RecoveryFactory> factory_;
  bool hears_paths_ = false, wants_bitmaps_ = false;
  RingPool rings_;
  std::vector<std::uint32_t> losses_;
  std::vector<std::uint64_t> signals_;
  std::unique_ptr<std::max_align_t[]> storage_;
  Recovery* sender_ = nullptr;
  std::unique_ptr<Reassembly> reassembly_;

  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  Time now_, timer_ = Time::max(), ack_due_;
  bool turn_ = false;
  std::vector<Time> path_delays_, path_free_;
  std::vector<std::uint32_t> messages_;  // numbers behind their last packets
  std::uint64_t pending_messages_ = 0;
  std::size_t delivered_ = 0;
  std::vector<Time> delivered_at_;
  std::set<std::uint32_t> came_;
  std::uint32_t held_ = 0, highest_ = 0, lowest_ = 0;
  Event newest_;
  std::uint64_t bytes_ = 0, acked_bytes_ = 0, transmissions_ = 0, first_transmissions_ = 0;
  std::uint64_t first_bytes_ = 0, duplicates_ = 0, dropped_ = 0, timeouts_ = 0;
  std::string error_;
};

}  // namespace weft::congestion
