// Matches what modules need of queues with what queue disciplines offer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft::sim {

// A module that was chosen, and that says what it needs of queues.
struct Party {
  const char* word;   // of its kind, in messages: "congestion control"
  const char* brief;  // the same where that was just said: "control"
  const RegisteredModule* module;
  const std::vector<RegisteredModule>* others;  // of its kind, itself included
  SourceLocation location;                      // where it was chosen
};

// Chooses the discipline where `queue` is empty: what a party names as its own (RegisteredModule::queue), if
// that suits all, else the first of `queues` that does. Then sets those of its parameters that decide on what
// parties require or forbid, and that weren't given. Throws InputError, at the discipline's place or that of
// the party, if what was chosen can't go together; it says what would do.
void match_queue(std::span<const Party> parties, const std::vector<RegisteredModule>& queues,
                 ModuleChoice& queue);

// Can this discipline be what is needed, with those of its parameters set that aren't given in `choice`?
// Throws InputError for given ones that make no sense.
bool may_suit(const RegisteredModule& queue, const ModuleChoice& choice, const CapabilityNeeds& needs);

}  // namespace weft::sim
