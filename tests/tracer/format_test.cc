// The trace format, byte by byte: files written out here by hand from the specification, and what becomes of
// damaged ones.
#include "tracer/format/format.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "sim/units/input_error.h"
#include "tests/tracer/trace_bytes.h"

namespace {

using namespace weft::trace::test;
using weft::InputError;
using weft::goal::TraceReader;
using weft::goal::TraceRecord;
using weft::trace::Function;

}  // namespace

TEST_CASE("numbers are LEB128 and zigzag, checksums Adler-32") {
  std::uint8_t buffer[weft::trace::kMaxVarintBytes];
  // The example of the DWARF standard (section 7.6): 624485 is E5 8E 26.
  CHECK(weft::trace::put_varint(buffer, 624485) == buffer + 3);
  CHECK(Bytes(buffer, buffer + 3) == Bytes{0xE5, 0x8E, 0x26});
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, UINT64_MAX}) {
    const std::uint8_t* end = weft::trace::put_varint(buffer, value);
    const std::uint8_t* at = buffer;
    std::uint64_t read = 1;
    REQUIRE(weft::trace::get_varint(at, end, read));
    CHECK(read == value);
    CHECK(at == end);
    at = buffer;
    CHECK_FALSE(weft::trace::get_varint(at, end - 1, read));
  }
  const Bytes too_long(10, 0xFF);
  const std::uint8_t* at = too_long.data();
  std::uint64_t read = 0;
  CHECK_FALSE(weft::trace::get_varint(at, at + 10, read));
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    CHECK(weft::trace::unzigzag(weft::trace::zigzag(value)) == value);
  }
  CHECK(weft::trace::zigzag(-1) == 1);
  CHECK(weft::trace::zigzag(1) == 2);
  const char* word = "Wikipedia";  // the well-known example: 11E60398
  CHECK(weft::trace::checksum(reinterpret_cast<const std::uint8_t*>(word), 9) == 0x11E60398u);
  // Longer than a block between remainders.
  const Bytes many(20000, 0xFF);
  Bytes stored(4);
  weft::trace::put_u32(stored.data(), weft::trace::checksum(many.data(), many.size()));
  CHECK(stored == checksum(many));
}

TEST_CASE("a file written by hand reads as specified") {
  Bytes file = header();
  append(file, chunk(payload({kStart, kIrecv})));
  // A new chunk says its base again: last leave 108 ns, thread 0, next request 2.
  append(file, chunk(payload({{108, 0, 2}, kWait, kEnd})));
  TraceReader reader(store(file));
  CHECK(reader.header().rank == 1);
  CHECK(reader.header().size == 2);
  CHECK(reader.header().mpi_library == "M");
  CHECK(reader.header().host == "h");
  CHECK(reader.header().program == "p");
  CHECK(reader.header().clock == "c");
  CHECK(reader.header().clock_ns == 100);
  CHECK(reader.header().epoch_ns == 200);

  TraceRecord r;
  REQUIRE(reader.next(r));
  CHECK(r.function == Function::kIrecv);
  CHECK(r.function_name() == "MPI_Irecv");
  CHECK(r.enter_ns == 105);
  CHECK(r.leave_ns == 108);
  CHECK(r.comm == 0);
  CHECK(r.peer == weft::trace::kAnySource);
  CHECK(r.tag == 7);
  CHECK(r.bytes() == 1200);
  CHECK(r.request == 1);
  REQUIRE(reader.next(r));
  CHECK(r.function == Function::kWait);
  CHECK(r.enter_ns == 109);
  CHECK(r.leave_ns == 111);
  CHECK(r.requests_given == 1);
  REQUIRE(r.completions.size() == 1);
  CHECK(r.completions[0].request == 1);
  CHECK(r.completions[0].message == weft::goal::TraceMessage{true, 0, 7, 12});
  CHECK_FALSE(reader.next(r));
  CHECK(reader.complete());
  CHECK(reader.end() == weft::trace::End::kFinalize);
  CHECK(reader.status() == "complete");
  REQUIRE(reader.communicators().size() == 1);
  CHECK(reader.communicators()[0].ranks == std::vector<int>{0, 1});
  CHECK(reader.communicators()[0].key == 9);
}

