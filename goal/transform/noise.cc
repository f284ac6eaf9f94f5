#include "goal/transform/noise.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goal/file.h"
#include "goal/transform/detours.h"
#include "goal/transform/rank_list.h"
#include "goal/transform/scale.h"
#include "sim/units/random.h"

namespace weft::goal {
namespace {

constexpr const char* kSc10 =
    "T. Hoefler, T. Schneider, A. Lumsdaine, Characterizing the Influence of System Noise on Large-Scale "
    "Applications by Simulation, SC 2010";

std::uint64_t whole_ns(const Parameters& parameters, std::string_view name) {
  return static_cast<std::uint64_t>(parameters.time(name).ps() / 1000);
}

// --- relative noise: each calc is stretched by a factor of its own ---

template <typename Draw>
class RelativeNoise : public Noise {
 public:
  RelativeNoise(RandomStream stream, Draw draw) : stream_(stream), draw_(draw) {}
  std::uint64_t disturb(std::uint64_t ns, std::uint16_t) override {
    return scaled_ns(ns, std::max(0.0, 1 + draw_(stream_)));
  }

 private:
  RandomStream stream_;
  Draw draw_;
};

template <typename Draw>
NoiseMaker relative(std::uint64_t seed, std::uint64_t purpose, Draw draw) {
  return [=](Rank rank) {
    return std::make_unique<RelativeNoise<Draw>>(RandomStream(seed, rank, purpose), draw);
  };
}

NoiseMaker gaussian(const Parameters& parameters, Rank, std::uint64_t seed, std::uint64_t purpose) {
  const double sigma = parameters.real("sigma");
  return relative(seed, purpose, [sigma](RandomStream& stream) {
    // G. Box, M. Muller, 1958.
    const double radius = std::sqrt(-2 * std::log(1 - stream.uniform()));
    return sigma * radius * std::cos(2 * M_PI * stream.uniform());
  });
}

NoiseMaker exponential(const Parameters& parameters, Rank, std::uint64_t seed, std::uint64_t purpose) {
  const double mean = parameters.real("mean");
  return relative(seed, purpose,
                  [mean](RandomStream& stream) { return -mean * std::log(1 - stream.uniform()); });
}

// --- delays: each calc begins late ---

class DelayNoise : public Noise {
 public:
  DelayNoise(RandomStream stream, std::uint64_t most_ns) : stream_(stream), most_ns_(most_ns) {}
  std::uint64_t disturb(std::uint64_t ns, std::uint16_t) override {
    if (ns > (1ULL << 62)) scaled_ns(ns, 2);  // refused there
    return ns + stream_.below(most_ns_ + 1);
  }

 private:
  RandomStream stream_;
  std::uint64_t most_ns_;
};

NoiseMaker delay(const Parameters& parameters, Rank, std::uint64_t seed, std::uint64_t purpose) {
  const std::uint64_t most = whole_ns(parameters, "most");
  return [=](Rank rank) { return std::make_unique<DelayNoise>(RandomStream(seed, rank, purpose), most); };
}

// --- detours: the system takes the cpu ---

class DetourNoise : public Noise {
 public:
  DetourNoise(std::shared_ptr<const Detours> detours, std::uint64_t phase_ns)
      : detours_(std::move(detours)), phase_ns_(phase_ns) {}
  std::uint64_t disturb(std::uint64_t ns, std::uint16_t cpu) override {
    if (clock_ns_.size() <= cpu) clock_ns_.resize(cpu + 1u, phase_ns_);
    const std::uint64_t begin = clock_ns_[cpu];
    detours_->check_work(ns);
    const std::uint64_t end = detours_->end_of_work(begin, ns);
    // Only the place within the cycle matters.
    clock_ns_[cpu] = end % detours_->cycle_ns();
    return end - begin;
  }

