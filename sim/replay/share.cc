#include "sim/replay/share.h"

namespace weft::sim {

ReplayShare::ReplayShare(const ReplayPlan& plan, Engine& engine, const std::vector<std::uint32_t>& ranks)
    : plan_(plan),
      program_(plan.program.facts()),
      hosts_(plan.hosts),
      local_(plan.local.data()),
      first_entity_(plan.first_entity),
      engine_(engine),
      progress_(plan, ranks_),
      work_(plan, engine, progress_, cpu_work_),
      departures_(plan, engine),
      handshakes_(plan, engine, ranks_, tasks_, open_, departures_),
      point_to_point_(plan, ranks_, static_cast<std::uint32_t>(ranks.size()), held_, departures_,
                      handshakes_),
      collectives_(plan, engine, static_cast<std::uint32_t>(ranks.size()),
                   {ranks_, progress_, tasks_, work_, open_, handshakes_, held_, departures_}),
      cpu_work_({ranks_, progress_, cpus_, work_, tasks_, open_, point_to_point_, collectives_}) {
  ranks_.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) {
    RankState& state = ranks_.emplace_back();
    state.view = {rank, plan.program.ops(rank), nullptr, nullptr};
    if (!plan.place.events_so_far.empty()) state.scheduled = plan.place.events_so_far[rank];
    cpus_.add(state, plan.program.cpus(rank));
  }
  cpus_.open();
  progress_.open();
  if (hosts_.overlap_slowdown > 1) {
    overlap_ = std::make_unique<Overlap>(hosts_.overlap_slowdown, ranks_.size(), cpus_.size());
    cpu_work_.slow_down(*overlap_);
    collectives_.slow_down(*overlap_);
  }
}

void ReplayShare::start(Network& network) {
  departures_.set_network(network);
  // Messages through different NICs or connections overtake each other in any network.
  if (!network.delivers_in_order() || program_.max_nic > 0 || hosts_.connections_per_pair > 1) {
    point_to_point_.keep_order();
  }
  for (RankState& state : ranks_) {
    engine_.schedule_counted(plan_.place.start, first_entity_ + state.view.rank(), state.scheduled++,
                             RankWork::kRankStart, 0);
  }
}

// ---- Events ----

[[gnu::flatten]] void ReplayShare::on_event(const Event& event) {
  RankState& rank = ranks_[local_[event.source - first_entity_]];
  if (event.kind != RankWork::kCpuDone) [[unlikely]] {
    on_rare_event(rank, event);
  } else {
    cpu_work_.on_done(rank, event.payload);
  }
  drain();
}

[[gnu::noinline]] void ReplayShare::on_rare_event(RankState& rank, const Event& event) {
  switch (event.kind) {
    case RankWork::kLaneDone:
      if (trails_) trails_->at_lane(event.payload, rank.view.op(open_.of_lane(event.payload).op));
      return collectives_.end_work_of_lane(event.payload);
    case RankWork::kMessageReady:
      if (trails_) trails_->at_held(event.payload);
      return departures_.inject(held_.release(event.payload));
    default:
      if (trails_) trails_->at_start();
      return begin_rank(rank);
  }
}

[[gnu::noinline]] void ReplayShare::begin_rank(RankState& rank) {
  rank.finish = engine_.now();
  progress_.begin_rank(rank);
}

inline void ReplayShare::drain() {
  while (progress_.has_ready()) begin(progress_.next_ready());
}

inline void ReplayShare::begin(const Progress::Ready& ready) {
  if (ready.lane != kNone) [[unlikely]]
    return collectives_.begin_group(ready.lane);
  RankState& rank = *ready.rank;
  const goal::Op& op = rank.view.op(ready.op);
  switch (op.kind) {
    case goal::OpKind::kCalc:
    case goal::OpKind::kSend:
      return cpu_work_.give_op(rank, ready.op);
    case goal::OpKind::kRecv:
      progress_.start(rank, ready.op);  // may move the operation
      return post(rank, ready.op);
    case goal::OpKind::kCollective:
      return collectives_.begin(local_of(rank), ready.op);
  }
}

inline void ReplayShare::post(RankState& rank, goal::OpIndex receive) {
  const std::uint32_t work = point_to_point_.post(rank, receive);
  if (work != kNone) cpu_work_.give_for(rank, receive, work);
}

// ---- Messages ----

void ReplayShare::on_sent(const Message& message) {
  if (!handshakes_.on_sent(message)) return;
  cpu_work_.finish_task(wire::sender_of(message));
  drain();
}

[[gnu::flatten]] void ReplayShare::on_delivered(const Message& message) {
  const wire::Kind kind = wire::kind_of(message);
  if (trails_) {
    trails_->at_message(local_[wire::ends_of(message).destination], message, engine_.now());
  }
  switch (kind) {
    case wire::Kind::kClearToSend:
      handshakes_.send_data(wire::ClearToSend::decode(message));
      break;
    case wire::Kind::kData: {
      const auto data = wire::Data::decode(message);
      if (handshakes_.receive_data(data, message.bytes)) cpu_work_.give_task(data.receiver);
      break;
    }
    case wire::Kind::kAllReceived:
      cpu_work_.finish_task(wire::AllReceived::decode(message).sender);
      break;
    default:
      arrive(message);
  }
  drain();
}

inline void ReplayShare::arrive(const Message& message) {
  if (wire::is_of_collective(message)) {
    return collectives_.arrive(local_[wire::ends_of(message).destination], message);
  }
  point_to_point_.arrive(message, [this](RankState& rank, goal::OpIndex receive, std::uint32_t work) {
    cpu_work_.give_for(rank, receive, work);
  });
}

// ---- What is fetched into the cache before an event or a message ----

void ReplayShare::expect(const Event& event, int look) const {
  if (event.kind == RankWork::kLaneDone) return open_.expect_lane(event.payload, look);
  if (event.kind == RankWork::kMessageReady && look == 0) held_.prefetch(event.payload);
  if (event.kind != RankWork::kCpuDone) return;
  cpu_work_.expect(ranks_[local_[event.source - first_entity_]], event.payload, look);
}

void ReplayShare::expect(const Message& message, int look) const {
  const std::uint32_t local = local_[wire::ends_of(message).destination];
  const RankState& rank = ranks_[local];
  const bool is_collective = wire::is_of_collective(message);
  if (look == 0) {
    __builtin_prefetch(&rank);
    if (trails_) trails_->expect_message(message);
  }
  if (!is_collective) return point_to_point_.expect(local, message, look);
  if (look > 0) collectives_.expect(local, message, look);
}

}  // namespace weft::sim