TEST_CASE("polls in vain, failures, threads and counters") {
  // Name 0 is a communication function, "MPI_Put"; 2 calls, 50 ns.
  const Bytes name = {122, 1, 7, 'M', 'P', 'I', '_', 'P', 'u', 't'}, counter = {123, 0, 2, 50};
  // MPI_Test, 1 ns after, 40 ns long: no flag, one request, 3 more like it, 30 ns inside.
  const Bytes polls = {36, 2, 40, 0, 1, 3, 30};
  // MPI_Send by thread 2 (entered 10 ns before the last call left), failed with error 6.
  const Bytes thread = {120, 2}, failed = {0x80 | 5, 19, 1, 12, 1, 0, 4, 1, 0};
  const Bytes put = {110, 2, 1, 0};
  Bytes file = header();
  // Region "ab" begins 1 ns before the last call left; ends 3 ns after it.
  const Bytes begin = {126, 1, 1, 2, 'a', 'b'}, end = {126, 0, 6, 2, 'a', 'b'};
  append(file, chunk(payload({kStart, polls, begin, thread, failed, end, name, put, counter})));
  TraceReader reader(store(file));
  TraceRecord r;
  REQUIRE(reader.next(r));
  CHECK_FALSE(r.flag);
  CHECK(r.polls == 4);
  CHECK(r.inside_ns == 30);
  CHECK(r.enter_ns == 101);
  CHECK(r.leave_ns == 141);
  REQUIRE(reader.next(r));
  const auto begun = reader.take_region_events();
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].name == "ab");
  CHECK(begun[0].begin);
  CHECK(begun[0].at_ns == 140);
  CHECK(r.thread == 2);
  CHECK(r.error == 6);
  CHECK(r.enter_ns == 131);
  CHECK(r.polls == 1);
  CHECK(r.inside_ns == 1);
  CHECK(r.tag == 2);
  REQUIRE(reader.next(r));
  CHECK(r.function_name() == "MPI_Put");
  const auto ended = reader.take_region_events();
  REQUIRE(ended.size() == 1);
  CHECK_FALSE(ended[0].begin);
  CHECK(ended[0].at_ns == 135);
  CHECK(reader.take_region_events().empty());
  CHECK_FALSE(reader.next(r));
  REQUIRE(reader.counters().size() == 1);
  CHECK(reader.counters()[0].calls == 2);
  CHECK(reader.counters()[0].ns == 50);
  CHECK(reader.counters()[0].call_class == weft::trace::CallClass::kCommunication);
  CHECK_FALSE(reader.complete());
  // Header 33, chunk header 16, and 12 + 7 + 6 + 2 + 9 + 6 + 10 + 4 + 4 bytes of records.
  CHECK(reader.status() == "truncated after 3 records: the file ends without an end mark, at byte 109");
}