 private:
  std::shared_ptr<const Detours> detours_;
  std::uint64_t phase_ns_;
  std::vector<std::uint64_t> clock_ns_;  // per cpu: its own computing time, detours included
};

NoiseMaker with_phase(const Parameters& parameters, std::shared_ptr<const Detours> detours,
                      std::uint64_t seed, std::uint64_t purpose) {
  const bool random = parameters.automatic("phase");
  const std::uint64_t cycle = detours->cycle_ns();
  const std::uint64_t phase = random ? 0 : whole_ns(parameters, "phase") % cycle;
  return [=, detours = std::move(detours)](Rank rank) {
    RandomStream stream(seed, rank, purpose);
    return std::make_unique<DetourNoise>(detours, random ? stream.below(cycle) : phase);
  };
}

NoiseMaker periodic(const Parameters& parameters, Rank, std::uint64_t seed, std::uint64_t purpose) {
  const std::uint64_t length = whole_ns(parameters, "length");
  const std::uint64_t period = whole_ns(parameters, "period");
  if (length >= period) parameters.fail("length", "it must be shorter than the period");
  return with_phase(parameters, std::make_shared<Detours>(std::vector<Detour>{{0, length}}, period), seed,
                    purpose);
}

// One "START LENGTH" a line.
std::vector<Detour> read_detours(const std::string& path) {
  const FileView file(path);
  std::vector<Detour> detours;
  std::string_view rest = file.bytes();
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    text = text.substr(0, text.find('#'));
    std::vector<std::string> words;
    for (std::size_t at = text.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
      const std::size_t stop = std::min(text.find_first_of(" \t\r", at), text.size());
      words.emplace_back(text.substr(at, stop - at));
      at = text.find_first_not_of(" \t\r", stop);
    }
    if (words.empty()) continue;
    const SourceLocation here{.file = path, .line = line};
    if (words.size() != 2) {
      throw InputError(here, std::to_string(words.size()) +
                                 " words; expected the start of a detour and its length: 1000000 2500");
    }
    Time start, length;
    try {
      start = parse_time(words[0]);
      length = parse_time(words[1]);
    } catch (const InputError& error) {
      throw InputError(here, error.what());
    }
    if (start < Time() || length < Time()) throw InputError(here, "a time below 0");
    const Detour detour{static_cast<std::uint64_t>(start.ps() / 1000),
                        static_cast<std::uint64_t>(length.ps() / 1000)};
    if (!detours.empty() && detour.start_ns < detours.back().start_ns + detours.back().length_ns) {
      throw InputError(here, "the detour begins before the one above has ended; expected ascending times");
    }
    detours.push_back(detour);
  }
  if (detours.empty()) throw InputError(SourceLocation{.file = path}, "there are no detours in the file");
  return detours;
}

NoiseMaker recorded(const Parameters& parameters, Rank, std::uint64_t seed, std::uint64_t purpose) {
  std::vector<Detour> detours = read_detours(parameters.file("file"));
  const std::uint64_t first = detours.front().start_ns, last = detours.back().start_ns;
  const std::uint64_t end = last + detours.back().length_ns;
  std::uint64_t cycle = 0;
  if (!parameters.automatic("cycle")) {
    cycle = whole_ns(parameters, "cycle");
    if (cycle <= end) parameters.fail("cycle", "the last detour ends at " + std::to_string(end) + " ns");
  } else if (detours.size() > 1) {
    // As if another detour followed, as far away as they are on average.
    cycle = std::max(last + (last - first) / (detours.size() - 1), end + 1);
  } else {
    parameters.fail("cycle", "with a single detour in the file it must be given");
  }
  return with_phase(parameters, std::make_shared<Detours>(std::move(detours), cycle), seed, purpose);
}

// --- slow ranks ---

class SlowRank : public Noise {
 public:
  explicit SlowRank(double factor) : factor_(factor) {}
  std::uint64_t disturb(std::uint64_t ns, std::uint16_t) override { return scaled_ns(ns, factor_); }

