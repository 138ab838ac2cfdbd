// Progress of a run: an updating line on a terminal, plain lines elsewhere.
#include "profiler/run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profiler/core/text.h"

namespace gpuexp {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string duration_text(double seconds) {
  const long long whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

// What both kinds count.
class CountingProgress : public Progress {
 public:
  explicit CountingProgress(std::FILE* stream) : stream_(stream) {}
  void begin(std::size_t done, std::size_t total) override {
    done_ = resumed_ = done;
    total_ = total;
    start_ = Clock::now();
    if (done > 0) print(fmt::format("{} of {} points taken over from the earlier run\n", done, total));
  }
  void finished(const PointResult& result) override {
    ++done_;
    if (!result.good()) ++bad_;
    show_finished(result);
  }

 protected:
  virtual void show_finished(const PointResult& result) = 0;
  void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream_);
    std::fflush(stream_);
  }
  [[nodiscard]] std::string count() const {
    return fmt::format("[{:>{}}/{}]", done_, fmt::formatted_size("{}", total_), total_);
  }
  // " about 12 s left", by the mean of the points run so far; empty before the first.
  [[nodiscard]] std::string time_left() const {
    const std::size_t run = done_ - resumed_;
    if (run == 0 || done_ >= total_) return "";
    const double each = seconds_since(start_) / static_cast<double>(run);
    return fmt::format(", about {} left", duration_text(each * static_cast<double>(total_ - done_)));
  }
  [[nodiscard]] std::string bad_text() const { return bad_ == 0 ? "" : fmt::format(", {} bad", bad_); }
  [[nodiscard]] std::FILE* stream() const { return stream_; }
  [[nodiscard]] bool at_end() const { return done_ == total_; }
  [[nodiscard]] bool at_first() const { return done_ == resumed_ + 1; }

 private:
  std::FILE* stream_;
  std::size_t done_ = 0, resumed_ = 0, total_ = 0, bad_ = 0;
  Clock::time_point start_;
};

class LineProgress final : public CountingProgress {
 public:
  using CountingProgress::CountingProgress;
  void started(const Point& point) override {
    current_ = point.key();
    draw();
  }
  void end() override { print("\r\x1b[K"); }

 private:
  void show_finished(const PointResult&) override { draw(); }
  void draw() {
    const std::string head = count() + bad_text() + time_left() + "  ";
    const std::size_t room = width() > head.size() ? width() - head.size() : 0;
    print("\r\x1b[K" + head + shortened(current_, room));
  }
  // The most columns that do not wrap.
  [[nodiscard]] std::size_t width() const {
    struct winsize size {};
    if (::ioctl(::fileno(stream()), TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
    return std::size_t{size.ws_col} - 1;
  }
  std::string current_;
};

class PlainProgress final : public CountingProgress {
 public:
  using CountingProgress::CountingProgress;
  void started(const Point&) override {}
  void end() override {}

 private:
  static constexpr double every_s = 2.0;
  void show_finished(const PointResult& result) override {
    const bool due = at_first() || at_end() || !result.good() || seconds_since(last_) >= every_s;
    if (!due) return;
    last_ = Clock::now();
    const std::string status =
        result.status == Status::ok && !result.good() ? std::string("bad answer") : std::string(to_text(result.status));
    print(fmt::format("{} {}: {}{}{}\n", count(), result.point.key(), status, bad_text(), time_left()));
  }
  Clock::time_point last_ = Clock::now();
};

class QuietProgress final : public Progress {
 public:
  void begin(std::size_t, std::size_t) override {}
  void started(const Point&) override {}
  void finished(const PointResult&) override {}
  void end() override {}
};

bool updates_lines(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

}  // namespace

std::unique_ptr<Progress> make_progress(std::FILE* stream) {
  if (updates_lines(stream)) return std::make_unique<LineProgress>(stream);
  return std::make_unique<PlainProgress>(stream);
}

std::unique_ptr<Progress> make_quiet_progress() { return std::make_unique<QuietProgress>(); }

}  // namespace gpuexp
