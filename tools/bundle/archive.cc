#include "tools/bundle/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <filesystem>

#include "sim/results/sha256.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/part_file.h"
#include "sim/units/printable.h"

namespace weft::bundle {
namespace {

struct Sink {
  results::OutputFile& file;
  std::exception_ptr& error;
};

la_ssize_t write_to_sink(archive* /*archive*/, void* data, const void* bytes, std::size_t size) {
  const Sink& sink = *static_cast<Sink*>(data);
  try {
    sink.file.write(std::string_view(static_cast<const char*>(bytes), size));
    return static_cast<la_ssize_t>(size);
  } catch (...) {
    sink.error = std::current_exception();
    return -1;
  }
}

int forget_sink(archive* /*archive*/, void* data) {
  delete static_cast<Sink*>(data);
  return ARCHIVE_OK;
}

bool is_plain(const std::filesystem::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  for (const auto& part : name) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

}  // namespace

ArchiveWriter::ArchiveWriter(const std::string& path)
    : path_(path), file_(path, PartFile::Special::kWrite), archive_(archive_write_new(), archive_write_free) {
  if (archive_ == nullptr) throw std::bad_alloc();
  if (archive_write_set_format_pax_restricted(archive_.get()) != ARCHIVE_OK ||
      archive_write_add_filter_zstd(archive_.get()) != ARCHIVE_OK ||
      // No padding to a tape's blocks.
      archive_write_set_bytes_in_last_block(archive_.get(), 1) != ARCHIVE_OK ||
      archive_write_open2(archive_.get(), new Sink{file_, error_}, nullptr, write_to_sink, nullptr,
                          forget_sink) != ARCHIVE_OK) {
    fail();
  }
}

ArchiveWriter::~ArchiveWriter() {
  // What is left unwritten goes nowhere.
  archive_write_fail(archive_.get());
}

void ArchiveWriter::fail() const {
  if (error_) std::rethrow_exception(error_);
  const char* reason = archive_error_string(archive_.get());
  throw InputError(fmt::format("{}: can't be written: {}", path_, reason == nullptr ? "" : reason));
}

void ArchiveWriter::begin_entry(const std::string& name, std::uint64_t bytes) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  if (entry == nullptr) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(archive_.get(), entry.get()) != ARCHIVE_OK) fail();
}

void ArchiveWriter::write(std::string_view bytes) {
  if (archive_write_data(archive_.get(), bytes.data(), bytes.size()) !=
      static_cast<la_ssize_t>(bytes.size())) {
    fail();
  }
}

void ArchiveWriter::add(const std::string& name, std::string_view contents) {
  begin_entry(name, contents.size());
  write(contents);
}

void ArchiveWriter::add_file(const std::string& name, const std::string& path, std::uint64_t bytes) {
  const InputFile file(path);
  begin_entry(name, bytes);
  std::array<char, 1 << 16> buffer{};
  std::uint64_t written = 0;
  for (ssize_t count = 0; (count = ::read(file.descriptor(), buffer.data(), buffer.size())) > 0;) {
    written += static_cast<std::uint64_t>(count);
    if (written > bytes) break;
    write({buffer.data(), static_cast<std::size_t>(count)});
  }
  if (written != bytes) throw InputError(path + ": changed, or could not be read, while it was packed");
}

void ArchiveWriter::close() {
  if (archive_write_close(archive_.get()) != ARCHIVE_OK) fail();
  file_.close();
}

ArchiveReader::ArchiveReader(const std::string& path)
    : path_(path), archive_(archive_read_new(), archive_read_free) {
  if (archive_ == nullptr) throw std::bad_alloc();
  check_input(path);
  archive_read_support_format_tar(archive_.get());
  archive_read_support_filter_zstd(archive_.get());
  constexpr std::size_t kBlock = 1 << 16;
  if (archive_read_open_filename(archive_.get(), path.c_str(), kBlock) != ARCHIVE_OK) {
    fail("this is no bundle that weft bundle has made");
  }
}

void ArchiveReader::fail(const std::string& reason) const {
  const char* details = archive_error_string(archive_.get());
  throw InputError(fmt::format("{}: {}{}{}", path_, reason, details == nullptr ? "" : ": ",
                               details == nullptr ? "" : printable(details)));
}

std::optional<std::string> ArchiveReader::next() {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(archive_.get(), &entry);
  if (status == ARCHIVE_EOF) return std::nullopt;
  if (status != ARCHIVE_OK) fail("this is no whole bundle that weft bundle has made");
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr || !is_plain(name) || archive_entry_filetype(entry) != AE_IFREG ||
      archive_entry_hardlink(entry) != nullptr) {
    throw InputError(fmt::format("{}: '{}' is not a file that weft bundle packs", path_,
                                 printable(name == nullptr ? "" : name)));
  }
  return name_ = name;
}

template <typename Take>
std::uint64_t ArchiveReader::read(std::uint64_t most_bytes, Take&& take) {
  std::array<char, 1 << 16> buffer{};
  std::uint64_t bytes = 0;
  for (;;) {
    const la_ssize_t count = archive_read_data(archive_.get(), buffer.data(), buffer.size());
    if (count < 0) fail("it is damaged in " + printable(name_));
    if (count == 0) return bytes;
    bytes += static_cast<std::uint64_t>(count);
    if (bytes > most_bytes) {
      throw InputError(
          fmt::format("{}: {} has more than the {} bytes it may have", path_, printable(name_), most_bytes));
    }
    take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  }
}

std::string ArchiveReader::contents(std::uint64_t most_bytes) {
  std::string contents;
  read(most_bytes, [&](std::string_view bytes) { contents += bytes; });
  return contents;
}

std::string ArchiveReader::extract(const std::string& path, std::uint64_t bytes) {
  results::OutputFile file(path);
  results::Sha256 digest;
  const std::uint64_t count = read(bytes, [&](std::string_view piece) {
    file.write(piece);
    digest.add(piece);
  });
  file.close();
  if (count != bytes) {
    throw InputError(fmt::format("{}: {} has {} bytes, and not {}", path_, printable(name_), count, bytes));
  }
  return digest.finish();
}

}  // namespace weft::bundle