TEST_CASE("facts, and times off a core, which belong to the call that follows") {
  // "cores" is "0-3", later "1"; before the Irecv 300 us waiting, inside it 2 us asleep; none for the Wait.
  const Bytes first = {118, 5, 'c', 'o', 'r', 'e', 's', 3, '0', '-', '3'};
  const Bytes second = {118, 5, 'c', 'o', 'r', 'e', 's', 1, '1'};
  const Bytes off = {127, 1 | 8, 0xAC, 2, 2};
  Bytes file = header();
  append(file, chunk(payload({kStart, first, off, kIrecv, second, kWait, kEnd})));
  TraceReader reader(store(file));
  TraceRecord record;
  REQUIRE(reader.next(record));
  CHECK(reader.facts().at("cores") == "0-3");
  CHECK(record.off_before == weft::trace::OffCore{300'000, 0});
  CHECK(record.off_inside == weft::trace::OffCore{0, 2'000});
  REQUIRE(reader.next(record));
  CHECK(record.off_before.sum() + record.off_inside.sum() == 0);
  CHECK_FALSE(reader.next(record));
  CHECK(reader.facts().at("cores") == "1");
  CHECK(reader.complete());

  Bytes cut = header();
  append(cut, chunk(payload({kStart, {127, 1}})));
  CHECK(error_of(cut).find("a number that is cut or too long") != std::string::npos);
}

TEST_CASE("a file cut anywhere reads up to its last whole chunk") {
  const Bytes head = header(), first = chunk(payload({kStart, kIrecv})),
              second = chunk(payload({{108, 0, 2}, kWait, kEnd}));
  const std::size_t two = head.size() + first.size();
  Bytes file = head;
  append(file, first);
  append(file, second);
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    INFO(bytes << " bytes");
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
    if (bytes < head.size()) {
      CHECK(error_of(cut) != "no error");
      continue;
    }
    TraceReader reader(store(cut));
    int records = 0;
    for (TraceRecord r; reader.next(r);) ++records;
    CHECK(records == (bytes < two ? 0 : 1));
    CHECK_FALSE(reader.complete());
    CHECK(reader.status().find(bytes < two ? "truncated after 0" : "truncated after 1") == 0);
  }
}

TEST_CASE("any flipped bit of a chunk is noticed") {
  Bytes file = header();
  const std::size_t begin = file.size();
  append(file, chunk(payload({kStart, kIrecv, kEnd})));
  for (std::size_t at = begin; at < file.size(); ++at) {
    // The last four bytes of a chunk's header are kept for later and not looked at.
    if (at >= begin + 12 && at < begin + 16) continue;
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = file;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1u << bit));
      TraceReader reader(store(damaged));
      TraceRecord r;
      CHECK_FALSE(reader.next(r));
      CHECK_FALSE(reader.complete());
    }
  }
}

TEST_CASE("what is no trace, or makes no sense, is an error that says where") {
  CHECK(error_of({'#', '!', '/', 'b', 'i', 'n', '/', 's', 'h', '\n'}) ==
        ": byte 0: not a trace file: expected it to begin with \"WEFTTRC\"");
  Bytes newer = header();
  newer[8] = 9;
  CHECK(error_of(newer) == ": byte 8: trace format version 9: this program reads versions 1 to 4");
  Bytes damaged = header();
  damaged[17] ^= 1;
  CHECK(error_of(damaged) == ": byte 16: the header is cut or damaged (its checksum does not hold)");
  // Its last byte would be the first behind the header.
  const Bytes payload_with_long_text = {1, 2, 3, 'M', 'p'};
  Bytes behind_the_end = {'W', 'E', 'F', 'T', 'T', 'R', 'C', '\n', 1, 0, 0, 0, 5, 0, 0, 0};
  append(behind_the_end, payload_with_long_text);
  append(behind_the_end, checksum(payload_with_long_text));
  CHECK(error_of(behind_the_end) == ": byte 19: length of a text 3: expected at most 2");
  const auto with = [](const Bytes& records) {
    Bytes file = header();
    append(file, chunk(payload({kStart, records})));
    return file;
  };
  // The header has 33 bytes, a chunk's 16, kStart 12: records begin at byte 61.
  CHECK(error_of(with({117})) == ": byte 61: record kind 117: no such kind in version 1");
  CHECK(error_of(with({32, 2, 2, 1, 1, 1, 5})).find("reference to a request 5: expected at most 0") !=
        std::string::npos);
  CHECK(error_of(with({5, 2, 2, 3})).find("communicator (counted from 1) 3: expected at most 1") !=
        std::string::npos);
  CHECK(error_of(with({5, 2})).find("a number that is cut or too long") != std::string::npos);
  CHECK(error_of(with({121, 0, 1, 0, 0, 0})).find("communicator 0 defined where 1 comes next") !=
        std::string::npos);
  CHECK(error_of(with({121, 1, 1, 0, 0, 1, 1, 10, 0})).find("a communicator with world rank 5") !=
        std::string::npos);
  CHECK(error_of(with({110, 0, 0, 3})).find("a call of function 3, which has no name") != std::string::npos);
  CHECK_THROWS_AS(TraceReader("/nonexistent/rank-000000.wtrc"), InputError);
}

