#include "tests/goal/collectives/interpreter.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "tests/goal/collectives/data.h"

namespace weft::goal {
namespace {

using Payload = CollectiveData::Payload;
using Units = CollectiveData::Units;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

// One lane of one rank.
struct Lane {
  struct Combination {
    Units units;
    Payload payload;
  };
  Group group{true};
  std::uint32_t next = 0;  // index of the group to begin next
  std::uint64_t open = 0;  // messages of the group that are not done
  std::uint32_t began = 0, finish = 0;
  bool over = false;
  std::vector<Combination> combinations;  // for the end of the group
};

// One side of a message.
struct Side {
  std::uint32_t rank = 0, lane = 0, step = 0;
  bool posted = false;
};

// Source, destination and tag.
struct Key {
  std::uint32_t from, to, tag;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return ((std::uint64_t{key.from} << 32 | key.to) * 0x9E3779B97F4A7C15u + key.tag) * 0xD1B54A32D192ED03u;
  }
};

struct Message {
  Key key;
  Side send, recv;
  bool sent = false, received = false, signal = false;
  std::uint64_t bytes = 0;
  std::uint32_t sent_at = 0;
  Payload payload;
};

bool same(const Step& a, const Step& b) {
  return a.bytes == b.bytes && a.peer == b.peer && a.count == b.count && a.tag == b.tag && a.kind == b.kind &&
         a.combine == b.combine && a.down == b.down && a.by_peer == b.by_peer && a.signal == b.signal;
}

// A range of units that a group touches.
struct Touched {
  std::uint64_t begin, end;
  enum Use { kSent, kStored, kCombined } use;
};

class Machine {
 public:
  Machine(const ChosenAlgorithm& chosen, std::span<const Collective> calls, Order order, Outcome& outcome)
      : chosen_(chosen),
        calls_(calls),
        p_(static_cast<std::uint32_t>(calls.size())),
        order_(order),
        out_(outcome),
        data_(calls) {
    out_.messages_sent.assign(p_, 0);
    out_.bytes_sent = out_.bytes_received = out_.bytes_combined = out_.messages_sent;
  }

  void run() {
    lanes_.resize(p_);
    for (std::uint32_t r = 0; r < p_; ++r) {
      lanes_[r].resize(chosen_.lanes(call(r)));
      for (std::uint32_t lane = 0; lane < lanes_[r].size(); ++lane) finished_.push_back({r, lane});
    }
    for (;;) {
      for (; !finished_.empty(); advance()) {
      }
      if (ready_.empty()) break;
      // Any of them may be next; a fixed stream decides.
      stream_ = stream_ * 6364136223846793005u + 1442695040888963407u;
      std::swap(ready_[(stream_ >> 33) % ready_.size()], ready_.back());
      Message& message = *ready_.back();
      ready_.pop_back();
      if (message.sent) {
        receive(message);
      } else {
        send(message);
        if (message.recv.posted) ready_.push_back(&message);
      }
    }
    check_end();
  }

 private:
  CollectiveCall call(std::uint32_t r) const { return {&calls_[r], p_, r, &chosen_.options}; }
  const Step& step(const Side& side) const { return lanes_[side.rank][side.lane].group.steps()[side.step]; }
  bool is(CollectiveKind kind) const { return calls_[0].kind == kind; }

  // Begins the next group of the lane that was finished last.
  void advance() {
    const auto [r, index] = finished_.back();
    finished_.pop_back();
    Lane& lane = lanes_[r][index];
    for (const Lane::Combination& combination : lane.combinations) {
      data_.combine(r, combination.units, combination.payload);
    }
    lane.combinations.clear();
    lane.group.clear();
    lane.began = lane.finish;
    out_.rounds = std::max(out_.rounds, lane.finish);
    if (lane.next > 1'000'000) fail("there is no last group");
    const bool begun = chosen_.algorithm->expand(call(r), index, lane.next, lane.group);
    if (order_ == Order::kShuffled) check_repeatable(r, index, begun);
    ++lane.next;
    if (!begun) {
      if (!lane.group.empty()) fail("steps past the last group");
      lane.over = true;
      return;
    }
    check_races(r, lane.group);
    std::vector<std::pair<Key, Side>> sides;
    for (std::uint32_t i = 0; i < lane.group.steps().size(); ++i) {
      const Step& step = lane.group.steps()[i];
      if (step.kind == StepKind::kCopy) continue;
      if (step.count >= p_) fail("a step with too many peers");
      for (std::uint32_t k = 0; k < step.count; ++k) {
        const std::uint32_t peer = step.peer_at(k, p_);
        if (peer >= p_ || peer == r) fail(fmt::format("rank {} names peer {} of {}", r, peer, p_));
        if (call(r).bytes(step, peer) == 0 && !step.signal) continue;
        const bool sends = step.kind == StepKind::kSend;
        sides.emplace_back(sends ? Key{r, peer, step.tag} : Key{peer, r, step.tag}, Side{r, index, i, true});
      }
    }
    lane.open = sides.size();
    if (sides.empty()) finished_.push_back({r, index});
    for (const auto& [key, side] : sides) post(key, side);
  }

