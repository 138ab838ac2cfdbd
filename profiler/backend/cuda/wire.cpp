// One list of fields per type serves writing and reading, so that the two cannot drift apart.
#include "profiler/backend/cuda/wire.h"

#include <concepts>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace gpuexp::cuda {
namespace {

class Writer {
 public:
  static constexpr bool reading = false;
  void bytes(const void* data, std::size_t size) { text.append(static_cast<const char*>(data), size); }
  std::string text;
};

class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(std::string_view all) : rest(all) {}
  void bytes(void* data, std::size_t size) {
    if (size > rest.size()) throw std::runtime_error("a message between gpuexp and its worker is cut short");
    std::memcpy(data, rest.data(), size);
    rest.remove_prefix(size);
  }
  std::string_view rest;
};

template <class A, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void transfer(A& archive, T& value) { archive.bytes(&value, sizeof value); }

template <class A>
std::size_t transfer_size(A& archive, std::size_t size) {
  auto wire_size = static_cast<std::uint64_t>(size);
  transfer(archive, wire_size);
  return static_cast<std::size_t>(wire_size);
}

template <class A>
void transfer(A& archive, std::string& value) {
  const std::size_t size = transfer_size(archive, value.size());
  if constexpr (A::reading) {
    if (size > archive.rest.size()) throw std::runtime_error("a message between gpuexp and its worker is cut short");
    value.resize(size);
  }
  archive.bytes(value.data(), size);
}

// Declared first, so that containers of each other's kinds find one another.
template <class A, class T>
void transfer(A& archive, std::vector<T>& value);
template <class A, class T>
void transfer(A& archive, std::optional<T>& value);
template <class A, class K, class V, class C>
void transfer(A& archive, std::map<K, V, C>& value);
template <class A, class... T>
void transfer(A& archive, std::variant<T...>& value);
template <class A, class T>
requires requires(A& archive, T& value) { fields(archive, value); }
void transfer(A& archive, T& value);

template <class A, class... T>
void each(A& archive, T&... values) {
  (transfer(archive, values), ...);
}

template <class A>
void fields(A& a, Quantity& v) {
  each(a, v.value, v.source, v.reason, v.estimated, v.standard_error);
}
template <class A>
void fields(A& a, Dim3& v) {
  each(a, v.x, v.y, v.z);
}
template <class A>
void fields(A& a, LaunchInfo& v) {
  each(a, v.kernel, v.grid, v.block, v.static_shared_bytes, v.dynamic_shared_bytes, v.registers_per_thread);
}
template <class A>
void fields(A& a, SourceSite& v) {
  each(a, v.file, v.line, v.column);
}
template <class A>
void fields(A& a, Finding& v) {
  each(a, v.kind, v.message, v.site, v.other_site, v.block, v.thread, v.occurrences);
}
template <class A>
void fields(A& a, Verification& v) {
  each(a, v.state, v.scope, v.checked, v.wrong, v.nan, v.first_index, v.buffer, v.got, v.expected, v.max_error);
}
template <class A>
void fields(A& a, Timing& v) {
  each(a, v.samples_us, v.cache_mode, v.discarded_throttled, v.sm_clock_mhz, v.note);
}
template <class A>
void fields(A& a, ParamSet& v) {
  ParamSet::Map values = v.values();
  transfer(a, values);
  if constexpr (A::reading) {
    for (auto& [name, value] : values) v.set(name, std::move(value));
  }
}
template <class A>
void fields(A& a, Point& v) {
  each(a, v.variant, v.params, v.seed);
}
// What the worker fills in; the rest of a result is the parent's.
template <class A>
void fields(A& a, PointResult& v) {
  each(a, v.point, v.backend, v.status, v.reason, v.launches, v.blocks_run, v.blocks_total, v.flops,
       v.compulsory_load_bytes, v.compulsory_store_bytes, v.facts, v.counters, v.findings, v.expected_finding,
       v.verification, v.timing, v.warnings, v.wall_seconds);
}
template <class A>
void fields(A& a, RunOptions& v) {
  each(a, v.point_time_limit_s, v.memory_limit_bytes, v.verify, v.gpu, v.cold_l2, v.max_noise, v.max_time_s,
       v.min_samples, v.counters, v.count);
}
template <class A>
void fields(A& a, Gpu& v) {
  each(a, v.index, v.name, v.uuid, v.bus_id, v.compute_capability_major, v.compute_capability_minor, v.sm_count,
       v.clock_mhz, v.memory_clock_mhz, v.bus_width_bits, v.memory_bytes, v.l2_bytes, v.threads_per_sm, v.blocks_per_sm,
       v.registers_per_sm, v.registers_per_block, v.shared_per_sm, v.shared_per_block, v.shared_per_block_opt_in,
       v.shared_reserved, v.mig);
}
template <class A>
void fields(A& a, Machine& v) {
  each(a, v.reason, v.remedy, v.driver_version, v.runtime_version, v.driver_release, v.gpus);
}
template <class A>
void fields(A& a, Request& v) {
  each(a, v.kind, v.point, v.options);
}
template <class A>
void fields(A& a, Answer& v) {
  each(a, v.machine, v.result, v.context_lost);
}

