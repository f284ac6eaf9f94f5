#include "goal/import/mpi/importer.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "goal/import/mpi/host_clocks.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/trace_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

// A fresh directory, gone at the end of the test.
class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "weft_import_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TraceFile sender() { return TraceFile(0, 2).init(100).send(150, 160, 1, 5, 64).finalize(200); }
TraceFile receiver() { return TraceFile(1, 2).init(10).recv(10, 90, 0, 5, 64).finalize(97); }

std::string message_of(const fs::path& directory, const MpiImportOptions& options = {}) {
  try {
    import_mpi(directory, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

const Anomaly* find(const PackInfo& info, const std::string& name) {
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == name) return &anomaly;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the traces of all ranks become one graph, with what is known of the run") {
  const Directory directory;
  sender().end(trace::End::kFinalize).write(directory.path());
  receiver()
      .counter("MPI_Put", trace::CallClass::kCommunication, 3, 700)
      .counter("MPI_Wtime", trace::CallClass::kLocal, 9, 0)
      .end(trace::End::kFinalize)
      .write(directory.path());
  PackInfo info;
  const Graph graph = import_mpi(directory.path(), {}, &info);
  CHECK(graph ==
        parse_text("num_ranks 2\n"
                   "rank 0 {\na: calc 50\nb: send 64b to 1 tag 5\nb requires a\nc: calc 40\nc requires b\n}\n"
                   "rank 1 {\na: recv 64b from 0 tag 5\nb: calc 7\nb requires a\n}\n",
                   "expected"));
  CHECK(info.metadata.at("application") == "app");
  CHECK(info.metadata.at("hosts") == "1");
  CHECK(info.metadata.at("traced_elapsed_ns") == "100");
  REQUIRE(find(info, "not_replayed_mpi_put") != nullptr);
  CHECK(find(info, "not_replayed_mpi_put")->count == 3);
  CHECK(find(info, "not_replayed_mpi_put")->severity == Severity::kWarning);
  CHECK(find(info, "local_calls")->count == 9);
  CHECK(find(info, "local_calls")->severity == Severity::kInfo);
  CHECK(find(info, "failed_calls") == nullptr);
  // A send, a receive and three calls that the tracer only counted; 100 ns on rank 0, 87 on rank 1.
  CHECK(info.not_replayed.functions == std::vector<NotReplayed::Function>{{"MPI_Put", 3, 0, 700}});
  CHECK(info.not_replayed.all_calls == 5);
  CHECK(info.not_replayed.all_bytes == 64);
  CHECK(info.not_replayed.all_time_ns == 187);
}

TEST_CASE("traces that are not those of one whole run are refused") {
  const Directory directory;
  CHECK(message_of(directory.path() / "none").find("not a directory") != std::string::npos);
  CHECK(message_of(directory.path()).find("no MPI traces here") != std::string::npos);
  receiver().end(trace::End::kFinalize).write(directory.path());
  CHECK(message_of(directory.path()).find("the trace of rank 0 is missing (1 of 2 ranks have one)") !=
        std::string::npos);
  sender().end(trace::End::kFinalize).write(directory.path());
  CHECK(message_of(directory.path()) == "no error");
  sender().end(trace::End::kFinalize).write(directory.path(), 0, "rank-000000.2.wtrc");
  CHECK(message_of(directory.path()).find("there already") != std::string::npos);
  fs::remove(directory.path() / "rank-000000.2.wtrc");
  TraceFile(2, 3).end(trace::End::kFinalize).write(directory.path());
  CHECK(message_of(directory.path()).find("from a run of 3 ranks") != std::string::npos);
}

TEST_CASE("ranks that may be of another run are told of; those of another MPI library are refused") {
  const Directory directory;
  sender().end(trace::End::kFinalize).write(directory.path());
  const auto strange = [&](const char* program, std::uint64_t epoch_ns) {
    TraceFile(1, 2, "Open MPI v4.1.4, package: test", program, epoch_ns)
        .init(10)
        .recv(10, 90, 0, 5, 64)
        .finalize(97)
        .end(trace::End::kFinalize)
        .write(directory.path());
    PackInfo info;
    import_mpi(directory.path(), {}, &info);
    return find(info, "strange_ranks") == nullptr ? 0 : find(info, "strange_ranks")->count;
  };
  CHECK(strange("app", 60'000'000'000) == 0);
  CHECK(strange("app", 60'000'000'001) == 1);
  CHECK(strange("other", 0) == 1);
  TraceFile(1, 2, "MPICH Version: 4.0.2").end(trace::End::kFinalize).write(directory.path());
  CHECK(message_of(directory.path()).find("but rank 0 under 'Open MPI") != std::string::npos);
}

TEST_CASE("a trace that was cut is refused, or taken up to its end") {
  const Directory directory;
  sender().end(trace::End::kFinalize).write(directory.path());
  // The second chunk of rank 1 misses its last byte.
  receiver().flush().send(97, 98, 0, 6, 8).end(trace::End::kFinalize).write(directory.path(), 1);
  const std::string message = message_of(directory.path());
  CHECK(message.find("rank-000001.wtrc: the trace of rank 1 is truncated after 3 records") !=
        std::string::npos);
  CHECK(message.find("--partial") != std::string::npos);
  PackInfo info;
  const Graph graph = import_mpi(directory.path(), {.partial = true}, &info);
  CHECK(graph.rank(0).ops() == 3);
  CHECK(graph.rank(1).ops() == 2);
  CHECK(find(info, "truncated_ranks")->count == 1);
  CHECK(find(info, "sends_without_partner") == nullptr);
}

TEST_CASE("messages whose other side was cut off are left out and counted") {
  const Directory directory;
  sender().end(trace::End::kFinalize).write(directory.path());
  TraceFile(1, 2)
      .init(10)
      .flush()
      .recv(10, 90, 0, 5, 64)
      .end(trace::End::kFinalize)
      .write(directory.path(), 1);
  PackInfo info;
  const Graph graph = import_mpi(directory.path(), {.partial = true}, &info);
  CHECK(graph == parse_text("num_ranks 2\nrank 0 {\na: calc 50\nb: calc 0\nb requires a\n"
                            "c: calc 40\nc requires b\n}\nrank 1 {\n}\n",
                            "expected"));
  CHECK(find(info, "sends_without_partner")->count == 1);
  CHECK(find(info, "receives_without_partner") == nullptr);
}

TEST_CASE("a rank that ended without Finalize is told of") {
  const Directory directory;
  sender().end(trace::End::kFinalize).write(directory.path());
  receiver().end(trace::End::kAbort).write(directory.path());
  PackInfo info;
  import_mpi(directory.path(), {}, &info);
  CHECK(find(info, "ranks_without_finalize")->count == 1);
}

TEST_CASE("what a rank computed until it ended the process is compute") {
  const Directory directory;
  TraceFile(0, 1)
      .init(1000)
      .send(2000, 3000, 0, 5, 0)
      .recv(3000, 3000, 0, 5, 0)
      .off_core(20, 0, 0)
      .thread_end(0, 103'000)
      .end(trace::End::kExit)
      .write(directory.path());
  PackInfo info;
  const Graph graph = import_mpi(directory.path(), {}, &info);
  const RankView rank = graph.rank(0);
  REQUIRE(rank.ops() == 4);  // 1 us, the two messages, and 100 us less 20 without a core
  CHECK(rank.kind(3) == OpKind::kCalc);
  CHECK(rank.value(3) == 80'000);
  CHECK(info.metadata.at("traced_elapsed_ns") == "102000");
  CHECK(info.metadata.at("traced_part") == "from MPI_Init on");
}

TEST_CASE("a call that was under way when a thread ended did not wait for it") {
  const auto graph_of = [](std::uint64_t thread_end_ns, bool take_turns) {
    const Directory directory;
    TraceFile file(0, 1);
    if (take_turns) file.fact("threads_take_turns", "1");
    file.init(1000).thread(1).send(2000, 3000, 0, 5, 8).thread_end(1, thread_end_ns);
    file.thread(0)
        .send(104'000, 109'000, 0, 6, 8)
        .recv(109'000, 109'000, 0, 5, 8)
        .recv(109'000, 109'000, 0, 6, 8);
    file.end(trace::End::kExit).write(directory.path());
    return import_mpi(directory.path());
  };
  const auto expected = [](const char* compute, const char* first, const char* second) {
    return parse_text(fmt::format("num_ranks 1\nrank 0 {{\na: calc 1000 cpu 1\nb: send 8b to 0 tag 5 cpu 1\n"
                                  "b requires a\nc: calc {}\nd: send 8b to 0 tag 6\nd requires c\n{}"
                                  "e: recv 8b from 0 tag 5\ne requires d\n{}"
                                  "f: recv 8b from 0 tag 6\nf requires e\n}}\n",
                                  compute, first, second),
                      "expected");
  };
  // 103 us, less 50 for beginning and ending the thread.
  CHECK(graph_of(50'000, false) == expected("53000", "d requires b\n", ""));
  CHECK(graph_of(105'000, false) == expected("103000", "", "e requires b\n"));
  // It can't have begun before the other thread's send was left, though.
  CHECK(graph_of(105'000, true) == expected("103000", "d requires b\n", "e requires b\n"));
}

TEST_CASE("a call that cannot be names the file and the call") {
  const Directory directory;
  sender().end(trace::End::kFinalize).write(directory.path());
  TraceFile(1, 2).init(10).send(20, 30, 2, 5, 64).end(trace::End::kFinalize).write(directory.path());
  const std::string message = message_of(directory.path());
  CHECK(message.find("rank-000001.wtrc: call 2, MPI_Send: a message has peer 2") != std::string::npos);
}

TEST_CASE("clocks of hosts are brought onto rank 0's") {
  const Directory directory;
  const char* const library = "Open MPI v4.1.4, package: test";
  const auto on = [&](std::uint32_t rank, const char* host) {
    return TraceFile(rank, 3, library, "app", 0, host);
  };
  // Host b's clock shows 5000 more at its 6000 and 5100 more at its 106,100: rank 0's then shows 1000 and
  // 101,000. Its ranks 1 and 2 share what rank 1 measured.
  const auto write = [&](const char* begin) {
    on(0, "a")
        .fact("clock_begin", "0 0 900")
        .init(1000)
        .finalize(91'000)
        .fact("clock_end", "0 0 91000")
        .end(trace::End::kFinalize)
        .write(directory.path());
    on(1, "b")
        .fact("clock_begin", begin)
        .init(6000)
        .finalize(106'100)
        .fact("clock_end", "-5100 60 106100")
        .end(trace::End::kFinalize)
        .write(directory.path());
    // 56,050 is 51,000 on rank 0's clock: half of the way.
    on(2, "b").init(5900).finalize(56'050).end(trace::End::kFinalize).write(directory.path());
  };
  write("-5000 40 6000");
  PackInfo info;
  import_mpi(directory.path(), {}, &info);
  CHECK(info.metadata.at("clocks_apart_ns") == "5100");
  CHECK(info.metadata.at("clock_uncertainty_ns") == "30");
  CHECK(info.metadata.at("traced_elapsed_ns") == "100100");
  // From rank 2's 5900, which is 900 (and the drift over 100 ns, 0.1), to rank 1's 101,000.
  CHECK(info.metadata.at("traced_span_ns") == "100100");
  CHECK(find(info, "unknown_clocks") == nullptr);

  for (const char* wrong :
       {"-5000 40", "-5000 40 6000 1", "x", "-5000 -40 6000", "-9000000000000000000 1 1"}) {
    write(wrong);
    CHECK_THAT(message_of(directory.path()), Catch::Matchers::Contains("rank-000001.wtrc") &&
                                                 Catch::Matchers::Contains("expected an offset"));
  }

  on(1, "b").init(6000).finalize(106'100).end(trace::End::kFinalize).write(directory.path());
  PackInfo unknown;
  import_mpi(directory.path(), {}, &unknown);
  CHECK(unknown.metadata.count("traced_span_ns") == 0);
  REQUIRE(find(unknown, "unknown_clocks") != nullptr);
  CHECK(find(unknown, "unknown_clocks")->count == 2);
}

TEST_CASE("between readings the offset changes in a line, before and behind it stays") {
  HostClocks clocks;
  clocks.add("f", "a", {{"clock_begin", "0 0 5"}});
  clocks.add("f", "b", {{"clock_begin", "-700 8 1000"}});
  CHECK(clocks.comparable());
  CHECK(clocks.reference_ns("b", 1000) == 300);
  CHECK(clocks.reference_ns("b", 2'000'001'000) == 2'000'000'300);
  CHECK(clocks.hosts().at("b").drift() == 0);
  clocks.add("f", "d", {{"clock_begin", "-100 40 1000"}, {"clock_end", "-200 60 2000"}});
  CHECK(clocks.hosts().at("d").drift() == -0.1);
  CHECK(clocks.hosts().at("d").drift_uncertainty() == 0.05);
  CHECK(clocks.reference_ns("d", 1500) == 1350);
  CHECK(clocks.reference_ns("d", 500) == 400);
  CHECK(clocks.reference_ns("d", 9000) == 8800);
  clocks.add("f", "c", {});
  CHECK_FALSE(clocks.comparable());
}

}  // namespace weft::goal