 private:
  double factor_;
};

NoiseMaker stragglers(const Parameters& parameters, Rank ranks, std::uint64_t seed, std::uint64_t purpose) {
  const double factor = parameters.real("factor");
  std::string text = parameters.text("ranks");
  if (!text.empty()) {
    if (text.size() > 1 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
    const RankList list(text, ranks, "stragglers: ranks");
    return [=](Rank rank) { return std::make_unique<SlowRank>(list.contains(rank) ? factor : 1); };
  }
  const std::int64_t count = parameters.integer("count");
  if (count < 0 || count > ranks) {
    parameters.fail("count", "it must be from 0 to " + std::to_string(ranks) + ", the number of ranks");
  }
  // Those with the least numbers of their own: whether a rank is drawn depends on the others here, by nature.
  std::vector<std::pair<std::uint64_t, Rank>> drawn;
  for (Rank rank = 0; rank < ranks; ++rank) {
    drawn.emplace_back(RandomStream(seed, rank, purpose).next(), rank);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<Rank> slow;
  for (std::int64_t i = 0; i < count; ++i) slow.push_back(drawn[static_cast<std::size_t>(i)].second);
  std::sort(slow.begin(), slow.end());
  const RankList list(slow);
  return [=](Rank rank) { return std::make_unique<SlowRank>(list.contains(rank) ? factor : 1); };
}

NoiseMaker slowdown(const Parameters& parameters, Rank, std::uint64_t seed, std::uint64_t purpose) {
  const double most = parameters.real("most");
  return [=](Rank rank) {
    RandomStream stream(seed, rank, purpose);
    return std::make_unique<SlowRank>(1 + most * stream.uniform());
  };
}

ParameterSpec phase_parameter() {
  return {"phase", ParameterType::kTime, "auto",
          "Where in the cycle every rank begins; auto: drawn for each rank, so ranks are not in step.",
          at_least("0")};
}

}  // namespace

std::span<const NoiseModel> noise_models() {
  static const std::vector<NoiseModel> kModels = {
      {{"gaussian",
        "Every calc takes 1 + sigma N times as long, N from a standard normal distribution, cut at 0.",
        kSc10,
        {{"sigma", ParameterType::kReal, "0.05", "Standard deviation, as a share of each calc's time.",
          at_least("0")}}},
       gaussian},
      {{"exponential",
        "Every calc takes 1 + E times as long, E from an exponential distribution.",
        kSc10,
        {{"mean", ParameterType::kReal, "0.05", "Mean of E: the share of each calc's time that is added.",
          at_least("0")}}},
       exponential},
      {{"delay",
        "Every calc takes longer by a time of its own, however short it is: what waking up after a wait "
        "costs.",
        "",
        {{"most", ParameterType::kTime, "100us", "The time is drawn evenly from 0 up to this one.",
          at_least("0")}}},
       delay},
      {{"periodic",
        "The system takes the cpu again and again, as timers and daemons do: fixed work in fixed steps.",
        kSc10,
        {{"period", ParameterType::kTime, "1ms", "From the start of a detour to the next.", at_least("1ns")},
         {"length", ParameterType::kTime, "10us", "How long each lasts; shorter than the period.",
          at_least("0")},
         phase_parameter()}},
       periodic},
      {{"recorded",
        "Detours as measured: a file of starts and lengths (ns, or with units), one a line, repeated.",
        kSc10,
        {{"file", ParameterType::kFile, "", "Lines START LENGTH in ascending order; # begins a comment."},
         {"cycle", ParameterType::kTime, "auto",
          "When the recording begins anew; auto: after the last start and the average distance of starts.",
          at_least("1ns")},
         phase_parameter()}},
       recorded},
      {{"stragglers",
        "A few ranks are slower than the rest, by one factor.",
        "",
        {{"ranks", ParameterType::kText, "", "Which: [0-3,8]; empty: `count` of them, drawn."},
         {"count", ParameterType::kInteger, "1", "How many to draw where `ranks` is empty.", at_least("0")},
         {"factor", ParameterType::kReal, "2", "Their calcs take so many times as long.", at_least("0")}}},
       stragglers},
      {{"slowdown",
        "Every rank has a factor of its own, the same for all its calcs: processors that are not alike.",
        "",
        {{"most", ParameterType::kReal, "0.1", "The factor is drawn evenly from 1 to 1 + most.",
          at_least("0")}}},
       slowdown},
  };
  return kModels;
}

}  // namespace weft::goal
