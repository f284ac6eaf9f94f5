#include "sim/routing/policies/plb.h"

#include "sim/routing/parts/mark_share.h"

namespace weft::routing {
namespace {

struct PlbSettings {
  double threshold = 0;
  std::uint32_t idle_rounds = 0, rounds = 0;  // 0: never
  Time suspend;
};

class Plb final : public PathSelector {
 public:
  Plb(const PlbSettings& settings, const PathSetup& setup) : settings_(settings), path_(setup) {}

  Path next(const PathRequest& request) override {
    if (request.in_flight == 0) repath_after(settings_.idle_rounds, request.now);
    return {path_.entropy()};
  }
  void on_ack(const PathNews& news) override {
    const auto is_congested = [&](double share) { return share >= settings_.threshold; };
    if (path_.on_ack(news, is_congested)) repath_after(settings_.rounds, news.now);
  }
  void on_timeout(Time now) override {
    path_.change(now, MarkedPath::kTimeoutRepath);
    suspended_until_ = now + settings_.suspend;
    if (const auto span = static_cast<std::uint64_t>(settings_.suspend.ps()); span > 0) {
      suspended_until_ += Time::ps(static_cast<std::int64_t>(path_.random().below(span)));
    }
  }

 private:
  void repath_after(std::uint32_t rounds, Time now) {
    if (rounds == 0 || !path_.is_due(rounds) || now < suspended_until_) return;
    path_.change(now, MarkedPath::kRepath);
  }

  const PlbSettings settings_;
  MarkedPath path_;
  Time suspended_until_;
};

PathSelectorMaker make_plb(const PlanSetup& plan) {
  const Parameters& parameters = plan.parameters;
  const PlbSettings settings{.threshold = parameters.real("threshold"),
                             .idle_rounds = parameters.whole("idle_rounds"),
                             .rounds = parameters.whole("rounds"),
                             .suspend = parameters.time("suspend")};
  return [settings](const PathSetup& setup) { return std::make_unique<Plb>(settings, setup); };
}

}  // namespace

Policy plb() {
  return {
      .info = {.name = "plb",
               .summary = "Each flow keeps one shortest path, and takes another when it was marked for some "
                          "round trips: soon if nothing is under way, later in any case.",
               .source = "M. Qureshi et al., PLB: congestion signals are simple and effective for network "
                         "load balancing, SIGCOMM 2022; defaults of Linux (tcp_plb_*)",
               .parameters = {{"threshold", ParameterType::kReal, "0.5",
                               "Share of marked ACKs from which on a round trip is congested.",
                               above("0").up_to("1")},
                              {"idle_rounds", ParameterType::kInteger, "3",
                               "Congested round trips in a row after which an idle flow takes another path; "
                               "0: never.",
                               from_to("0", "1000000")},
                              {"rounds", ParameterType::kInteger, "12",
                               "Congested round trips in a row after which any flow does; 0: never.",
                               from_to("0", "1000000")},
                              {"suspend", ParameterType::kTime, "1ms",
                               "After a timeout paths stay for a random time from this to twice this (Linux: "
                               "60 s).",
                               from_to("0", "3600s")}}},
      .make_path_selectors = make_plb,
      .no_fluid = "by how many packets of a round trip were marked",
      .needs = {.used = Capability::kMark},
      .path_signals = MarkedPath::signals()};
}

}  // namespace weft::routing
