// What links and the whole network did over time, in equal intervals of simulated time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/results/row.h"
#include "sim/units/quantity.h"

namespace weft::results {

// A link as it is at one moment.
struct LinkState {
  std::uint64_t bytes = 0;        // put on the wire since the start of the run
  std::uint64_t queue_bytes = 0;  // waiting, with what remains of the packet being sent
  Time busy;                      // the wire was occupied since the start of the run
};
// Counts since the start of the run, ACKs included.
struct NetworkState {
  std::uint64_t packets_injected = 0, packets_delivered = 0, packets_dropped = 0;
  std::uint64_t bytes_delivered = 0;  // on the wire
  std::uint64_t ecn_marks = 0;
};

// A network that can say how it is, at a moment up to which all its events have been executed and none after.
class SeriesSource {
 public:
  virtual ~SeriesSource() = default;
  virtual NetworkState network_state() const = 0;
  // Fills states[i] with that of the link (channel of the topology) links[i] at `now`.
  virtual void link_states(Time now, std::span<const std::uint32_t> links,
                           std::span<LinkState> states) const = 0;
};

// One interval of one link.
struct LinkSample {
  std::uint32_t link = 0;
  std::uint64_t bytes = 0;        // put on the wire in the interval
  double utilization = 0;         // part of the interval in which the wire was occupied
  std::uint64_t queue_bytes = 0;  // at its end
};
// One interval of the network.
struct NetworkSample {
  std::uint64_t packets_in_flight = 0;  // at its end
  // In the interval.
  std::uint64_t packets_injected = 0, packets_delivered = 0, packets_dropped = 0;
  std::uint64_t bytes_delivered = 0;
  std::uint64_t ecn_marks = 0;
};

// Receives the intervals one after the other. Links that did nothing and have no queue are left out, and so
// are intervals in which nothing happened.
class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  virtual void sample(Time begin, Time end, const NetworkSample& network,
                      std::span<const LinkSample> links) = 0;
  // After the last one. Throws InputError if something could not be written.
  virtual void close() {}
};
inline constexpr const char* kLinkSeriesColumns = "time_ns,link,bytes,utilization,queue_bytes";
inline constexpr const char* kNetworkSeriesColumns =
    "time_ns,packets_in_flight,packets_injected,packets_delivered,bytes_delivered,drops,ecn_marks";
// series.csv and network_series.csv in this directory, written as the samples come; see FILES.md. Throws
// InputError if they can't be written.
std::unique_ptr<SeriesSink> make_series_files(const std::string& directory);
// Fill a row of these, which is empty. `end`: of the interval.
void fill_sample(Time end, const LinkSample& sample, Row& row);
void fill_sample(Time end, const NetworkSample& sample, Row& row);

// Decides when to look at the network, and turns counts into samples. One thread calls it, between events.
// Memory: 64 bytes for each link looked at, whatever the length of the run.
class Series {
 public:
  // `links`: by number. REQUIRES: interval > 0. The sink is not owned.
  Series(Time interval, std::vector<std::uint32_t> links, SeriesSink& sink);

  // The end of the interval under way: no event at or after it may be executed before advance() was called.
  Time next() const { return next_; }
  // Takes all samples that are due at or before `time`, that of the next event. REQUIRES: all events before
  // next() have been executed, and there is none before `time` left.
  void advance(Time time, const SeriesSource& source);
  // Takes all samples that are due up to `end`, when the network has nothing left to do, and that of the
  // interval under way then. REQUIRES: as advance() does.
  void finish(Time end, const SeriesSource& source);
  // Gives out the last sample, cut short by the end of the run if that is in its interval: a network may know
  // only later when the run ended, as timers that nobody needs go off after it. REQUIRES: finish() was
  // called.
  void close(Time end_of_run);

 private:
  void take(Time end, const SeriesSource& source);
  void give_out();

  // The last sample with anything in it, until the next comes.
  struct Held {
    bool any = false;
    Time begin, end;
    NetworkSample network;
    std::vector<LinkSample> links;
  };

  Time interval_, begin_, next_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> bytes_;  // at the last sample
  std::vector<Time> busy_;            // likewise
  std::vector<LinkState> states_;
  std::vector<LinkSample> samples_;
  NetworkState network_;  // at the last sample
  Held held_;
  SeriesSink& sink_;
};

}  // namespace weft::results