template <class A, class T>
void transfer(A& archive, std::vector<T>& value) {
  const std::size_t size = transfer_size(archive, value.size());
  if constexpr (A::reading) value.clear();
  for (std::size_t i = 0; i < size; ++i) {
    if constexpr (A::reading) value.emplace_back();
    transfer(archive, value[i]);
  }
}

template <class A, class T>
void transfer(A& archive, std::optional<T>& value) {
  bool has = value.has_value();
  transfer(archive, has);
  if constexpr (A::reading) value = has ? std::optional<T>(T{}) : std::nullopt;
  if (has) transfer(archive, *value);
}

template <class A, class K, class V, class C>
void transfer(A& archive, std::map<K, V, C>& value) {
  const std::size_t size = transfer_size(archive, value.size());
  if constexpr (A::reading) {
    value.clear();
    for (std::size_t i = 0; i < size; ++i) {
      K key;
      transfer(archive, key);
      transfer(archive, value[std::move(key)]);
    }
  } else {
    for (auto& [key, item] : value) {
      K copy = key;
      each(archive, copy, item);
    }
  }
}

template <class T, class... All>
void emplace_alternative(std::variant<All...>& value, std::size_t wanted, std::size_t& index) {
  if (index++ == wanted) value = T{};
}

template <class A, class... T>
void transfer(A& archive, std::variant<T...>& value) {
  const std::size_t wanted = transfer_size(archive, value.index());
  if constexpr (A::reading) {
    if (wanted >= sizeof...(T)) throw std::runtime_error("a message between gpuexp and its worker is garbled");
    std::size_t index = 0;
    (emplace_alternative<T>(value, wanted, index), ...);
  }
  std::visit(
      [&](auto& alternative) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(alternative)>, std::monostate>) {
          transfer(archive, alternative);
        }
      },
      value);
}

template <class A, class T>
requires requires(A& archive, T& value) { fields(archive, value); }
void transfer(A& archive, T& value) { fields(archive, value); }

template <class T>
std::string encoded(T message) {
  Writer writer;
  transfer(writer, message);
  return std::move(writer.text);
}

template <class T>
T decoded(std::string_view bytes) {
  Reader reader(bytes);
  T message;
  transfer(reader, message);
  if (!reader.rest.empty()) throw std::runtime_error("a message between gpuexp and its worker has bytes left over");
  return message;
}

}  // namespace

std::string encode(const Request& request) { return encoded(request); }
std::string encode(const Answer& answer) { return encoded(answer); }
Request decode_request(std::string_view bytes) { return decoded<Request>(bytes); }
Answer decode_answer(std::string_view bytes) { return decoded<Answer>(bytes); }

}  // namespace gpuexp::cuda
