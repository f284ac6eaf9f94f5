#include "goal/check/matching.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "tests/goal/check/naive_matching.h"

namespace weft::goal::checks {
namespace {

struct Message {
  std::uint32_t source, tag;
};

bool fits(const Message& send, const Message& receive) {
  return (receive.source == kAny || receive.source == send.source) &&
         (receive.tag == kAny || send.tag == kAny || receive.tag == send.tag);
}

std::vector<MessageClass> classes(const std::vector<Message>& messages) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
  for (const Message& message : messages) ++counts[{message.source, message.tag}];
  std::vector<MessageClass> result;
  for (const auto& [key, count] : counts) result.push_back({key.first, key.second, count, 0});
  return result;
}

std::uint64_t total(const std::vector<MessageClass>& left) {
  std::uint64_t sum = 0;
  for (const MessageClass& c : left) sum += c.count;
  return sum;
}

}  // namespace

TEST_CASE("as many as a naive maximum matching serves") {
  std::mt19937_64 random(1);
  std::size_t partly = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::uint64_t sources = 1 + random() % 4, tags = 1 + random() % 4, any_tag_sends = random() % 2;
    std::vector<Message> sends(random() % 16), receives(random() % 16);
    const auto pick = [&](std::uint64_t bound, bool may_be_any) {
      return may_be_any && random() % 3 == 0 ? kAny : static_cast<std::uint32_t>(random() % bound);
    };
    for (Message& send : sends) send = {pick(sources, false), pick(tags, any_tag_sends != 0)};
    for (Message& receive : receives) receive = {pick(sources, true), pick(tags, true)};
    std::vector<MessageClass> sends_left = classes(sends), receives_left = classes(receives);
    match_classes(sends_left, receives_left);
    const std::size_t matched = matched_naively(sends, receives, fits);
    INFO("round " << round);
    REQUIRE(total(sends_left) == sends.size() - matched);
    REQUIRE(total(receives_left) == receives.size() - matched);
    partly += matched > 0 && matched < std::min(sends.size(), receives.size());
  }
  CHECK(partly > 500);  // the cases are not all trivial
}

TEST_CASE("a greedy choice is taken back") {
  // The receive of any tag from 0 is offered the first send; only it can take the second.
  std::vector<MessageClass> sends = {{0, 1, 5, 0}, {0, 2, 5, 0}};
  std::vector<MessageClass> receives = {{0, kAny, 5, 0}, {kAny, 1, 5, 0}};
  match_classes(sends, receives);
  CHECK(total(sends) == 0);
  CHECK(total(receives) == 0);
}

}  // namespace weft::goal::checks