namespace {

Bytes number(std::uint64_t value, int bytes) {
  Bytes all;
  for (int i = 0; i < bytes; ++i) all.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return all;
}

// A slot: entered at, handle, peer, tag, function, count.
Bytes slot(std::uint64_t enter, std::uint64_t handle, std::int32_t peer, std::int32_t tag,
           std::uint32_t function, std::uint32_t count) {
  Bytes all = number(enter, 8);
  append(all, number(handle, 8));
  append(all, number(static_cast<std::uint32_t>(peer), 4));
  append(all, number(static_cast<std::uint32_t>(tag), 4));
  append(all, number(function, 4));
  append(all, number(count, 4));
  return all;
}

// The live block: thread 0's slot, that of thread 1, six empty ones; then the polls.
Bytes live(const Bytes& first, const Bytes& second, const Bytes& polls) {
  Bytes all = first;
  append(all, second);
  all.resize(8 * 32);
  append(all, polls);
  all.resize(312);
  return all;
}

Bytes open_chunk(const Bytes& payload, std::size_t committed) {
  Bytes bytes = {'W', 'T', 'C', 'K'};
  append(bytes, number(committed, 4));
  append(bytes, {0, 0, 0, 0, 'O', 'P', 'E', 'N'});
  append(bytes, payload);
  return bytes;
}

// Communicator 0 has handle 77.
const Bytes kHandle = {125, 0, 77};
// 3 probes in vain of thread 0 from 120 to 150 ns, 9 of them inside; communicator 0, rank 0, tag 5.
Bytes three_polls() {
  Bytes all = number(3, 8);
  for (const std::uint64_t value : {120, 150, 9}) append(all, number(value, 8));
  for (const std::uint32_t value : {27u, 0u, 1u, 0u, 5u, 0u}) append(all, number(value, 4));
  return all;
}

}  // namespace

TEST_CASE("a file of version 2 without an end reads up to the last record that was committed") {
  const Bytes records = payload({kStart, kHandle, kIrecv, kWait});
  const std::size_t before_wait = records.size() - kWait.size();
  for (const std::size_t committed : {std::size_t{0}, before_wait, records.size()}) {
    INFO(committed);
    Bytes file = header_2();
    // Thread 0 is in MPI_Recv from rank 0 with tag 7 since 200 ns; thread 1's slot is of a call that it left.
    append(file, live(slot(200, 77, 0, 7, 9, 0), slot(0, 0, 0, 0, 9, 0), {}));
    append(file, open_chunk(records, committed));
    append(file, Bytes(1000, 0));  // room that was never used
    TraceReader reader(store(file));
    CHECK(reader.header().process == 42);
    std::vector<Function> functions;
    for (TraceRecord r; reader.next(r);) functions.push_back(r.function);
    CHECK_FALSE(reader.complete());
    CHECK(reader.used_bytes() == 40 + 312 + 16 + committed);
    CHECK(functions.size() == (committed == 0 ? 0 : committed == before_wait ? 1 : 2));
    const auto now = reader.now_in();
    REQUIRE(now.size() == 1);
    CHECK(now[0].function == Function::kRecv);
    CHECK(now[0].name == "MPI_Recv");
    CHECK(now[0].enter_ns == 200);
    CHECK(now[0].tag == 7);
    CHECK(now[0].comm == (committed == 0 ? weft::trace::kNoComm : 0));
    CHECK(now[0].peer == (committed == 0 ? weft::trace::kUndefined : 0));
  }
}

