#include "tools/weft/cli/completion.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>

#include "sim/units/input_error.h"
#include "sim/units/module.h"

namespace weft::cli {
namespace {

// What follows `weft` is asked of `weft complete`; without an answer it is the name of a file.
constexpr const char* kBash = R"sh(# Completion of weft for bash: source <(weft completion bash)
_weft() {
  local IFS=$'\n'
  COMPREPLY=($(weft complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace
}
complete -o default -F _weft weft
)sh";

constexpr const char* kZsh = R"sh(#compdef weft
# Completion of weft for zsh: source <(weft completion zsh)
_weft() {
  local -a found
  local line
  while IFS=$'\t' read -r word meaning; do
    found+=("${word//:/\\:}:${meaning}")
  done < <(weft complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then _describe weft found; else _files; fi
}
if [[ $funcstack[1] == _weft ]]; then _weft "$@"; else compdef _weft weft; fi
)sh";

constexpr const char* kFish = R"sh(# Completion of weft for fish: weft completion fish | source
function __weft_complete
    set -l words (commandline -opc) (commandline -ct)
    weft complete -- $words[2..-1] 2>/dev/null
end
complete -c weft -n 'test -n "$(__weft_complete)"' -f -a '(__weft_complete)'
)sh";

// Options whose values are modules, and of which kind.
struct NamedValue {
  const char *option, *kind;
};
constexpr NamedValue kNamedValues[] = {
    {"--topology", "topology"},     {"--routing", "routing"},     {"--network", "network"},
    {"--congestion", "congestion"}, {"--recovery", "recovery"},   {"--queue", "queue"},
    {"--traffic", "traffic"},       {"--placement", "placement"}, {"--scheduler", "scheduler"},
    {"--fabric", "fabric"},         {"--protocol", "protocol"},
};

// The modules of a kind, or of all; as `weft list` names them.
std::vector<Candidate> modules_of(const Catalog& catalog, const std::string& kind) {
  std::vector<Candidate> found;
  std::istringstream lines(list_text(catalog, kind, true));
  for (std::string of, name; lines >> of >> name;) found.push_back({name, of});
  return found;
}

const CommandEntry* subcommand(const CommandEntry& command, const std::string& name) {
  const auto found = std::ranges::find(command.subcommands, name, &CommandEntry::name);
  return found == command.subcommands.end() ? nullptr : &*found;
}

const OptionEntry* option_named(const CommandEntry& command, const std::string& name) {
  for (const OptionEntry& option : command.options) {
    if (!option.positional && std::ranges::count(option.names, name) > 0) return &option;
  }
  return nullptr;
}

std::vector<Candidate> all_candidates(const CommandEntry& command, const CommandEntry& root,
                                      const Catalog& catalog, const std::string& before,
                                      const std::string& word) {
  const OptionEntry* const option = option_named(command, before);
  if (option != nullptr && !option->value.empty()) {
    for (const NamedValue& named : kNamedValues) {
      if (before == named.option) return modules_of(catalog, named.kind);
    }
    return {};
  }
  std::vector<Candidate> found;
  if (word.starts_with("-")) {
    for (const OptionEntry& each : command.options) {
      if (!each.positional) found.push_back({each.names.back(), each.help});
    }
    return found;
  }
  for (const CommandEntry& sub : command.subcommands) found.push_back({sub.name, sub.description});
  if (&command == subcommand(root, "describe")) found = modules_of(catalog, "");
  if (&command == subcommand(root, "import")) found = modules_of(catalog, "importer");
  const bool of_topology =
      &command != &root && std::ranges::any_of(command.options, [](const OptionEntry& o) {
        return o.positional && (o.names[0] == "TOPOLOGY" || o.names[0] == "TOPOLOGIES");
      });
  if (of_topology) found = modules_of(catalog, "topology");
  return found;
}

}  // namespace

std::vector<Candidate> candidates(const CommandEntry& tree, const Catalog& catalog,
                                  const std::vector<std::string>& words) {
  const CommandEntry* command = &tree;
  const std::string word = words.empty() ? "" : words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--") return {};  // another program's words
    const CommandEntry* const sub = subcommand(*command, words[i]);
    if (sub != nullptr) command = sub;
  }
  const std::string before = words.size() < 2 ? "" : words[words.size() - 2];
  std::vector<Candidate> found = all_candidates(*command, tree, catalog, before, word);
  std::erase_if(found, [&](const Candidate& each) { return !each.word.starts_with(word); });
  std::ranges::sort(found);
  const auto again = std::ranges::unique(found, {}, &Candidate::word);
  found.erase(again.begin(), again.end());
  return found;
}

void add_completion(Command& root, std::function<CommandEntry()> tree) {
  const auto shell = std::make_shared<std::string>();
  Command completion = root.add_subcommand("completion", "Completion of commands for bash, zsh or fish");
  completion.add_option("SHELL", *shell, "bash, zsh or fish").required();
  completion.footer(
      "Example:\n  source <(weft completion bash)\nIn ~/.bashrc or ~/.zshrc it lasts; for fish: weft "
      "completion fish "
      "| source, in ~/.config/fish/config.fish.");
  completion.callback([shell] {
    const std::vector<std::string> known{"bash", "zsh", "fish"};
    const char* const scripts[] = {kBash, kZsh, kFish};
    const auto found = std::ranges::find(known, *shell);
    if (found == known.end()) fail_unknown_name("shell", *shell, known);
    std::fputs(scripts[found - known.begin()], stdout);
  });
  const auto words = std::make_shared<std::vector<std::string>>();
  Command complete = root.add_subcommand("complete", "What a word may become");
  complete.hide();
  complete.add_option("WORD", *words, "What stands behind weft, the last one begun");
  complete.callback([words, tree = std::move(tree)] {
    for (const Candidate& each : candidates(tree(), builtin_catalog(), *words)) {
      std::printf("%s\t%s\n", each.word.c_str(), each.meaning.c_str());
    }
  });
}

}  // namespace weft::cli
