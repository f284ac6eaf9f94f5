#include "sim/results/flow_statistics.h"

#include <catch2/catch.hpp>

namespace weft::results {
namespace {

Flow flow(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes, Time start, Time finish,
          Time ideal = {}) {
  return {.source = source,
          .destination = destination,
          .bytes = bytes,
          .start = start,
          .finish = finish,
          .ideal = ideal};
}

// Four messages between three hosts, one of them within a host.
FlowStatistics example() {
  FlowStatistics statistics;
  statistics.add(flow(0, 1, 10'000, Time::ns(100), Time::ns(400), Time::ns(200)));
  statistics.add(flow(2, 1, 10'001, Time::ns(0), Time::ns(500), Time::ns(500)));
  statistics.add(flow(1, 2, 50'000'000, Time::ns(0), Time::ns(400)));
  statistics.add(flow(1, 1, 7, Time::ns(0), Time::us(1), Time::ns(1)));
  return statistics;
}

}  // namespace

TEST_CASE("flow statistics: a tally of hosts has the same sums as the table") {
  FlowStatistics table, apart;
  HostTally even, odd;
  for (std::uint32_t i = 0; i < 5'000; ++i) {  // hosts far apart, some often, and some within themselves
    const Flow each = flow(i % 97 * 1'000, i * i % 1'009 * 50, i + 1, Time(), Time::ns(1));
    table.add(each);
    apart.add_but_hosts(each);
    (i % 2 == 0 ? even : odd).add(each);
  }
  apart.add_hosts(odd);
  apart.add_hosts(even);
  REQUIRE(apart.hosts().size() == table.hosts().size());
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < table.hosts().size(); ++i) {
    const FlowStatistics::Host &a = table.hosts()[i], &b = apart.hosts()[i];
    CHECK((a.bytes_sent == b.bytes_sent && a.bytes_received == b.bytes_received));
    CHECK((a.flows_sent == b.flows_sent && a.flows_received == b.flows_received));
    bytes += b.bytes_received;
  }
  CHECK(bytes == apart.bytes());
  CHECK(apart.bytes() == table.bytes());
}

TEST_CASE("flow statistics: completion times and slowdowns, by size") {
  const FlowStatistics statistics = example();
  CHECK(statistics.bytes() == 50'020'001);
  CHECK(statistics.all().completion.count() == 3);
  CHECK(statistics.all().completion.mean() == 400'000);
  CHECK(statistics.all().completion.largest() == 500'000);
  // 300 / 200 and 500 / 500; the third has no ideal.
  CHECK(statistics.all().slowdown.count() == 2);
  CHECK(statistics.all().slowdown.mean() / FlowStatistics::kSlowdownUnit == 1.25);
  CHECK(statistics.all().slowdown.largest() == FlowStatistics::kSlowdownUnit * 3 / 2);
  const std::uint64_t counts[] = {1, 1, 0, 0, 1};
  for (std::size_t i = 0; i < 5; ++i) CHECK(statistics.of_class(i).completion.count() == counts[i]);
  CHECK(statistics.of_class(0).completion.largest() == 300'000);
  CHECK(statistics.of_class(1).slowdown.largest() == FlowStatistics::kSlowdownUnit);
}

TEST_CASE("flow statistics: what hosts sent and got") {
  const FlowStatistics statistics = example();
  REQUIRE(statistics.hosts().size() == 3);
  CHECK(statistics.hosts()[0].bytes_sent == 10'000);
  CHECK(statistics.hosts()[0].flows_received == 0);
  CHECK(statistics.hosts()[1].flows_received == 2);
  CHECK(statistics.hosts()[1].bytes_received == 20'001);
  CHECK(statistics.hosts()[2].bytes_received == 50'000'000);
  // 8 bits × 50,020,001 bytes in 1 ms, received by two hosts.
  const HostGoodput goodput = host_goodput(statistics, Time::us(1000));
  CHECK(goodput.receivers == 2);
  CHECK(goodput.mean_bps == Approx(8.0 * 50'020'001 / 1e-3 / 2));
  CHECK(goodput.least_bps == Approx(8.0 * 20'001 / 1e-3));
  CHECK(goodput.most_bps == Approx(8.0 * 50'000'000 / 1e-3));
  CHECK(host_goodput(FlowStatistics(), Time::us(1)).receivers == 0);
  CHECK(goodput_bps(1000, Time()) == 0);
}

TEST_CASE("flow statistics: parts merged are the whole") {
  const FlowStatistics whole = example();
  FlowStatistics first, second;
  second.add(flow(0, 1, 10'000, Time::ns(100), Time::ns(400), Time::ns(200)));
  first.add(flow(2, 1, 10'001, Time::ns(0), Time::ns(500), Time::ns(500)));
  second.add(flow(1, 2, 50'000'000, Time::ns(0), Time::ns(400)));
  FlowStatistics merged;
  merged.merge(second);
  merged.merge(first);
  CHECK(merged.bytes() == whole.bytes());
  CHECK(merged.all().completion.mean() == whole.all().completion.mean());
  CHECK(merged.all().slowdown.percentile(500) == whole.all().slowdown.percentile(500));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(merged.of_class(i).completion.count() == whole.of_class(i).completion.count());
  }
  REQUIRE(merged.hosts().size() == whole.hosts().size());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(merged.hosts()[i].bytes_sent == whole.hosts()[i].bytes_sent);
    CHECK(merged.hosts()[i].bytes_received == whole.hosts()[i].bytes_received);
  }
}

}  // namespace weft::results