  void post(const Key& key, const Side& side) {
    Message& message = messages_[key];
    message.key = key;
    const bool sends = step(side).kind == StepKind::kSend;
    Side& place = sends ? message.send : message.recv;
    if (place.posted) {
      fail(fmt::format("two {} from {} to {} with tag {}", sends ? "sends" : "receives", key.from, key.to,
                       key.tag));
    }
    place = side;
    if (sends) {
      // A message of these kinds holds what there was when the group began.
      if (is(CollectiveKind::kBarrier) || is(CollectiveKind::kAlltoall)) load(message);
      if (order_ == Order::kSendsEarly) send(message);
    }
    const bool both = message.send.posted && message.recv.posted;
    const bool may_send = !message.sent && sends && order_ == Order::kShuffled;
    const bool may_send_late = !message.sent && both && order_ == Order::kSendsLate;
    if (may_send || may_send_late || (message.sent && both)) ready_.push_back(&message);
  }

  // The units that a message touches at one of its sides.
  std::vector<Units> units(const Message& message, const Side& side) const {
    const Step& of = step(side);
    const std::uint32_t peer = of.kind == StepKind::kSend ? message.key.to : message.key.from;
    if (of.signal) return {{0, is(CollectiveKind::kBarrier) ? data_.units() : 0}};
    if (of.by_peer) return {data_.block(side.rank, peer, of.kind)};
    std::vector<Units> units;
    for (const Part& part : lanes_[side.rank][side.lane].group.parts(side.step)) {
      units.push_back(data_.locate(side.rank, part));
    }
    return units;
  }

  void load(Message& message) {
    for (const Units& units : units(message, message.send)) {
      data_.read(message.send.rank, units, step(message.send).by_peer, message.payload);
    }
  }

  void send(Message& message) {
    const Side& side = message.send;
    const Step& of = step(side);
    if (message.payload.empty()) load(message);
    message.bytes = call(side.rank).bytes(of, message.key.to);
    if (is(CollectiveKind::kAlltoall) && data_.alltoall_bytes(message.payload) != message.bytes) {
      fail(fmt::format("rank {} sends {} bytes for blocks of {}", side.rank, message.bytes,
                       data_.alltoall_bytes(message.payload)));
    }
    message.sent = true;
    message.signal = of.signal;
    message.sent_at = lanes_[side.rank][side.lane].began + 1;
    ++out_.messages;
    out_.bytes += message.bytes;
    ++out_.messages_sent[side.rank];
    out_.bytes_sent[side.rank] += message.bytes;
    done(side, message.sent_at);
  }

  void receive(Message& message) {
    const Side& side = message.recv;
    const Step& of = step(side);
    Lane& lane = lanes_[side.rank][side.lane];
    const std::uint64_t bytes = call(side.rank).bytes(of, message.key.from);
    if (bytes != message.bytes || of.signal != message.signal) {
      fail(fmt::format("rank {} awaits {} bytes from rank {}, which sends {}", side.rank, bytes,
                       message.key.from, message.bytes));
    }
    std::size_t taken = 0;
    for (const Units& units : units(message, side)) {
      if (taken + units.count > message.payload.size()) fail("a message with less data than its receive");
      const std::span<const std::uint64_t> payload(message.payload.data() + taken, units.count);
      taken += units.count;
      if (of.combine > 0 || is(CollectiveKind::kExscan) || is(CollectiveKind::kBarrier)) {
        lane.combinations.push_back({units, {payload.begin(), payload.end()}});
      } else {
        data_.write(side.rank, units, payload);
      }
    }
    if (taken != message.payload.size()) fail("a message with more data than its receive");
    message.received = true;
    message.payload = {};
    out_.bytes_received[side.rank] += bytes;
    out_.bytes_combined[side.rank] += bytes * of.combine;
    out_.combined += bytes * of.combine;
    done(side, std::max(lane.began, message.sent_at));
  }

  void done(const Side& side, std::uint32_t at) {
    Lane& lane = lanes_[side.rank][side.lane];
    lane.finish = std::max(lane.finish, at);
    if (--lane.open == 0) finished_.push_back({side.rank, side.lane});
  }

