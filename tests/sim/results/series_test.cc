#include "sim/results/series.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "sim/units/random.h"

namespace weft::results {
namespace {

// Links that send what they are told to, in whole bytes of 1 ns each (8 Gb/s), one after the other.
class Wires : public SeriesSource {
 public:
  explicit Wires(std::uint32_t links) : free_at_(links), bytes_(links) {}
  // A packet joins the queue of a link.
  void send(Time now, std::uint32_t link, std::int64_t bytes) {
    free_at_[link] = std::max(free_at_[link], now) + Time::ns(bytes);
    bytes_[link] += static_cast<std::uint64_t>(bytes);
    ++network_.packets_injected;
  }
  void deliver() { ++network_.packets_delivered; }

  std::uint64_t bytes(std::uint32_t link) const { return bytes_[link]; }
  NetworkState network_state() const override { return network_; }
  void link_states(Time now, std::span<const std::uint32_t> links,
                   std::span<LinkState> states) const override {
    for (std::size_t i = 0; i < links.size(); ++i) {
      const Time left = std::max(Time(), free_at_[links[i]] - now);
      const auto queued = static_cast<std::uint64_t>(left.ps() / 1000);
      const std::uint64_t sent = bytes_[links[i]] - queued;
      states[i] = {sent, queued, Time::ns(static_cast<std::int64_t>(sent))};
    }
  }

 private:
  std::vector<Time> free_at_;
  std::vector<std::uint64_t> bytes_;
  NetworkState network_;
};

struct Interval {
  Time begin, end;
  NetworkSample network;
  std::vector<LinkSample> links;
};
class Rows : public SeriesSink {
 public:
  void sample(Time begin, Time end, const NetworkSample& network,
              std::span<const LinkSample> links) override {
    rows.push_back({begin, end, network, {links.begin(), links.end()}});
  }
  std::vector<Interval> rows;
};

}  // namespace

TEST_CASE("series: one link by hand") {
  Rows rows;
  Wires wires(2);
  Series series(Time::ns(10), {0, 1}, rows);
  // 25 bytes at 3 ns: the wire is busy from 3 to 28.
  CHECK(series.next() == Time::ns(10));
  wires.send(Time::ns(3), 0, 25);
  series.advance(Time::ns(28), wires);
  wires.deliver();
  CHECK(series.next() == Time::ns(30));
  // Nothing is under way until 1,004: the intervals between are skipped.
  series.advance(Time::ns(1004), wires);
  CHECK(series.next() == Time::ns(1010));
  wires.send(Time::ns(1004), 1, 2);
  wires.deliver();
  series.finish(Time::ns(1006), wires);
  CHECK(rows.rows.size() == 3);
  series.close(Time::ns(1006));

  REQUIRE(rows.rows.size() == 4);
  const std::uint64_t bytes[] = {7, 10, 8, 2}, queues[] = {18, 8, 0, 0}, flying[] = {1, 1, 0, 0};
  const double utilization[] = {0.7, 1.0, 0.8, 2.0 / 6};
  const std::int64_t ends[] = {10, 20, 30, 1006};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(rows.rows[i].end == Time::ns(ends[i]));
    REQUIRE(rows.rows[i].links.size() == 1);
    CHECK(rows.rows[i].links[0].link == (i < 3 ? 0u : 1u));
    CHECK(rows.rows[i].links[0].bytes == bytes[i]);
    CHECK(rows.rows[i].links[0].utilization == Approx(utilization[i]));
    CHECK(rows.rows[i].links[0].queue_bytes == queues[i]);
    CHECK(rows.rows[i].network.packets_in_flight == flying[i]);
  }
  CHECK(rows.rows[3].begin == Time::ns(1000));
  CHECK(rows.rows[3].network.packets_injected == 1);
}

TEST_CASE("series: the end of the run cuts the last interval short, whatever timers go off after it") {
  // 14 bytes from 0 on: 10 in the first interval, and 4 until 14 ns; the run ends at 16 ns, a timer at 500
  // ns.
  const auto last_of = [](Time end_of_run) {
    Rows rows;
    Wires wires(1);
    Series series(Time::ns(10), {0}, rows);
    wires.send(Time(), 0, 14);
    series.advance(Time::ns(14), wires);
    wires.deliver();
    series.advance(Time::ns(500), wires);
    series.finish(Time::ns(500), wires);
    series.close(end_of_run);
    REQUIRE(rows.rows.size() == 2);
    CHECK(rows.rows[0].end == Time::ns(10));
    CHECK(rows.rows[0].links[0].utilization == 1);
    CHECK(rows.rows[1].links[0].bytes == 4);
    return rows.rows[1];
  };
  const Interval cut = last_of(Time::ns(16));
  CHECK(cut.begin == Time::ns(10));
  CHECK(cut.end == Time::ns(16));
  CHECK(cut.links[0].utilization == Approx(4.0 / 6));
  // It ended later, or before the interval in which only ACKs were left: then the interval is whole.
  CHECK(last_of(Time::ns(300)).end == Time::ns(20));
  CHECK(last_of(Time::ns(300)).links[0].utilization == Approx(0.4));
  CHECK(last_of(Time::ns(9)).end == Time::ns(20));
}

TEST_CASE("series: nothing happens, nothing is said") {
  Rows rows;
  const Wires wires(1);
  Series series(Time::ns(10), {0}, rows);
  series.advance(Time::us(5), wires);
  series.finish(Time::us(50), wires);
  series.close(Time::us(50));
  CHECK(rows.rows.empty());
}

TEST_CASE("series: all bytes of a link are in its samples, and no link is above its rate") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomStream random(seed, 0, 0);
    constexpr std::uint32_t kLinks = 5;
    const auto interval = Time::ps(1 + static_cast<std::int64_t>(random.next() % 50'000));
    Rows rows;
    Wires wires(kLinks);
    std::vector<std::uint32_t> links;
    for (std::uint32_t link = 0; link < kLinks; link += 2) links.push_back(link);
    Series series(interval, links, rows);
    Time now;
    Time last;
    for (int event = 0; event < 200; ++event) {
      now += Time::ps(static_cast<std::int64_t>(random.next() % 30'000));
      if (now >= series.next()) series.advance(now, wires);
      const auto bytes = static_cast<std::int64_t>(1 + random.next() % 20);
      wires.send(now, static_cast<std::uint32_t>(random.next() % kLinks), bytes);
      last = std::max(last, now) + Time::ns(bytes);
    }
    series.finish(last, wires);
    series.close(last);
    std::map<std::uint32_t, std::uint64_t> sums;
    Time before;
    for (const Interval& row : rows.rows) {
      CHECK(row.begin >= before);
      CHECK(row.end >= row.begin);
      before = row.end;
      for (const LinkSample& sample : row.links) {
        sums[sample.link] += sample.bytes;
        // The byte under way at either end may be counted whole.
        CHECK(Time::ns(static_cast<std::int64_t>(sample.bytes) - 1) <= row.end - row.begin);
      }
    }
    for (std::uint32_t link = 0; link < kLinks; ++link) {
      CHECK(sums[link] == (link % 2 == 0 ? wires.bytes(link) : 0));
    }
  }
}

}  // namespace weft::results
