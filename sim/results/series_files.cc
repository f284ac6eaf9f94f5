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
    network_.print("{},{},{},{},{},{},{}\n", time, network.packets_in_flight, network.packets_injected,
                   network.packets_delivered, network.bytes_delivered, network.packets_dropped,
                   network.ecn_marks);
    for (const LinkSample& row : links) {
      links_.print("{},{},{},{:.6f},{}\n", time, row.link, row.bytes, row.utilization, row.queue_bytes);
    }
  }

  void close() override {
    links_.close();
    network_.close();
  }

 private:
  OutputFile links_, network_;
};

}  // namespace

std::unique_ptr<SeriesSink> make_series_files(const std::string& directory) {
  return std::make_unique<SeriesFiles>(directory);
}

}  // namespace weft::results