  // Asked again, and without parts, an algorithm gives the same steps.
  void check_repeatable(std::uint32_t r, std::uint32_t index, bool begun) {
    const Lane& lane = lanes_[r][index];
    Group again;
    const bool same_answer = chosen_.algorithm->expand(call(r), index, lane.next, again) == begun;
    const auto a = lane.group.steps(), b = again.steps();
    if (!same_answer || !std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) {
      fail("other steps when asked again");
    }
  }

  // What is stored while it is sent or stored or combined in the same group has no certain value.
  void check_races(std::uint32_t r, const Group& group) {
    touched_.clear();
    for (std::uint32_t i = 0; i < group.steps().size(); ++i) {
      const Step& step = group.steps()[i];
      if (step.kind == StepKind::kCopy) continue;
      const bool sends = step.kind == StepKind::kSend;
      if (step.signal || (sends && is(CollectiveKind::kAlltoall))) continue;
      const bool combines = step.combine > 0 || is(CollectiveKind::kExscan);
      const Touched::Use use = sends ? Touched::kSent : combines ? Touched::kCombined : Touched::kStored;
      const auto touch = [&](const Units& units) {
        const std::uint64_t all = data_.units(), end = units.begin + units.count;
        if (units.count > 0) touched_.push_back({units.begin, std::min(end, all), use});
        if (end > all) touched_.push_back({0, end - all, use});
      };
      for (std::uint32_t k = 0; step.by_peer && k < step.count; ++k) {
        const std::uint32_t peer = step.peer_at(k, p_);
        if (call(r).bytes(step, peer) > 0) touch(data_.block(r, peer, step.kind));
      }
      std::uint64_t bytes = 0;
      for (const Part& part : group.parts(i)) {
        bytes += part.count;
        if (step.bytes > 0) touch(data_.locate(r, part));
      }
      if (!is(CollectiveKind::kAlltoall) && !step.by_peer && bytes != step.bytes) {
        fail("a step whose bytes are not those of its parts");
      }
      if (step.count > 1 && use == Touched::kStored && !step.by_peer) fail("several stored at one place");
    }
    std::sort(touched_.begin(), touched_.end(),
              [](const Touched& a, const Touched& b) { return a.begin < b.begin; });
    std::uint64_t stored_end = 0, other_end = 0;
    for (const Touched& range : touched_) {
      const bool stored = range.use == Touched::kStored;
      if (range.begin < stored_end || (stored && range.begin < other_end)) {
        fail(fmt::format("rank {} stores where the same group sends, stores or combines", r));
      }
      std::uint64_t& end = stored ? stored_end : other_end;
      end = std::max(end, range.end);
    }
  }

  void check_end() {
    for (std::uint32_t r = 0; r < p_; ++r) {
      for (std::uint32_t index = 0; index < lanes_[r].size(); ++index) {
        const Lane& lane = lanes_[r][index];
        if (!lane.over) {
          fail(fmt::format("rank {} can't finish group {} of lane {}: {} messages are missing", r,
                           lane.next - 1, index, lane.open));
        }
      }
    }
    std::uint64_t received = 0;
    // tidy: order because only their number counts
    for (const auto& [key, message] : messages_) received += message.received ? 1 : 0;
    if (received != messages_.size()) fail("a message that is never received");
    for (std::uint32_t r = 0; r < p_; ++r) {
      if (const std::string wrong = data_.wrong_at(r); !wrong.empty()) fail(wrong);
    }
  }

  const ChosenAlgorithm& chosen_;
  std::span<const Collective> calls_;
  std::uint32_t p_;
  Order order_;
  Outcome& out_;
  CollectiveData data_;
  std::vector<std::vector<Lane>> lanes_;  // per rank
  std::unordered_map<Key, Message, KeyHash> messages_;
  std::vector<Message*> ready_;                                    // to be sent, or to be received
  std::vector<std::pair<std::uint32_t, std::uint32_t>> finished_;  // lanes whose group is done
  std::vector<Touched> touched_;
  std::uint64_t stream_ = 1;
};

}  // namespace

Outcome run(const ChosenAlgorithm& chosen, std::span<const Collective> calls, Order order) {
  Outcome outcome;
  if (calls.size() < 2) return outcome;  // such a communicator asks no algorithm
  try {
    Machine(chosen, calls, order, outcome).run();
  } catch (const std::runtime_error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

Outcome run(const ChosenAlgorithm& chosen, const Collective& call, std::uint32_t ranks, Order order) {
  return run(chosen, std::vector<Collective>(ranks, call), order);
}

}  // namespace weft::goal
