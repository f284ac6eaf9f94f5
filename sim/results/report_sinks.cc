#include "sim/results/report_sinks.h"

#include <cstdio>
#include <string>
#include <utility>

#include "sim/results/output_file.h"
#include "sim/results/report_tables.h"
#include "sim/results/sqlite_sink.h"
#include "sim/units/printable.h"
#include "sim/units/wrap.h"

namespace weft::results {
namespace {

using sim::Sink;
using sim::SinkRequest;
using Write = void (*)(const Report& report, OutputFile& file);

// Writes one file at the end of the run.
class FileSink final : public ReportSink {
 public:
  FileSink(std::string path, Write write) : path_(std::move(path)), write_(write) {}

  void write(const Report& report) override {
    OutputFile file(path_);
    write_(report, file);
    file.close();
  }

 private:
  const std::string path_;
  const Write write_;
};

// Writes one table at the end of the run.
class TableSink final : public ReportSink {
 public:
  TableSink(std::string path, const Table& table) : path_(std::move(path)), table_(table) {}

  void write(const Report& report) override {
    OutputFile file(path_);
    file.print("{}\n", table_.columns);
    Row row;
    const std::size_t rows = table_.rows(report);
    for (std::size_t i = 0; i < rows; ++i) {
      row.clear();
      table_.fill(report, i, row);
      file.write(row);
    }
    file.close();
  }

 private:
  const std::string path_;
  const Table& table_;
};

class TerminalSink final : public ReportSink {
 public:
  TerminalSink(std::FILE* terminal, std::string directory)
      : terminal_(terminal), directory_(std::move(directory)) {}

  void write(const Report& report) override {
    const std::string text = printable_text(text_summary(report, directory_));
    std::fputs(wrap(text, terminal_columns(fileno(terminal_))).c_str(), terminal_);
  }

 private:
  std::FILE* const terminal_;
  const std::string directory_;
};

class SeriesRecorder final : public sim::Recorder {
 public:
  explicit SeriesRecorder(const std::string& directory) : files_(make_series_files(directory)) {}

  SeriesSink* samples() override { return files_.get(); }
  void close() override { files_->close(); }

 private:
  const std::unique_ptr<SeriesSink> files_;
};

constexpr const char* kSource = "sim/results/README.md";

// In every run that has a folder, as long as nothing else is said.
Sink file_sink(const char* name, const char* summary, const sim::SinkFile& file, Write write) {
  return {.info = {.name = name, .summary = summary, .source = kSource, .parameters = {}},
          .when = "in every run with a folder (-o)",
          .files = {file},
          .make = [=](const SinkRequest& request) {
            return std::make_unique<FileSink>(request.path(file.name), write);
          }};
}

Sink table_sink(const Table& table) {
  const std::string file = std::string(table.name) + ".csv";
  Sink sink = {.info = {.name = std::string(table.name) + "_csv",
                        .summary = table.summary,
                        .source = kSource,
                        .parameters = {}},
               .when = "in every run with a folder (-o)",
               .files = {{file, table.columns}},
               .make = [file, &table](const SinkRequest& request) {
                 return std::make_unique<TableSink>(request.path(file), table);
               }};
  if (std::string_view(table.name) == "flows") {
    sink.when = "with a folder (-o), unless --no-flows is given; without rows beyond 10 million messages";
    sink.acts = [](const SinkRequest& request) { return request.output().flows; };
  } else if (std::string_view(table.name) == "interference") {
    sink.when = "with --interference and a folder (-o)";
    sink.acts = [](const SinkRequest& request) { return request.output().interference; };
  } else if (std::string_view(table.name) == "job_links") {
    sink.when = "with several jobs on a network of packets, and a folder (-o)";
    sink.acts = [](const SinkRequest& request) {
      return request.scenario.jobs.size() > 1 && !request.scenario.topology.empty();
    };
  }
  return sink;
}

Sink terminal_sink() {
  return {.info = {.name = "terminal",
                   .summary = "The summary for people, on standard output.",
                   .source = kSource,
                   .parameters = {}},
          .when = "unless --quiet is given",
          .files = {},
          .acts = [](const SinkRequest& request) { return request.terminal != nullptr; },
          .make =
              [](const SinkRequest& request) {
                return std::make_unique<TerminalSink>(request.terminal, request.output().directory);
              }};
}

}  // namespace

std::vector<Sink> report_sinks() {
  std::vector<Sink> list = {file_sink(
      "scenario_txtpb", "The resolved scenario, every default filled in; it repeats the run.",
      {"scenario.txtpb", ""}, [](const Report& report, OutputFile& out) { out.write(report.scenario); })};
  for (const Table& table : report_tables()) list.push_back(table_sink(table));
  list.push_back(sqlite_sink());
  list.push_back(file_sink("summary_json", "What is said of the whole run, for programs.",
                           {"summary.json", ""},
                           [](const Report& report, OutputFile& out) { out.write(json_summary(report)); }));
  list.push_back(terminal_sink());
  return list;
}

Sink series_sink() {
  return {.info = {.name = "series_csv",
                   .summary = "Load and queues of links, and of the whole network, over time.",
                   .source = kSource,
                   .parameters = {}},
          .when = "with --sample, in networks with links",
          .files = {{"series.csv", kLinkSeriesColumns}, {"network_series.csv", kNetworkSeriesColumns}},
          .acts = [](const SinkRequest& request) { return request.output().sample_interval > Time(); },
          .make_recorder =
              [](const SinkRequest& request) {
                return std::make_unique<SeriesRecorder>(request.output().directory);
              }};
}

}  // namespace weft::results
