#include "tests/goal/collectives/interpreter.h"

#include <catch2/catch.hpp>
#include <utility>

namespace weft::goal {
namespace {

using Expand = bool (*)(const CollectiveCall&, std::uint32_t lane, std::uint32_t index, Group& out);

// What the interpreter says of an algorithm on 4 elements of 8 bytes.
Outcome outcome_of(CollectiveKind kind, Expand expand, std::uint32_t ranks = 2,
                   Order order = Order::kShuffled) {
  const CollectiveAlgorithm algorithm{{"made_up", "", "", {}}, kind, expand};
  return run({&algorithm, {}}, {.kind = kind, .bytes = 32, .element_bytes = 8}, ranks, order);
}
void check_fault(CollectiveKind kind, Expand expand, const std::string& text, std::uint32_t ranks = 2,
                 Order order = Order::kShuffled) {
  CHECK_THAT(outcome_of(kind, expand, ranks, order).fault, Catch::Contains(text));
}

constexpr Part kAll = {0, 32};

}  // namespace

TEST_CASE("the interpreter counts messages, bytes, combined bytes and rounds") {
  // Up a chain of three, then down again.
  const Outcome outcome = outcome_of(
      CollectiveKind::kAllreduce,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        const std::uint32_t me = call.me;
        if (index == 0 && me < 2) out.recv_combine(me + 1, 0, kAll);
        if (index == 1 && me > 0) out.send(me - 1, 0, kAll);
        if (index == 2 && me > 0) out.recv(me - 1, 1, kAll);
        if (index == 3 && me < 2) out.send(me + 1, 1, kAll);
        return index < 4;
      },
      3);
  CHECK(outcome.fault.empty());
  CHECK(outcome.messages == 4);
  CHECK(outcome.bytes == 128);
  CHECK(outcome.combined == 64);
  CHECK(outcome.rounds == 4);
  CHECK(outcome.messages_sent == std::vector<std::uint64_t>{1, 2, 1});
  CHECK(outcome.bytes_received == std::vector<std::uint64_t>{32, 64, 32});
  CHECK(outcome.bytes_combined == std::vector<std::uint64_t>{32, 32, 0});
}

TEST_CASE("the interpreter finds missing, surplus and misplaced contributions") {
  check_fault(
      CollectiveKind::kAllreduce,
      [](const CollectiveCall&, std::uint32_t, std::uint32_t, Group&) { return false; }, "wrong data");
  // Twice the same.
  check_fault(
      CollectiveKind::kAllreduce,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        out.send(1 - call.me, index, kAll);
        out.recv_combine(1 - call.me, index, kAll);
        return index < 2 || (out.clear(), false);
      },
      "wrong data");
  // The first half into the second.
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 1) return false;
        if (call.me == 0) out.send(1, index, {index * 16, 16});
        if (call.me == 1) out.recv(0, index, {16 - index * 16, 16});
        return true;
      },
      "wrong data in unit 0");
  // A later rank's part in a scan.
  check_fault(
      CollectiveKind::kScan,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        out.send(1 - call.me, 0, kAll);
        out.recv_combine(1 - call.me, 0, kAll);
        return true;
      },
      "rank 0 ends with wrong data");
  // A barrier that rank 0 leaves before rank 1 has come.
  check_fault(
      CollectiveKind::kBarrier,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        if (call.me == 0) out.signal(1, 0);
        if (call.me == 1) out.await(0, 0);
        return true;
      },
      "rank 0 ends with wrong data in unit 1");
  // Each block of an alltoall to the wrong place.
  check_fault(
      CollectiveKind::kAlltoall,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        out.send_slots((call.me + 1) % 3, 0, 64, {1, 2});
        out.recv_slots((call.me + 2) % 3, 0, 64, {1, 2});
        return true;
      },
      "wrong data in unit 2", 3);
}

TEST_CASE("the interpreter finds data that is right only by luck of order") {
  // Two lanes: one passes on what the other may not have got yet.
  const CollectiveAlgorithm algorithm{
      {"made_up", "", "", {}},
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        if (call.me == 0 && lane == 0) out.send(1, 0, kAll);
        if (call.me == 1 && lane == 0) out.recv(0, 0, kAll);
        if (call.me == 1 && lane == 1) out.send(2, 0, kAll);
        if (call.me == 2 && lane == 1) out.recv(1, 0, kAll);
        return true;
      },
      [](const CollectiveCall&) { return 2u; }};
  const Collective call{.kind = CollectiveKind::kBcast, .bytes = 32, .element_bytes = 8};
  CHECK_THAT(run({&algorithm, {}}, call, 3, Order::kSendsEarly).fault, Catch::Contains("wrong data"));
}

TEST_CASE("the interpreter finds groups in which data is not certain") {
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        if (call.me > 0) out.recv(call.me - 1, 0, kAll);
        if (call.me < 2) out.send(call.me + 1, 0, kAll);
        return true;
      },
      "rank 1 stores where the same group sends", 3);
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        for (std::uint32_t tag : {0u, 1u}) {
          if (call.me == 0) out.send(1, tag, kAll);
          if (call.me == 1) out.recv(0, tag, {tag * 8, 24});
        }
        return true;
      },
      "rank 1 stores where the same group");
}

TEST_CASE("the interpreter finds messages that do not meet") {
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        if (call.me == 0) out.send(1, 0, kAll);
        if (call.me == 1) out.recv(0, 1, kAll);
        return true;
      },
      "rank 1 can't finish group 0 of lane 0: 1 messages are missing");
  const Expand surplus = [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
    if (index > 1) return false;
    if (call.me == 0) out.send(1, index, kAll);
    if (call.me == 1 && index == 0) out.recv(0, 0, kAll);
    return true;
  };
  check_fault(CollectiveKind::kBcast, surplus, "never received");
  check_fault(CollectiveKind::kBcast, surplus, "rank 0 can't finish group 1", 2, Order::kSendsLate);
  // Same source, same tag.
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 1) return false;
        if (call.me == 0) out.send(1, 0, {index * 16, 16});
        if (call.me == 1) out.recv(0, 0, {index * 16, 16});
        return true;
      },
      "from 0 to 1 with tag 0");
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        if (call.me == 0) out.send(1, 0, kAll);
        if (call.me == 1) out.recv(0, 0, {0, 24});
        return true;
      },
      "rank 1 awaits 24 bytes from rank 0, which sends 32");
  // Both send before they receive: good with buffers only.
  const Expand head_on = [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
    if (index == 0) out.send(1 - call.me, 0, kAll);
    if (index == 1) out.recv_combine(1 - call.me, 0, kAll);
    return index < 2;
  };
  CHECK(outcome_of(CollectiveKind::kAllreduce, head_on, 2, Order::kSendsEarly).fault.empty());
  check_fault(CollectiveKind::kAllreduce, head_on, "can't finish group 0", 2, Order::kSendsLate);
}

TEST_CASE("the interpreter finds steps that no rank can take") {
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index > 0) return false;
        if (call.me == 0) out.send(1, 0, {0, 12});
        if (call.me == 1) out.recv(0, 0, {0, 12});
        return true;
      },
      "an element is split at 12");
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
        if (index == 0) out.send(call.me, 0, kAll);
        return index == 0;
      },
      "names peer");
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall&, std::uint32_t, std::uint32_t, Group&) { return true; }, "no last group");
  check_fault(
      CollectiveKind::kBcast,
      [](const CollectiveCall&, std::uint32_t, std::uint32_t, Group& out) {
        out.send(1, out.keeps_parts() ? 1 : 0, kAll);
        return true;
      },
      "other steps when asked again");
}

}  // namespace weft::goal
