// One sender of a named control, driven by hand.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "congestion/controls/controls.h"

namespace weft::congestion {

struct DrivenSender {
  DrivenSender(const std::string& name, const std::map<std::string, std::string>& given, const FlowInfo& info)
      : control(find_module(controls(), {.name = name, .given = {}, .location = {}}, "control")),
        factory(control.make_factory(Parameters(control.info, given))) {
    storage.resize(factory->sender_bytes() / sizeof(double) + 2);
    sender = factory->construct(storage.data(), info);
  }
  ~DrivenSender() { sender->~Sender(); }
  DrivenSender(const DrivenSender&) = delete;
  DrivenSender& operator=(const DrivenSender&) = delete;

  Sender* operator->() const { return sender; }
  double window() const { return static_cast<double>(sender->allowed().window_bytes); }
  double rate() const { return static_cast<double>(sender->allowed().rate.bps()); }

  const Control& control;
  std::unique_ptr<SenderFactory> factory;
  std::vector<double> storage;
  Sender* sender = nullptr;
};

// Rates are whole bits per second, windows whole bytes.
inline Approx near(double value) { return Approx(value).epsilon(1e-9).margin(1.0); }

}  // namespace weft::congestion
