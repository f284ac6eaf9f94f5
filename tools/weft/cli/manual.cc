#include "tools/weft/cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "sim/units/input_error.h"
#include "sim/units/version.h"
#include "sim/units/wrap.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/help.h"
#include "tools/weft/cli/plugins.h"
#include "tools/weft/cli/reference.h"
#include "tools/weft/goal/matrix_picture.h"

namespace weft::cli {
namespace {

// Text is wrapped at this, for the lines that stay as they are: a page of 80 columns sets them in.
constexpr std::size_t kColumns = 72;

// Text that roff prints as it stands: no escapes, no requests.
std::string plain(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
  }
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

// Paragraphs: lines set in stay as they are, blank ones part paragraphs. Not by a stream, which would take
// memory that is refused for the end of the text.
std::string paragraphs(const std::string& text) {
  std::string out;
  const std::string wrapped = wrap(text, kColumns);
  bool as_is = false;
  for (std::size_t end = 0, begin = 0; begin < wrapped.size(); begin = end + 1) {
    end = std::min(wrapped.find('\n', begin), wrapped.size());
    const std::string_view line = std::string_view(wrapped).substr(begin, end - begin);
    const bool indented = line.starts_with(" ") && !(line.starts_with("      ") && !as_is);
    if (indented != as_is) out += indented ? ".PP\n.nf\n" : ".fi\n";
    as_is = indented;
    if (line.empty()) {
      out += ".PP\n";
    } else {
      out += plain(line) + "\n" + (indented ? "" : ".br\n");
    }
  }
  return out + (as_is ? ".fi\n" : "");
}

std::string page_name(std::string full_name) {
  std::replace(full_name.begin(), full_name.end(), ' ', '-');
  return full_name;
}

std::string upper(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

std::string options_section(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    text += fmt::format(".TP\n.B {}\n{}\n", plain(option_heading(option)), plain(option_text(option)));
  }
  return text.empty() ? text : ".SH OPTIONS\n" + text;
}

// This page and those of all commands below.
void write_pages(const CommandEntry& command, const std::string& full_name, const std::string& parent,
                 const std::string& directory) {
  std::vector<std::string> others;
  if (!parent.empty()) others.push_back(page_name(parent));
  for (const CommandEntry& sub : command.subcommands) others.push_back(page_name(full_name + " " + sub.name));
  const std::string path = directory + "/" + page_name(full_name) + ".1";
  write_file(path, manual_page(command, full_name, others));
  for (const CommandEntry& sub : command.subcommands) {
    write_pages(sub, full_name + " " + sub.name, full_name, directory);
  }
}

}  // namespace

std::string manual_page(const CommandEntry& command, const std::string& full_name,
                        const std::vector<std::string>& others) {
  const std::string name = page_name(full_name);
  const std::string summary = command.description.substr(0, command.description.find('\n'));
  std::string text = fmt::format(".TH {} 1 \"\" \"Weft {}\" \"Weft\"\n", upper(name), kVersion);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n", plain(name), plain(summary),
                      plain(usage_line(command, full_name)));
  text += ".SH DESCRIPTION\n" + paragraphs(command.description);
  text += options_section(command);
  if (!command.subcommands.empty()) text += ".SH SUBCOMMANDS\n";
  for (const CommandEntry& sub : command.subcommands) {
    text += fmt::format(".TP\n.B {}\n{}\n", plain(sub.name), plain(sub.description));
  }
  if (!command.footer.empty()) text += ".SH NOTES\n" + paragraphs(command.footer);
  if (others.empty()) return text;
  text += ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", plain(others[i]), i + 1 < others.size() ? "," : "");
  }
  return text;
}

void add_manual(Command& command, std::function<CommandEntry()> tree) {
  struct Options {
    std::string directory, page;
  };
  const auto options = std::make_shared<Options>();
  command.add_option("-o,--output", options->directory,
                     "Folder for manual pages, weft.1, weft-sim.1 …; created");
  command.add_option("--html", options->page,
                     "File for the reference: one page of all modules with their parameters, limits and "
                     "sources, and of all commands");
  add_plugin_option(command);
  command.footer(
      "Examples:\n  weft manual --html reference.html\n  weft manual -o share/man/man1\n  man -l "
      "share/man/man1/weft-sim.1");
  command.callback([options, tree = std::move(tree)] {
    if (options->directory.empty() && options->page.empty()) {
      throw InputError("nothing to write: --html FILE has the reference, -o FOLDER the manual pages");
    }
    refuse_ending_of_another(options->page, "the reference is one page of HTML", {".html", ".htm"});
    if (!options->page.empty()) write_file(options->page, reference_page(builtin_catalog(), tree()));
    if (options->directory.empty()) return;
    std::filesystem::create_directories(options->directory);
    write_pages(tree(), "weft", "", options->directory);
  });
}

}  // namespace weft::cli
