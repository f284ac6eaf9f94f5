#include "sim/replay/message_order.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <map>
#include <tuple>

using namespace weft::sim;

namespace {

struct Call {
  bool is_advance = false;
  MessageStream stream;
  std::uint32_t expected = 0;
};

void showValue(const Call& call, std::ostream& os) {
  os << (call.is_advance ? "advance " : "next ") << call.stream.rank << ' ' << call.stream.peer << ' '
     << call.stream.communicator << ' ' << call.expected;
}

rc::Gen<Call> any_call() {
  const auto below = [](std::uint32_t n) { return rc::gen::inRange<std::uint32_t>(0, n); };
  const auto stream = rc::gen::build<MessageStream>(rc::gen::set(&MessageStream::rank, below(6)),
                                                    rc::gen::set(&MessageStream::peer, below(6)),
                                                    rc::gen::set(&MessageStream::communicator, below(3)));
  return rc::gen::build<Call>(rc::gen::set(&Call::is_advance), rc::gen::set(&Call::stream, stream),
                              rc::gen::set(&Call::expected, below(4)));
}

}  // namespace

TEST_CASE("counters count as those of a plain map do") {
  setenv("RC_PARAMS", "seed=1 max_success=300 max_size=1000", 0);
  const bool holds = rc::check("same answers", [] {
    StreamCounters counters;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> naive;
    for (const Call& call : *rc::gen::container<std::vector<Call>>(any_call())) {
      const MessageStream& s = call.stream;
      std::uint32_t& count = naive[{s.rank, s.peer, s.communicator}];
      if (call.is_advance) {
        RC_ASSERT(counters.advance(s, call.expected) == (count == call.expected));
        count += count == call.expected;
      } else {
        RC_ASSERT(counters.next(s) == count++);
      }
    }
    std::uint64_t counting = 0;
    for (const auto& [stream, count] : naive) counting += count > 0;
    RC_ASSERT(counters.size() == counting);
  });
  CHECK(holds);
}

TEST_CASE("a table that grows keeps all its counters") {
  StreamCounters counters;
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 100'000; ++i) REQUIRE(counters.next({i % 317, i, i % 2}) == round);
  }
  CHECK(counters.size() == 100'000);
}
