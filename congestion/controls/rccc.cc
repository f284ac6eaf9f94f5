#include "congestion/controls/rccc.h"

#include "congestion/controls/pulled.h"

namespace weft::congestion {
namespace {

class RcccSender final : public PulledSender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters) : credit(credit_settings(parameters)) {}
    CreditAccount::Settings credit;
  };
  RcccSender(const FlowInfo& flow, const Settings& settings) : PulledSender(flow, settings.credit) {}
};

std::unique_ptr<ReceiverFactory> make_rccc_receivers(const Parameters& parameters) {
  PullReceiver::Settings settings = pull_settings(parameters, true);
  settings.network_rate = network_rate_settings(parameters);
  settings.has_network_rate = parameters.real("oversubscription") > 1;
  return pull_receivers(settings);
}

}  // namespace

const Control& rccc() {
  static const Control control{
      .info =
          {.name = "rccc",
           .summary =
               "Ultra Ethernet's receiver-based control: credit in turn, at the rate of the receiver's link.",
           .source = "Ultra Ethernet Specification 1.0, section 3.6.14; constants of ultraethernet/uet-htsim",
           .parameters =
               join(join(credit_parameters("1.5",
                                           "Sent before the first answer, and the most that is asked "
                                           "for ahead, in bandwidth-delay products of the path."),
                         pull_parameters("4", "0.99", true)),
                    network_rate_parameters()),
           .about = "Goes by what senders say they want: the receiver's NIC grants credit in turn, four "
                    "packets at "
                    "a time, a little below its link's rate, and unasked while nobody wants any. A flow "
                    "starts with "
                    "1.5 bandwidth-delay products of its own, and is granted the rest. Where the network is "
                    "said to be "
                    "oversubscribed (oversubscription=4), marks and packets trimmed before the last hop slow "
                    "the grants "
                    "down. Good: incasts of any size fill the last link evenly, after one burst that is "
                    "trimmed. Bad: "
                    "knows of the network only what arrives, so oversubscribed networks trim a lot; credit "
                    "that senders "
                    "can't use is lost to others. Needs trimming, and precedence for credits."},
      .needs = {.required = kPulledNeeds.required, .used = Capability::kMark},
      .hears = kPulledHears,
      .make_factory = SenderFactoryFor<RcccSender>::make,
      .make_receivers = make_rccc_receivers,
      .queue_settings = kPulledQueueSettings,
      .marks_acked_at_once = true};
  return control;
}

}  // namespace weft::congestion
