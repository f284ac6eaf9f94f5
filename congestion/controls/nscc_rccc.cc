#include "congestion/controls/nscc_rccc.h"

#include "congestion/controls/nscc_window.h"
#include "congestion/controls/pulled.h"

namespace weft::congestion {
namespace {

class NsccRcccSender final : public PulledSender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : window(parameters), credit(credit_settings(parameters)) {}
    NsccWindow::Settings window;
    CreditAccount::Settings credit;
  };
  NsccRcccSender(const FlowInfo& flow, const Settings& settings)
      : PulledSender(flow, settings.credit), window_(flow, settings.window) {}

  void start(Time) override { set_window(); }
  void on_ack(const Ack& ack) override {
    window_.on_ack(ack);
    set_window();
    PulledSender::on_ack(ack);
  }
  // At the last hop, the receiver's grants are the answer.
  void on_trim(const Loss& loss) override {
    window_.on_trim(loss, !loss.at_last_hop);
    set_window();
    PulledSender::on_trim(loss);
  }
  void on_loss(const Loss& loss) override {
    window_.on_loss(loss);
    set_window();
    PulledSender::on_loss(loss);
  }
  void on_timeout(const Loss& loss) override {
    window_.on_timeout(loss);
    set_window();
    PulledSender::on_loss(loss);
  }

 private:
  void set_window() { allowed_.window_bytes = window_.bytes(); }

  NsccWindow window_;
};

std::unique_ptr<ReceiverFactory> make_nscc_rccc_receivers(const Parameters& parameters) {
  return pull_receivers(pull_settings(parameters, true));
}

}  // namespace

const Control& nscc_rccc() {
  static const Control control{
      .info =
          {.name = "nscc_rccc",
           .summary =
               "Ultra Ethernet's two controls together: nscc's window for the network, rccc's credit for "
               "the last hop.",
           .source = "Ultra Ethernet Specification 1.0, sections 3.6.13 and 3.6.14; constants of "
                     "ultraethernet/uet-htsim",
           .parameters =
               join(NsccWindow::parameters(),
                    join(credit_parameters("1.5",
                                           "Credit before the first answer, and the most that is asked for "
                                           "ahead, in bandwidth-delay products of the path."),
                         pull_parameters("4", "0.99", true))),
           .about =
               "Goes by marks, queueing delays and credit: a packet is sent when nscc's window and rccc's "
               "credit "
               "both allow it, and no more credit is asked for than the window can use. Packets trimmed at "
               "the "
               "last hop leave the window alone, as the receiver's pace has answered already. Good: incasts "
               "as "
               "even as with rccc, and oversubscribed networks with as few retransmissions as nscc. Bad: the "
               "slower of both to recover; the most state. Needs marks, trimming, and precedence for "
               "credits."},
      .needs = {.required = kPulledNeeds.required | Capability::kMark},
      .hears = kPulledHears,
      .make_factory = SenderFactoryFor<NsccRcccSender>::make,
      .make_receivers = make_nscc_rccc_receivers,
      .queue_settings = kPulledQueueSettings,
      .marks_acked_at_once = true};
  return control;
}

}  // namespace weft::congestion
