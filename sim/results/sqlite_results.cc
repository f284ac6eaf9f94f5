#include "sim/results/sqlite_results.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/results/report_tables.h"
#include "sim/results/sha256.h"
#include "sim/results/sqlite_file.h"
#include "sim/results/timeline_tables.h"
#include "sim/units/version.h"

namespace weft::results {
namespace {

constexpr const char* kRun = "run";
constexpr const char* kRunColumns = "key,value";
constexpr const char* kSamples = "samples";
constexpr const char* kNetworkSamples = "network_samples";
constexpr const char* kOmitted = "omitted";
constexpr const char* kOmittedColumns = "table_name,rows,kept,rule";

void write_omitted(SqliteFile& file, const std::string& table, std::uint64_t rows, std::uint64_t kept,
                   const std::string& rule) {
  SqliteRows omitted(file, kOmitted, kOmittedColumns);
  omitted.append(fmt::format("{},{},{},{}", table, rows, kept, csv_quoted(rule)));
}

void write_table(SqliteFile& file, const Table& table, const Report& report, std::uint64_t most_rows) {
  SqliteRows out(file, table.name, table.columns);
  const std::size_t rows = table.rows(report);
  const std::size_t step = rows <= most_rows ? 1 : (rows + most_rows - 1) / most_rows;
  std::size_t i = 0;
  out.append([&](Row& row) {
    if (i >= rows) return false;
    table.fill(report, std::exchange(i, i + step), row);
    return true;
  });
  if (step == 1) return;
  write_omitted(
      file, table.name, rows, (rows + step - 1) / step,
      fmt::format("more than {} rows: those whose number, from 0, is a multiple of {}", most_rows, step));
}

std::uint64_t rows_of(const Report& report, std::uint64_t most_rows) {
  std::uint64_t rows = 0;
  for (const auto tables : {report_tables(), timeline_tables()}) {
    for (const Table& table : tables) rows += std::min<std::uint64_t>(table.rows(report), most_rows);
  }
  return rows;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// What summary.json says, but for what has a table.
void write_run(SqliteFile& file, const Report& report, unsigned threads) {
  nlohmann::ordered_json summary = nlohmann::ordered_json::parse(json_summary(report));
  for (const char* key : {"warnings", "diagnosis", "jobs", "interference", "signals"}) summary.erase(key);
  summary["version"] = kVersion;
  summary["commit"] = report.commit;
  summary["machine_name"] = host_name();
  summary["threads"] = threads;
  SqliteRows run(file, kRun, kRunColumns);
  const auto flat = summary.flatten();
  for (const auto& [path, value] : flat.items()) {
    std::string key = path.substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    if (value.is_structured()) continue;  // an empty one
    run.append(fmt::format("{},{}", key,
                           value.is_string() ? csv_quoted(value.get<std::string>())
                           : value.is_null() ? ""
                                             : value.dump()));
  }
}

void write_inputs(SqliteFile& file, const Report& report) {
  SqliteRows inputs(file, "inputs", "path,bytes,sha256");
  for (const std::string& path : report.inputs) {
    std::error_code error;
    const bool regular = std::filesystem::is_regular_file(path, error);
    const std::uintmax_t bytes = regular ? std::filesystem::file_size(path, error) : 0;
    const bool known = regular && !error;
    inputs.append(fmt::format("{},{},{}", csv_quoted(path), known ? fmt::to_string(bytes) : "",
                              known && bytes <= kMostDigestedBytes ? sha256_of_file(path) : ""));
  }
}

void write_texts(SqliteFile& file, const Report& report) {
  SqliteRows(file, "scenario", "text").append(csv_quoted(report.scenario));
  SqliteRows warnings(file, "warnings", "kind,text");
  for (const std::string& text : report.warnings) warnings.append("warning," + csv_quoted(text));
  for (const std::string& text : report.diagnosis) warnings.append("diagnosis," + csv_quoted(text));
  SqliteRows signals(file, "signals", "name,count");
  for (const auto& [name, count] : report.network_totals.signals) {
    signals.append(fmt::format("{},{}", csv_field(name), count));
  }
}

void write_histograms(SqliteFile& file, const FlowStatistics& flows) {
  SqliteRows out(file, "histograms", "quantity,first,last,count");
  const auto write = [&](const char* quantity, const Distribution& values, double unit) {
    values.for_each_bucket([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
      out.append(fmt::format("{},{},{},{}", quantity, static_cast<double>(first) / unit,
                             static_cast<double>(last) / unit, count));
    });
  };
  write("size_bytes", flows.sizes(), 1);
  write("completion_ns", flows.all().completion, 1000);
  write("slowdown", flows.all().slowdown, FlowStatistics::kSlowdownUnit);
}

void write_timeline(SqliteFile& file, const Report& report, std::uint64_t most_rows) {
  for (const Table& table : timeline_tables()) write_table(file, table, report, most_rows);
  const Timeline& timeline = report.timeline;
  SqliteRows run(file, kRun, kRunColumns);
  if (!timeline.absent.empty()) return run.append("timeline.absent," + csv_quoted(timeline.absent));
  run.append(fmt::format("timeline.slices,{}", timeline.all_slices));
  run.append(fmt::format("timeline.messages,{}", timeline.all_messages));
  if (timeline.is_whole()) return;
  const std::string rule = sampling_rule(timeline);
  write_omitted(file, "timeline", timeline.all_slices, timeline.slices.size(), rule);
  write_omitted(file, "timeline_messages", timeline.all_messages, timeline.messages.size(), rule);
}

class SqliteSamples final : public SeriesSink {
 public:
  SqliteSamples(std::string path, Time interval, std::uint64_t most_rows)
      : path_(std::move(path)), interval_(interval), most_rows_(most_rows) {}

  void sample(Time, Time end, const NetworkSample& network, std::span<const LinkSample> links) override {
    if (!file_) {
      file_.emplace(path_);
      links_.emplace(*file_, kSamples, kLinkSeriesColumns);
      network_.emplace(*file_, kNetworkSamples, kNetworkSeriesColumns);
    }
    rows_.links += links.size();
    ++rows_.network;
    const std::int64_t number = (end.ps() + interval_.ps() / 2) / interval_.ps();
    if (number % stride_ != 0) return;
    append(end, std::span(&network, 1), *network_);
    append(end, links, *links_);
    kept_.links += links.size();
    ++kept_.network;
    while (kept_.links + kept_.network > most_rows_) thin();
  }

  void close() override {
    if (!file_) return;
    if (stride_ > 1) {
      const std::string rule = fmt::format(
          "more than {} rows: the intervals whose number is a multiple of {}", most_rows_, stride_);
      write_omitted(*file_, kSamples, rows_.links, kept_.links, rule);
      write_omitted(*file_, kNetworkSamples, rows_.network, kept_.network, rule);
    }
    links_.reset();
    network_.reset();
    file_->commit();
    file_.reset();
  }

 private:
  template <typename Sample>
  void append(Time end, std::span<const Sample> samples, SqliteRows& rows) {
    std::size_t i = 0;
    rows.append([&](Row& row) {
      if (i == samples.size()) return false;
      fill_sample(end, samples[i++], row);
      return true;
    });
  }

  // Every other interval goes.
  void thin() {
    stride_ *= 2;
    kept_.links -= thin(kSamples);
    kept_.network -= thin(kNetworkSamples);
  }
  std::uint64_t thin(const char* table) {
    return file_->execute(fmt::format("DELETE FROM {} WHERE CAST(round(time_ns / {}) AS INTEGER) % {} <> 0",
                                      table, static_cast<double>(interval_.ps()) / 1000, stride_));
  }

  struct Counts {
    std::uint64_t links = 0, network = 0;
  };
  const std::string path_;
  const Time interval_;
  const std::uint64_t most_rows_;
  std::optional<SqliteFile> file_;
  std::optional<SqliteRows> links_, network_;
  Counts rows_, kept_;
  std::int64_t stride_ = 1;
};

}  // namespace

void write_sqlite(const Report& report, unsigned threads, const std::string& path, std::uint64_t most_rows) {
  SqliteFile file(path, rows_of(report, most_rows));
  write_run(file, report, threads);
  write_inputs(file, report);
  write_texts(file, report);
  for (const Table& table : report_tables()) write_table(file, table, report, most_rows);
  write_timeline(file, report, most_rows);
  write_histograms(file, report.flow_statistics);
  // Empty where there was nothing to put in.
  SqliteRows(file, kSamples, kLinkSeriesColumns);
  SqliteRows(file, kNetworkSamples, kNetworkSeriesColumns);
  SqliteRows(file, kOmitted, kOmittedColumns);
  if (report.flows.empty() && report.messages > 0) {
    write_omitted(file, "flows", report.messages, 0, "no message has a row");
  }
  file.finish();
}

std::unique_ptr<SeriesSink> make_sqlite_samples(const std::string& path, Time interval,
                                                std::uint64_t most_rows) {
  return std::make_unique<SqliteSamples>(path, interval, most_rows);
}

}  // namespace weft::results
