// The tracer's writer alone: what is put into a file, and how much room it takes.
#include "tracer/mpi/writer.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"

namespace {

namespace fs = std::filesystem;
using weft::goal::TraceReader;
using weft::goal::TraceRecord;
using weft::trace::End;
using weft::trace::Function;
using weft::trace::Meta;
using weft::trace::Writer;

// The call of an MPI_Send.
struct Sent {
  std::uint64_t enter_ns, leave_ns;
  std::int32_t tag;
  std::uint64_t bytes;
  int error;
  bool operator==(const Sent&) const = default;
};

// A file in a folder of its own, with MPI_COMM_WORLD of one rank.
class File {
 public:
  explicit File(const std::string& name) {
    const char* root = std::getenv("TEST_TMPDIR");
    directory_ = fs::path(root != nullptr ? root : "/tmp") / ("writer_test_" + name);
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    REQUIRE(writer_.open(directory_.c_str(), 0));
    REQUIRE(writer_.reserve(256));
    for (const std::uint64_t number : {0, 1, 0, 0, 0, 0, 0, 0, 1}) writer_.number(number);
    REQUIRE(writer_.write_header());
    begin_chunk();
    writer_.byte(static_cast<std::uint8_t>(Meta::kCommunicator));
    for (const std::uint64_t number : {0, 9, 0, 0, 1, 1, 0, 0}) writer_.number(number);
    writer_.commit();
  }
  ~File() {
    if (!finished_) writer_.finish(End::kExit);
  }

  void put(const Sent& sent) {
    REQUIRE(writer_.reserve(256));
    const auto gap_ns = static_cast<std::int64_t>(sent.enter_ns - last_leave_ns_);
    writer_.begin_call(Function::kSend, gap_ns, sent.leave_ns - sent.enter_ns, sent.error);
    last_leave_ns_ = sent.leave_ns;
    writer_.number(1);
    writer_.signed_number(0);
    writer_.signed_number(sent.tag);
    writer_.number(sent.bytes);
    writer_.number(1);
    writer_.commit();
    if (!writer_.full()) return;
    REQUIRE(writer_.next_chunk());
    ++chunks_;
    begin_chunk();
  }
  void finish() {
    writer_.finish(End::kExit);
    finished_ = true;
  }
  int chunks() const { return chunks_; }
  std::string path() const { return (directory_ / "rank-000000.wtrc").string(); }

 private:
  void begin_chunk() {
    REQUIRE(writer_.reserve(256));
    for (const std::uint64_t number : {last_leave_ns_, std::uint64_t{0}, std::uint64_t{1}})
      writer_.number(number);
    writer_.commit();
  }

  Writer writer_;
  fs::path directory_;
  std::uint64_t last_leave_ns_ = 0;
  int chunks_ = 1;
  bool finished_ = false;
};

std::vector<Sent> read(const std::string& path) {
  TraceReader reader(path);
  std::vector<Sent> all;
  for (TraceRecord r; reader.next(r);) {
    CHECK(r.function == Function::kSend);
    all.push_back({r.enter_ns, r.leave_ns, r.tag, r.count, r.error});
  }
  return all;
}

}  // namespace

TEST_CASE("calls of a few kinds come back as they were put, over several chunks, with and without an end") {
  File file("kinds");
  std::vector<Sent> put;
  std::mt19937 random(1);
  std::uint64_t now = 5;
  while (file.chunks() < 3) {
    // 300 kinds in 128 slots, some more frequent than others; some calls fail, some overlap the one before.
    const std::uint32_t kind = random() % 300 * (random() % 300) / 300;
    const std::uint64_t enter = random() % 16 == 0 ? now - 3 : now + random() % 100'000;
    now = enter + 5 + random() % 1000;
    put.push_back({enter, now, static_cast<std::int32_t>(kind % 20), std::uint64_t{1} << kind / 20,
                   random() % 50 == 0 ? 6 : 0});
    file.put(put.back());
  }
  CHECK(read(file.path()) == put);  // as the file of a process that was killed now
  file.finish();
  CHECK(read(file.path()) == put);
}

TEST_CASE("a call like an earlier one takes a byte and its times") {
  const auto bytes_of = [](int calls) {
    File file("like" + std::to_string(calls));
    std::uint64_t now = 0;
    for (int i = 0; i < calls; ++i, now += 200) {
      // Two kinds in turn: tags 3 and 4, 1000 bytes. 100 ns after the one before, and 100 ns long.
      file.put({now + 100, now + 200, 3 + i % 2, 1000, 0});
    }
    file.finish();
    return fs::file_size(file.path());
  };
  // One byte, times of one each, and the fields: communicator, rank, tag, 1000 in two bytes, 1.
  CHECK(bytes_of(2) - bytes_of(1) == 3 + 6);
  CHECK(bytes_of(1002) - bytes_of(2) == 3 * 1000);
}