TEST_CASE("version 3 leaves out of a message what its receive says") {
  const auto with = [](std::initializer_list<Bytes> records) {
    Bytes file = header_2();
    file[8] = 3;
    file.resize(352);  // a live block of nothing
    Bytes all = kStart;
    for (const Bytes& record : records) append(all, record);
    append(file, chunk(all));
    return file;
  };
  // From rank 0 with tag 7, up to 300 elements of 4 bytes.
  const Bytes irecv = {14, 10, 3, 1, 0, 14, 0xAC, 2, 4};
  const Bytes wait = {32, 2, 2, 2, 1, 1 | 8, 12};            // the one request: 12 bytes as posted
  const Bytes waitall = {33, 2, 2, 3, 1, 1, 1 | 8 | 16};     // all there is: as posted, bytes too
  const Bytes recv = {9, 2, 2, 1, 0, 14, 3, 4, 1 | 8 | 16};  // 3 elements of 4 bytes
  // To rank 0 with tag 7; from rank 1 with tag 8, 5 elements of 4 bytes of which 2 came.
  const Bytes sendrecv = {24, 2, 2, 1, 0, 14, 1, 4, 2, 16, 5, 4, 1 | 8, 8};
  TraceReader reader(store(with({irecv, wait, irecv, waitall, {113, 7}, recv, sendrecv, kEnd})));
  std::vector<TraceRecord> all;
  for (TraceRecord r; reader.next(r);) all.push_back(r);
  using weft::goal::TraceMessage;
  REQUIRE(all.size() == 6);
  CHECK(all[1].requests_given == 1);
  REQUIRE(all[1].completions.size() == 1);
  CHECK(all[1].completions[0].request == 1);
  CHECK(all[1].completions[0].message == TraceMessage{true, 0, 7, 12});
  REQUIRE(all[3].completions.size() == 1);
  CHECK(all[3].completions[0].message == TraceMessage{true, 0, 7, 1200});
  CHECK(all[4].off_inside == weft::trace::OffCore{7000, 0});
  CHECK(all[4].received == TraceMessage{true, 0, 7, 12});
  CHECK(all[5].received == TraceMessage{true, 1, 8, 8});
  CHECK(reader.complete());

  using Catch::Matchers::Contains;
  const char* unknown = "a message as its receive was posted, which is not known";
  CHECK_THAT(error_of(with({kIrecv, wait})), Contains(unknown));  // of any source
  CHECK_THAT(error_of(with({irecv, wait, wait})), Contains(unknown));
  CHECK_THAT(error_of(with({irecv, {33, 2, 2, 3, 9, 1}})),
             Contains("9 completed requests in a record that is cut"));
}

TEST_CASE("the live block tells nothing that the records tell") {
  // Both kinds of chunk: the finished one's 32 bytes end at a multiple of 8, the open one's do not.
  Bytes file = header_2();
  append(file, live(slot(109, 77, 0, 7, 32, 1), {}, three_polls()));
  const Bytes first = chunk(payload({kStart, kHandle, kIrecv}));
  append(file, first);
  file.resize((file.size() + 7) / 8 * 8);
  append(file, open_chunk(payload({{108, 0, 2}, kWait}), 3 + kWait.size()));
  TraceReader reader(store(file));
  TraceRecord r;
  REQUIRE(reader.next(r));
  REQUIRE(reader.next(r));
  CHECK(r.function == Function::kWait);
  CHECK(r.enter_ns == 109);
  REQUIRE(reader.next(r));  // the polls that had no record yet
  CHECK(r.function == Function::kIprobe);
  CHECK(r.polls == 3);
  CHECK(r.enter_ns == 120);
  CHECK(r.leave_ns == 150);
  CHECK(r.inside_ns == 9);
  CHECK(r.comm == 0);
  CHECK(r.peer == 0);
  CHECK(r.tag == 5);
  CHECK_FALSE(reader.next(r));
  CHECK(reader.records() == 3);
  CHECK(reader.now_in().empty());  // the Wait entered at 109 ns has its record

  // With an end, it tells nothing at all.
  Bytes whole = header_2();
  append(whole, live(slot(200, 77, 0, 7, 9, 0), {}, three_polls()));
  append(whole, chunk(payload({kStart, kIrecv, kEnd})));
  TraceReader ended(store(whole));
  while (ended.next(r)) {
  }
  CHECK(ended.records() == 1);
  CHECK(ended.complete());
  CHECK(ended.now_in().empty());
}

TEST_CASE("damage in a chunk that was being written ends the file, and is no error") {
  Bytes file = header_2();
  append(file, live({}, {}, {}));
  const std::size_t begin = file.size();
  const Bytes records = payload({kStart, kHandle, kIrecv, kWait});
  append(file, open_chunk(records, records.size()));
  for (std::size_t at = begin; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = file;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1u << bit));
      TraceReader reader(store(damaged));
      int n = 0;
      for (TraceRecord r; reader.next(r);) ++n;
      CHECK(n <= 4);
      CHECK_FALSE(reader.status() == "complete");
      for (const auto& now : reader.now_in()) CHECK_FALSE(now.name.empty());
    }
  }
  for (std::size_t bytes = 0; bytes < begin; ++bytes) {
    CHECK(error_of(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes))) != "no error");
  }
}
