#include "congestion/controls/nscc.h"

#include "congestion/controls/nscc_window.h"

namespace weft::congestion {
namespace {

class NsccSender final : public Sender {
 public:
  using Settings = NsccWindow::Settings;
  NsccSender(const FlowInfo& flow, const Settings& settings) : window_(flow, settings) {}

  void start(Time) override { allow(); }
  void on_ack(const Ack& ack) override {
    window_.on_ack(ack);
    allow();
  }
  void on_trim(const Loss& loss) override {
    window_.on_trim(loss, true);
    allow();
  }
  void on_loss(const Loss& loss) override {
    window_.on_loss(loss);
    allow();
  }
  void on_timeout(const Loss& loss) override {
    window_.on_timeout(loss);
    allow();
  }

 private:
  void allow() { allowed_.window_bytes = window_.bytes(); }

  NsccWindow window_;
};

}  // namespace

const Control& nscc() {
  static const Control control{
      .info = {.name = "nscc",
               .summary =
                   "Ultra Ethernet's sender-based control: a window by marks and queueing delay together.",
               .source =
                   "Ultra Ethernet Specification 1.0, section 3.6.13; constants of ultraethernet/uet-htsim",
               .parameters = NsccWindow::parameters(),
               .about =
                   "Goes by two signals for each ACK, the mark and the queueing delay against a target of "
                   "3/4 of the network's round trip: no mark and a short queue, it grows by what is missing "
                   "to the target; no mark and a long one, by a fair share; both, it shrinks once in a round "
                   "trip by the excess of the mean delay; a mark alone is left to the choice of paths. A "
                   "trimmed packet takes its size from the window, and after heavy congestion the window "
                   "becomes what arrives. Starts with 1.5 bandwidth-delay products. Needs marks; made for "
                   "the queue discipline composite, which trims. Good: with packet spraying and trimming, "
                   "full links and few retransmissions in permutations and oversubscribed networks; needs no "
                   "receiver. Bad: incasts of very many flows trim a lot before windows are down to a "
                   "packet, and shares there are uneven for some time."},
      .needs = {.required = Capability::kMark, .used = Capability::kTrim},
      .make_factory = SenderFactoryFor<NsccSender>::make,
      .queue = "composite",
      .marks_acked_at_once = true};
  return control;
}

}  // namespace weft::congestion
