#include "congestion/controls/newreno.h"

#include <algorithm>

#include "congestion/controls/tcp_window.h"

namespace weft::congestion {
namespace {

class NewReno final : public TcpWindow {
 public:
  using Settings = TcpSettings;
  using TcpWindow::TcpWindow;

 private:
  void avoid_congestion(const Ack& ack) override {
    window_ += static_cast<double>(ack.bytes) * mtu_bytes_ / window_;
  }
  void cut(double flight, bool) override { window_ = threshold_ = std::max(flight / 2, 2 * mtu_bytes_); }
};

}  // namespace

const Control& newreno() {
  static const Control control{
      .info = {.name = "newreno",
               .summary = "TCP's classic: a packet more per round trip, half after a loss.",
               .source = "RFC 5681; RFC 6582; RFC 6928; RFC 3168",
               .parameters = TcpSettings::parameters(),
               .about = "Goes by losses, and by marks where queues set them: the window doubles each round "
                        "trip until the first one, then grows by a packet per round trip, and is halved once "
                        "for each window of data with a loss. Needs nothing of switches. Good: the baseline "
                        "that everybody knows. Bad: fills every queue; needs thousands of round trips to "
                        "regain a large window; long round trips get little."},
      .needs = {.used = Capability::kMark},
      .make_factory = SenderFactoryFor<NewReno>::make,
      .caveat = kTcpCaveat,
      .wants_every_ack = true};
  return control;
}

}  // namespace weft::congestion
