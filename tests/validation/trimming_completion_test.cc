// NSCC and RCCC against the limits that htsim's own validation sets for such (README.md: where from, and what
// we take). The setting is that of completion.h, with queues of one bandwidth-delay product and paths that
// skip what was marked or cut off.
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "tests/validation/completion.h"

namespace weft::validation {
namespace {

std::string with(const std::string& control, const std::string& routing = "bitmap { paths: 128 }",
                 const std::string& settings = "") {
  return "congestion { " + control + " { " + settings + " } } queue { composite {} } routing { " + routing +
         " } ";
}

std::string any_control() { return GENERATE("nscc", "rccc", "nscc_rccc"); }

void check(const std::string& control, const char* what, double time, double limit) {
  INFO(control << ", " << what << ": " << time);
  CHECK(time <= limit);
}

}  // namespace

TEST_CASE("with trimming: one flow 180 us, two in opposite directions 190 us") {
  const std::string control = any_control();
  check(control, "one", complete(fat_tree(4) + with(control), 16, {{0, 13, kMessageBytes}}).longest(), 180);
  const Messages both = {{0, 13, kMessageBytes}, {13, 0, kMessageBytes}};
  check(control, "both ways", complete(fat_tree(4) + with(control), 16, both).longest(), 190);
}

TEST_CASE("with trimming: incast of 15, 2500 us, of 127, 23000 us") {
  const std::string control = any_control();
  check(control, "incast 15", complete(fat_tree(4) + with(control), 16, incast(16, kMessageBytes)).longest(),
        2500);
  check(control, "incast 127",
        complete(fat_tree(8) + with(control), 128, incast(128, kMessageBytes)).longest(), 23'000);
}

// NSCC is not held to it in the published list either: 10.6 ms.
TEST_CASE("with trimming: incast of 1023 times 100 KB, 8950 us") {
  const std::string control = GENERATE("rccc", "nscc_rccc");
  check(control, "incast 1023", complete(fat_tree(16) + with(control), 1024, incast(1024, 100'000)).longest(),
        8950);
}

// The limit was set for credit. With NSCC's window it takes 252 to 261 us (the consortium's program: 265 to
// 294): what it had trimmed by the incast's first windows, on the links to the edge switch that both share,
// has to grow again.
TEST_CASE("with trimming: a flow beside an incast of 126, 220 us") {
  const std::string control = any_control();
  Messages messages;
  for (goal::Rank r = 0; r < 128; ++r) {
    if (r != 33 && r != 38) messages.push_back({r, 33, kMessageBytes});
  }
  messages.push_back({38, 34, kMessageBytes});
  const Completion c = complete(fat_tree(8) + with(control), 128, messages);
  check(control, "incast 126", c.longest(), 23'000);
  const bool has_window = control == "nscc" || control == "nscc_rccc";
  check(control, "beside it", c.of(38, 34), has_window ? 265 : 220);
}

TEST_CASE("with trimming: outcast and incast share senders, 2500 us, and 240 us for 1->0") {
  const std::string control = any_control();
  Messages messages = {{1, 0, kMessageBytes}};
  for (const goal::Rank sender : {2u, 3u}) {
    messages.push_back({sender, 0, kMessageBytes});
    for (goal::Rank i = 0; i < 9; ++i)
      messages.push_back({sender, (sender == 2 ? 4 : 13) + i, kMessageBytes});
  }
  const Completion c = complete(fat_tree(8) + with(control), 128, messages);
  check(control, "outcast", c.longest(), 2500);
  check(control, "1->0", c.of(1, 0), 240);
}

TEST_CASE("with trimming: permutation of 16, 210 us over 128 paths, 1300 us over one") {
  const std::string control = any_control();
  constexpr std::array<goal::Rank, 16> kTo = {13, 3, 10, 14, 0, 11, 7, 5, 9, 12, 6, 4, 15, 2, 8, 1};
  Messages messages;
  for (goal::Rank r = 0; r < 16; ++r) messages.push_back({r, kTo[r], kMessageBytes});
  check(control, "perm 16", complete(fat_tree(4) + with(control), 16, messages).longest(), 210);
  check(control, "one path", complete(fat_tree(4) + with(control, "ecmp {}"), 16, messages).longest(), 1300);
}

TEST_CASE("with trimming: permutation of 1024 over 128 paths, 220 us") {
  const std::string control = any_control();
  check(control, "perm 1024", complete(fat_tree(16) + with(control), 1024, permutation(1024, 1)).longest(),
        220);
}

TEST_CASE("with trimming: permutation of 1024 on a leaf-spine oversubscribed 4:1, 880 us, and 8:1, 1760 us") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc");
  const Messages messages = permutation(1024, 1);
  for (const int ratio : {4, 8}) {
    const std::string settings = control == "rccc" ? "oversubscription: " + std::to_string(ratio) : "";
    const std::string scenario = leaf_spine(32 / ratio) + with(control, "bitmap { paths: 128 }", settings);
    check(control, ratio == 4 ? "4:1" : "8:1", complete(scenario, 1024, messages).longest(), 220.0 * ratio);
  }
}

}  // namespace weft::validation
