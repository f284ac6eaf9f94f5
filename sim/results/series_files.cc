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
    append(end, network, network_);
    for (const LinkSample& row : links) append(end, row, links_);
  }

  void close() override {
    links_.close();
    network_.close();
  }

 private:
  template <typename Sample>
  void append(Time end, const Sample& sample, OutputFile& file) {
    row_.clear();
    fill_sample(end, sample, row_);
    file.write(row_);
  }

  OutputFile links_, network_;
  Row row_;
};

}  // namespace

void fill_sample(Time end, const LinkSample& sample, Row& row) {
  row.add(end, sample.link, sample.bytes, Fixed{sample.utilization}, sample.queue_bytes);
}

void fill_sample(Time end, const NetworkSample& sample, Row& row) {
  row.add(end, sample.packets_in_flight, sample.packets_injected, sample.packets_delivered,
          sample.bytes_delivered, sample.packets_dropped, sample.ecn_marks);
}

std::unique_ptr<SeriesSink> make_series_files(const std::string& directory) {
  return std::make_unique<SeriesFiles>(directory);
}

}  // namespace weft::results
