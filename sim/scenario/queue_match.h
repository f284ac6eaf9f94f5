// Matches what modules need of queues with what queue disciplines offer.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/registries.h"

namespace weft::sim {

// A module that was chosen, and what it needs of queues.
struct Party {
  const char* word;   // of its kind, in messages: "congestion control"
  const char* brief;  // the same where that was just said: "control"
  std::string name;
  CapabilityNeeds needs;
  SourceLocation location;  // where it was chosen
  // All of its kind, itself included, and their needs.
  std::vector<std::pair<std::string, CapabilityNeeds>> others;
  // What only congestion controls say: as RegisteredControl has them.
  std::string queue = {};
  std::vector<std::pair<std::string, std::string>> queue_settings = {};
};

// Chooses the discipline where `queue` is empty: what a party names as its own (RegisteredControl::queue), if
// that suits all, else the first of `queues` that does. Then sets those of its parameters that decide on what
// parties require or forbid, and that weren't given. Throws InputError, at the discipline's place or that of
// the party, if what was chosen can't go together; it says what would do.
void match_queue(std::span<const Party> parties, const std::vector<RegisteredQueue>& queues,
                 ModuleChoice& queue);

// Throws InputError at `location` if the queue that a control was made for, or one of its settings, is not of
// these.
void check_queue_of(const RegisteredControl& control, const std::vector<RegisteredQueue>& queues,
                    const SourceLocation& location);

// Can this discipline be what is needed, with those of its parameters set that aren't given in `choice`?
// Throws InputError for given ones that make no sense.
bool may_suit(const RegisteredQueue& queue, const ModuleChoice& choice, const CapabilityNeeds& needs);

}  // namespace weft::sim
