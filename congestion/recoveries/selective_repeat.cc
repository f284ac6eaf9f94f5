#include "congestion/recoveries/selective_repeat.h"

#include <algorithm>
#include <utility>

#include "congestion/recoveries/path_window.h"

namespace weft::congestion {

SelectiveRepeat::Settings::Settings(const Parameters& parameters)
    : duplicates(count_or_auto(parameters, "duplicates")), per_path(parameters.boolean("per_path")) {
  by_count = parameters.text("detection") == "count";
}

SelectiveRepeat::SelectiveRepeat(const RecoverySetup& setup, const Settings& settings)
    : Scoreboard(setup),
      pool_(setup.rings),
      duplicates_(settings.duplicates),
      per_path_(settings.per_path),
      by_count_(settings.by_count) {
  if (duplicates_ > 0) return;
  const bool in_order = !setup.config.reordering || per_path_;
  duplicates_ = in_order ? kDuplicates : std::max(kDuplicates, window_packets(setup));
}

std::uint32_t SelectiveRepeat::Line::send(std::uint32_t number) {
  entries_.push_back({number, turn_});
  return turn_++;
}

void SelectiveRepeat::Line::pop() {
  if (++first_ < entries_.size() && first_ < 32) return;
  if (first_ < entries_.size() && first_ * 2 < entries_.size()) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

// To the size of the ring, when a packet that is new has made that wider.
void SelectiveRepeat::widen_trace() {
  RingPool::Ring wider = pool_->take(ring_.size());
  for (std::uint32_t n = first_; n + 1 < next_ && !trace_.empty(); ++n) {
    wider[n & (wider.size() - 1)] = trace(n);
  }
  pool_->give_back(std::exchange(trace_, std::move(wider)));
}

void SelectiveRepeat::on_send(std::uint32_t number, Time at) {
  Scoreboard::on_send(number, at);
  if (!by_count_) return;
  if (trace_.size() != ring_.size()) widen_trace();
  Line& line = per_path_ ? lines_.try_emplace(entropy_, first_turn_).first->second : line_;
  trace(number) = std::uint64_t{line.send(number)} << 32 | entropy_;
}

Recovery::Outcome SelectiveRepeat::on_ack(const Answer& ack) {
  Outcome outcome;
  const bool counts =
      by_count_ && ack.number >= first_ && slot(ack.number) >> 2 == static_cast<std::uint64_t>(ack.sent.ps());
  const std::uint64_t acked = counts ? trace(ack.number) : 0;
  settle(ack, outcome);
  if (!counts) return outcome;
  const auto path = static_cast<std::uint32_t>(acked);
  const auto found = per_path_ ? lines_.find(path) : lines_.end();
  if (per_path_ && found == lines_.end()) return outcome;
  Line& line = per_path_ ? found->second : line_;
  line.newest_acked = std::max(line.newest_acked, static_cast<std::int64_t>(acked >> 32));
  find_overtaken(line, outcome);
  if (per_path_ && line.empty()) {
    first_turn_ = std::max(first_turn_, line.next_turn());
    lines_.erase(found);
  }
  return outcome;
}

// What was sent so many transmissions before the newest that has come is lost, unless it has come too.
void SelectiveRepeat::find_overtaken(Line& line, Outcome& outcome) {
  while (!line.empty()) {
    const Line::Entry oldest = line.oldest();
    const bool under_way = oldest.number >= first_ && state(slot(oldest.number)) == kInFlight &&
                           trace(oldest.number) >> 32 == oldest.turn;
    if (under_way) {
      if (std::int64_t{oldest.turn} + duplicates_ > line.newest_acked) return;
      miss(oldest.number, outcome);
    }
    line.pop();
  }
}

void SelectiveRepeat::rest() {
  Scoreboard::rest();
  pool_->give_back(std::exchange(trace_, {}));
  line_ = Line();
  lines_.clear();
}

std::vector<ParameterSpec> selective_repeat_parameters() {
  return {{"detection", ParameterType::kText, "count",
           "Besides the timeout: count, by packets sent later that have come; timeout, nothing.",
           one_of({"count", "timeout"})},
          {"duplicates", ParameterType::kInteger, "auto",
           "How many transmissions later the newest that has come must be; auto: 3 (RFC 6675) on "
           "one path, a bandwidth-delay product of packets where they take several.",
           from_to("1", "1000000000")},
          {"per_path", ParameterType::kBoolean, "false",
           "Whether only packets with the same entropy are compared: for spraying over a fixed "
           "number of paths."}};
}

RecoveryKind selective_repeat() {
  return {
      .info =
          {.name = "selective_repeat",
           .summary =
               "Each packet is acknowledged, with a bitmap; one is lost when enough of those sent later "
               "have come, else by timeout.",
           .source = "RFC 2018, RFC 6675, RFC 6298; per path: Le et al., STrack, arXiv 2407.15266",
           .parameters = selective_repeat_parameters(),
           .about =
               "Goes by the count of packets that were sent later and have come; retransmissions count as "
               "well, so that they are missed like others. NACKs of trimmed packets count at once. Needs "
               "nothing of queues. Good on one path, where it is as fast as can be, and, by path, with "
               "spraying over some dozens of paths; else spraying makes it wait for a window of packets. Bad "
               "at losses of a burst's last packets, which wait for the timeout."},
      .hears_paths = true,
      .wants_bitmaps = true,
      .make_factory = RecoveryFactoryFor<SelectiveRepeat>::make};
}

}  // namespace weft::congestion
