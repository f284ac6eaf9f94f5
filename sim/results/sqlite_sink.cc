#include "sim/results/sqlite_sink.h"

#include <memory>
#include <string>
#include <utility>

#include "sim/results/sqlite_results.h"
#include "sim/units/part_file.h"

namespace weft::results {
namespace {

using sim::SinkRequest;

constexpr const char* kFile = "results.sqlite";

class SqliteSink final : public ReportSink {
 public:
  SqliteSink(std::string path, unsigned threads) : path_(std::move(path)), threads_(threads) {}

  // Samples may have been put in the part of a run that failed before it was written.
  ~SqliteSink() override {
    if (!written_) remove_part(path_);
  }
  SqliteSink(const SqliteSink&) = delete;
  SqliteSink& operator=(const SqliteSink&) = delete;

  void write(const Report& report) override {
    write_sqlite(report, threads_, path_);
    written_ = true;
  }

 private:
  const std::string path_;
  const unsigned threads_;
  bool written_ = false;
};

class SampleRecorder final : public sim::Recorder {
 public:
  explicit SampleRecorder(const SinkRequest& request) {
    const Time interval = request.output().sample_interval;
    if (interval > Time()) samples_ = make_sqlite_samples(request.path(kFile), interval);
  }

  SeriesSink* samples() override { return samples_.get(); }
  void close() override {
    if (samples_) samples_->close();
  }

 private:
  std::unique_ptr<SeriesSink> samples_;
};

}  // namespace

sim::Sink sqlite_sink() {
  return {
      .info = {.name = "sqlite",
               .summary = "All tables in one SQLite file, with what is known of the run and its input.",
               .source = "sim/results/README.md",
               .parameters = {}},
      .when = "with a folder (-o), unless output.sqlite is false",
      .files = {{kFile, ""}},
      .acts = [](const SinkRequest& request) { return request.output().sqlite; },
      .make =
          [](const SinkRequest& request) {
            return std::make_unique<SqliteSink>(request.path(kFile),
                                                static_cast<unsigned>(request.scenario.threads));
          },
      .make_recorder = [](const SinkRequest& request) { return std::make_unique<SampleRecorder>(request); }};
}

}  // namespace weft::results
