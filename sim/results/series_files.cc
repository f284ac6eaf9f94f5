#include <fmt/format.h>

#include <iterator>

#include "sim/results/output_file.h"
#include "sim/results/series.h"

namespace weft::results {
namespace {

class SeriesFiles final : public SeriesSink {
 public:
  explicit SeriesFiles(const std::string& directory)
      : links_(directory + "/series.csv"), network_(directory + "/network_series.csv") {
    links_.print("{}\n", kLinkSeriesColumns);
    network_.print("{}\n", kNetworkSeriesColumns);
  }

  void sample(Time, Time end, const NetworkSample& network, std::span<const LinkSample> links) override {
    const std::string time = to_ns_string(end);
    append(time, network, network_);
    for (const LinkSample& row : links) append(time, row, links_);
  }

  void close() override {
    links_.close();
    network_.close();
  }

 private:
  template <typename Sample>
  void append(const std::string& time, const Sample& sample, OutputFile& file) {
    row_.clear();
    append_sample(time, sample, row_);
    file.write(row_);
  }

  OutputFile links_, network_;
  std::string row_;
};

}  // namespace

void append_sample(const std::string& time, const LinkSample& sample, std::string& row) {
  fmt::format_to(std::back_inserter(row), "{},{},{},{:.6f},{}\n", time, sample.link, sample.bytes,
                 sample.utilization, sample.queue_bytes);
}

void append_sample(const std::string& time, const NetworkSample& sample, std::string& row) {
  fmt::format_to(std::back_inserter(row), "{},{},{},{},{},{},{}\n", time, sample.packets_in_flight,
                 sample.packets_injected, sample.packets_delivered, sample.bytes_delivered,
                 sample.packets_dropped, sample.ecn_marks);
}

std::unique_ptr<SeriesSink> make_series_files(const std::string& directory) {
  return std::make_unique<SeriesFiles>(directory);
}

}  // namespace weft::results
