// Records that leave out their fields as earlier ones have the same: files written by hand, and how they
// read.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "sim/units/input_error.h"
#include "tests/tracer/trace_bytes.h"
#include "tracer/format/format.h"

namespace {

using namespace weft::trace::test;
using weft::InputError;
using weft::goal::TraceReader;
using weft::goal::TraceRecord;
using weft::trace::Function;

// A file of version 4 whose chunks have these records.
Bytes version_4(std::initializer_list<Bytes> chunks) {
  Bytes file = header_2();
  file[8] = 4;
  file.resize(352);  // a live block of nothing
  for (const Bytes& records : chunks) {
    append(file, chunk(payload({{100, 0, 1}, records})));
    file.resize((file.size() + 7) / 8 * 8);
  }
  return file;
}

// The first byte of a record with the fields of an earlier one, as RECORDS.md has it: 128 and the slot, which
// is the upper seven bits of a hash over the first byte and the fields' words of eight bytes.
std::uint8_t again(std::uint8_t first, const Bytes& fields) {
  std::uint64_t hash = first;
  for (std::size_t at = 0; at < fields.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8 && at + i < fields.size(); ++i)
      word += std::uint64_t{fields[at + i]} << (8 * i);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  }
  return static_cast<std::uint8_t>(128 + hash / (std::uint64_t{1} << 57));
}

const Bytes kWorld = {121, 0, 9, 0, 0, 2, 2, 0, 2};

}  // namespace

TEST_CASE("version 4 leaves out fields that an earlier record of the chunk has") {
  const Bytes irecv_fields = {1,    0, 14,
                              0xAC, 2, 4};  // communicator 0, rank 0, tag 7, 300 elements of 4 bytes
  const Bytes test_fields = {0, 1};         // in vain, one request given
  const Bytes sendrecv_fields = {99, 1, 0, 14, 1, 4, 2, 16, 5, 4};  // MPI_Isendrecv, number 227
  const std::uint8_t irecv = again(14, irecv_fields), test = again(36, test_fields),
                     isendrecv = again(112, sendrecv_fields);
  const Bytes records = payload({kWorld,
                                 {14, 5, 3},
                                 irecv_fields,        // 105 to 108 ns
                                 {irecv, 200, 1, 4},  // 308 to 312, another request
                                 {36, 8, 100},
                                 test_fields,
                                 {3, 40},                   // 320 to 420: 4 polls, 60 ns inside
                                 {test, 10, 50, 0},         // 430 to 480: one
                                 {116, 12, test, 0, 5, 0},  // the same, failed with error 6
                                 {112, 5, 10},
                                 sendrecv_fields,                // 490 to 500
                                 {111, 20, isendrecv, 0, 30}});  // 480 to 510: another thread's
  TraceReader reader(store(version_4({records})));
  std::vector<TraceRecord> all;
  for (TraceRecord r; reader.next(r);) all.push_back(r);
  REQUIRE(all.size() == 7);
  const std::uint64_t times[7][2] = {{105, 108}, {308, 312}, {320, 420}, {430, 480},
                                     {480, 485}, {490, 500}, {480, 510}};
  for (int i = 0; i < 7; ++i) {
    INFO(i);
    CHECK(all[i].enter_ns == times[i][0]);
    CHECK(all[i].leave_ns == times[i][1]);
    CHECK(all[i].error == (i == 4 ? 6 : 0));
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(all[i].function == Function::kIrecv);
    CHECK(all[i].request == static_cast<std::uint64_t>(i) + 1);
    CHECK(all[i].tag == 7);
    CHECK(all[i].bytes() == 1200);
  }
  for (int i = 2; i < 5; ++i) {
    CHECK(all[i].function == Function::kTest);
    CHECK_FALSE(all[i].flag);
    CHECK(all[i].requests_given == 1);
    CHECK(all[i].polls == (i == 2 ? 4 : 1));
  }
  CHECK(all[2].inside_ns == 60);
  CHECK(all[3].inside_ns == 50);
  for (int i = 5; i < 7; ++i) {
    CHECK(all[i].function == Function::kIsendrecv);
    CHECK(all[i].request == static_cast<std::uint64_t>(i) - 2);
    CHECK(all[i].recv_posted_bytes() == 20);
  }

  // What a chunk keeps is no other chunk's: each stands for itself.
  const std::string place = std::to_string(irecv - 128);
  CHECK_THAT(error_of(version_4({records, {irecv, 5, 3}})),
             Catch::Matchers::Contains("fields of slot " + place + ", where none are"));
  // Others come into the place of those that were kept.
  Bytes taken = irecv_fields;
  for (std::uint8_t tag = 8; tag < 64 && again(14, taken) != irecv; ++tag) {
    taken[2] = static_cast<std::uint8_t>(2 * tag);
    for (taken[3] = 0x80; taken[3] < 0xFF && again(14, taken) != irecv;) ++taken[3];
  }
  REQUIRE(again(14, taken) == irecv);
  TraceReader other(store(version_4({payload({records, {14, 1, 1}, taken, {irecv, 1, 1}})})));
  TraceRecord last;
  for (TraceRecord r; other.next(r);) last = r;
  CHECK(last.tag == taken[2] / 2);
  CHECK(last.count == 0x100u + taken[3] - 0x80);
}

TEST_CASE("version 4 keeps no fields of more than 1024 bytes") {
  // MPI_Alltoallv with the bytes to each of so many ranks, all of one byte.
  for (const std::size_t ranks : {std::size_t{1018}, std::size_t{1019}}) {
    Bytes fields = {1, 8, 0, 1, static_cast<std::uint8_t>(ranks % 128 + 128), 7};
    fields.resize(6 + ranks, 5);
    TraceReader reader(store([&] {
      Bytes file = header_2();
      file[8] = 4;
      file.resize(352);
      Bytes all = chunk(payload({{100, 0, 1}, kWorld, {49, 0, 1}, fields, {again(49, fields), 0, 1}}));
      const std::size_t bytes = all.size() - 16;
      all[4] = static_cast<std::uint8_t>(bytes);
      all[5] = static_cast<std::uint8_t>(bytes >> 8);
      append(file, all);
      return file;
    }()));
    TraceRecord r;
    REQUIRE(reader.next(r));
    CHECK(r.send_bytes.size() == ranks);
    if (ranks == 1018) {
      REQUIRE(reader.next(r));
      CHECK(r.send_bytes == std::vector<std::uint64_t>(ranks, 5));
    } else {
      CHECK_THROWS_AS(reader.next(r), InputError);
    }
  }
}
