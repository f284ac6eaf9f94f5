// What is left of a rank's calls when one region of the program is asked for.
#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
namespace {

using Step = std::variant<TraceRecord, TraceRegionEvent>;

Step begin(const std::string& name, std::uint64_t at_ns) { return TraceRegionEvent{name, true, at_ns}; }
Step end(const std::string& name, std::uint64_t at_ns) { return TraceRegionEvent{name, false, at_ns}; }
TraceRecord send(std::uint64_t enter_ns, std::uint64_t leave_ns, std::int32_t tag) {
  return message(Function::kSend, enter_ns, leave_ns, 1, tag, 1);
}

// Rank 0's block of the graph in text form, and the time that counts.
std::pair<std::string, std::uint64_t> import_region(const std::string& region, const std::vector<Step>& steps,
                                                    ImportNotes* counted = nullptr) {
  GraphBuilder builder;
  CommunicatorTable table(builder, 2);
  table.begin_rank();
  ImportNotes notes;
  std::vector<TraceCommunicator> known(2);
  known[0].ranks = {0, 1};
  known[1] = {.id = 1, .key = 1000, .parent = 0, .ranks = {0}};
  OneSidedTraffic traffic(2, [](OneSidedTraffic&) {});
  RankImporter importer({.region = region}, 0, 2, table, traffic, notes);
  for (const Step& step : steps) {
    if (const auto* event = std::get_if<TraceRegionEvent>(&step)) {
      importer.region(*event);
    } else {
      importer.add(std::get<TraceRecord>(step), known);
    }
  }
  importer.finish(builder);
  builder.end_rank();
  if (counted != nullptr) *counted = notes;
  const std::string text = to_text(builder.finish());
  const std::size_t from = text.find("rank 0 {"), to = text.find("}\n", from);
  return {text.substr(from, to + 2 - from), importer.elapsed_ns()};
}

const std::vector<Step> kProgram = {
    init(100),         send(150, 200, 1), begin("a", 230),   send(250, 300, 2), begin("b", 310),
    end("a", 340),     send(400, 450, 3), end("b", 460),     begin("a", 500),   begin("a", 505),
    send(520, 530, 4), end("a", 540),     send(545, 550, 5), end("a", 560),     finalize(600)};

}  // namespace

TEST_CASE("a region's calls and the compute within it stay, piece by piece and nested") {
  const auto [text, elapsed] = import_region("a", kProgram);
  // 230 to 250; 300 to 340; 500 to 520; 530 to 545 over the inner end; 550 to 560.
  CHECK(text ==
        "rank 0 {\n"
        "l1: calc 20\n"
        "l2: send 8b to 1 tag 2\n"
        "l2 requires l1\n"
        "l3: calc 40\n"
        "l3 requires l2\n"
        "l4: calc 20\n"
        "l4 requires l3\n"
        "l5: send 8b to 1 tag 4\n"
        "l5 requires l4\n"
        "l6: calc 15\n"
        "l6 requires l5\n"
        "l7: send 8b to 1 tag 5\n"
        "l7 requires l6\n"
        "l8: calc 10\n"
        "l8 requires l7\n"
        "}\n");
  CHECK(elapsed == (340 - 230) + (560 - 500));
  CHECK(import_region("b", kProgram).second == 460 - 310);
}

TEST_CASE("without a region asked for, they change nothing") {
  std::vector<Step> without;
  for (const Step& step : kProgram) {
    if (std::holds_alternative<TraceRecord>(step)) without.push_back(step);
  }
  CHECK(import_region("", kProgram) == import_region("", without));
  CHECK(import_region("", kProgram).second == 500);
}

TEST_CASE("requests go on from one side of a region's bounds to the other") {
  // Posted inside and waited for outside; posted outside and waited for inside.
  const std::vector<Step> steps = {init(0),
                                   begin("a", 10),
                                   message(Function::kIrecv, 20, 21, 1, 7, 1, 1),
                                   end("a", 30),
                                   done(Function::kWait, 40, 50, {{1, false, got(1, 7, 8)}}),
                                   message(Function::kIrecv, 60, 61, 1, 8, 1, 2),
                                   begin("a", 70),
                                   done(Function::kWait, 80, 90, {{2, false, got(1, 8, 8)}}),
                                   end("a", 95),
                                   finalize(100)};
  CHECK(import_region("a", steps).first ==
        "rank 0 {\n"
        "l1: calc 10\n"
        "l2: recv 8b from 1 tag 7\n"
        "l2 requires l1\n"
        "l3: calc 9\n"
        "l3 irequires l2\n"
        "l4: calc 15\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "}\n");
}

TEST_CASE("of what lies outside of a region only its calls are counted") {
  const auto file = [](std::uint64_t enter_ns, std::uint64_t leave_ns) {
    TraceRecord record = call(Function::kFile_write_at, enter_ns, leave_ns);
    record.inside_ns = leave_ns - enter_ns;
    record.count = record.type_size = 2;
    return record;
  };
  TraceRecord split = call(Function::kComm_split, 10, 20);
  split.new_comm = trace::kNoComm;
  const std::vector<Step> steps = {
      init(0),        split,        file(20, 50), done(Function::kTest, 50, 51, {}),
      begin("a", 60), file(60, 70), end("a", 80), finalize(100)};
  ImportNotes notes;
  CHECK(import_region("a", steps, &notes).second == 20);
  CHECK(notes.count(Note::kCommunicatorCreations) == 0);
  CHECK(notes.count(Note::kPolls) == 0);
  CHECK(notes.count(Note::kOutsideRegion) == 5);
  CHECK(notes.not_replayed.functions == std::vector<NotReplayed::Function>{{"MPI_File_write_at", 1, 4, 10}});
  CHECK(notes.not_replayed.all_calls == 1);
  CHECK(notes.not_replayed.all_bytes == 4);
  CHECK(notes.not_replayed.all_time_ns == 20);
}

TEST_CASE("a program is in the region of MPI_Pcontrol until it leaves it") {
  const std::vector<Step> steps = {init(100),         send(110, 120, 1),          end("MPI_Pcontrol", 130),
                                   send(140, 150, 2), begin("MPI_Pcontrol", 160), send(180, 190, 3),
                                   finalize(200)};
  const auto [text, elapsed] = import_region("MPI_Pcontrol", steps);
  CHECK(text.find("tag 1") != std::string::npos);
  CHECK(text.find("tag 2") == std::string::npos);
  CHECK(text.find("tag 3") != std::string::npos);
  CHECK(elapsed == 30 + 40);
}

}  // namespace weft::goal
