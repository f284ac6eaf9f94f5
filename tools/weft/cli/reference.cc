#include "tools/weft/cli/reference.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "sim/units/version.h"
#include "sim/units/xml_text.h"
#include "tools/weft/cli/help.h"
#include "tools/weft/cli/reference_html.h"

namespace weft::cli {
namespace {

// A kind of modules, or the commands.
struct Section {
  std::string id, title, content;
};

std::string row(const std::string& first, const std::vector<std::string>& others) {
  std::string text = fmt::format("<tr><td>{}</td>", xml_text(first));
  for (const std::string& cell : others) text += fmt::format("<td>{}</td>", xml_text(cell));
  return text + "</tr>\n";
}

std::string table(const std::vector<std::string>& titles, const std::string& rows) {
  std::string head;
  for (const std::string& title : titles) head += fmt::format("<th>{}</th>", title);
  return fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
      head, rows);
}

// Lines that are set in, as they stand.
std::string preformatted(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? std::string() : fmt::format("<pre>{}</pre>\n", xml_text(text));
}

std::string heading(const std::string& id, const std::string& title, const std::string& beside) {
  const std::string small = beside.empty() ? beside : fmt::format(" <small>{}</small>", xml_text(beside));
  return fmt::format("<h3><a href=\"#{0}\">{1}</a>{2}</h3>\n", xml_text(id), xml_text(title), small);
}

std::string parameters_table(const ModuleInfo& info) {
  if (info.parameters.empty()) return "";
  std::string rows;
  for (const ParameterSpec& spec : info.parameters) {
    rows += row(spec.name,
                {type_name(spec.type), is_required(spec) ? "required" : spec.default_value, describe(spec)});
  }
  return table({"parameter", "type", "default", "meaning and limits"}, rows);
}

std::string article(const Listed& module) {
  const ModuleInfo& info = module.info;
  const bool profile = module.collective == kProfile;
  const std::string group = module.collective.empty() ? "" : module.collective + ".";
  const std::string id = fmt::format("{}.{}{}", module.kind, group, info.name);
  std::string text = fmt::format("<article id=\"{}\">\n", xml_text(id));
  text += heading(id, info.name,
                  module.collective.empty() ? ""
                  : profile                 ? "profile"
                                            : "for " + module.collective);
  text += fmt::format("<p>{}</p>\n", xml_text(info.summary));
  if (!info.about.empty()) text += fmt::format("<p>{}</p>\n", xml_text(info.about));
  if (!info.source.empty()) text += fmt::format("<p class=\"note\">Source: {}</p>\n", xml_text(info.source));
  return text + preformatted(usage(module)) + preformatted(module.details) + parameters_table(info) +
         "</article>\n";
}

std::vector<Section> module_sections(const Catalog& catalog) {
  std::vector<Section> sections;
  const auto add = [&](const std::string& kind, const std::string& title,
                       const std::vector<Listed>& modules) {
    std::string content;
    for (const Listed& module : modules) {
      if (module.kind == kind) content += article(module);
    }
    if (!content.empty()) sections.push_back({"kind-" + kind, title, std::move(content)});
  };
  const std::vector<Listed> modules = listed_modules(catalog);
  for (const std::string& kind : module_kinds()) add(kind, kind, modules);
  add(kSection, "scenario: hosts, collectives, faults", listed_sections(catalog));
  return sections;
}

// This command and all below.
void add_commands(const CommandEntry& command, const std::string& full_name, std::string& content) {
  std::string id = full_name;
  for (char& letter : id) letter = letter == ' ' ? '-' : letter;
  content += fmt::format("<article id=\"{}\">\n{}", id, heading(id, full_name, ""));
  content += preformatted(usage_line(command, full_name)) + preformatted(command.description);
  std::string rows;
  for (const OptionEntry& option : command.options)
    rows += row(option_heading(option), {option_text(option)});
  if (!rows.empty()) content += table({"option", "meaning"}, rows);
  content += preformatted(command.footer) + "</article>\n";
  for (const CommandEntry& sub : command.subcommands) add_commands(sub, full_name + " " + sub.name, content);
}

void replace(std::string& page, std::string_view mark, const std::string& text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string reference_page(const Catalog& catalog, const CommandEntry& tree) {
  std::vector<Section> sections = module_sections(catalog);
  sections.push_back({"commands", "commands", ""});
  add_commands(tree, tree.name, sections.back().content);
  std::string links,
      content = fmt::format(
          "<h1>Everything there is to choose from</h1>\n<p>Weft {}. <code>weft describe NAME</code> "
          "tells the same of one module, <code>weft COMMAND --help</code> of one command.</p>\n",
          kVersion);
  for (const Section& section : sections) {
    links += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, xml_text(section.title));
    content += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id,
                           xml_text(section.title), section.content);
  }
  std::string page(kReferencePage);
  replace(page, "{{TITLE}}", fmt::format("Weft {}: reference", kVersion));
  replace(page, "{{SECTIONS}}", links);
  replace(page, "{{CONTENT}}", content);
  return page;
}

}  // namespace weft::cli
