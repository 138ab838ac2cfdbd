// Expands an experiment: which variants take which axes, how many points that makes, and then the points in order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/nearest.h"
#include "profiler/experiment/edits.h"
#include "profiler/experiment/experiment.h"
#include "profiler/experiment/json_tree.h"
#include "profiler/registry/registry.h"

namespace gpuexp {
namespace {

using Groups = std::vector<std::vector<Axis>>;

// A variant that takes part in a sweep.
struct Selected {
  const Variant* variant = nullptr;
  bool exact = false;  // named in full, not met through a glob
  std::vector<ParamSpec> specs;

  [[nodiscard]] const ParamSpec* spec(std::string_view name) const {
    const auto found = std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& s) { return s.name == name; });
    return found == specs.end() ? nullptr : &*found;
  }
};

// One step of a group: parameters that are set together.
using Row = std::vector<std::pair<std::string, ParamValue>>;

// A variant with the rows of every group that it takes part in.
struct Expansion {
  Selected selected;
  std::vector<std::vector<Row>> groups;
};

std::vector<std::string> parameter_names(const Selected& selected) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : selected.specs) names.push_back(spec.name);
  return names;
}

std::vector<std::string> variant_names(const std::vector<Selected>& selection) {
  std::vector<std::string> names;
  for (const Selected& selected : selection) names.push_back(selected.variant->name);
  return names;
}

// A value as it was written: words that read as a number, and reals without a fraction, show that they are.
std::string shown(const ParamValue& value) {
  const std::string text = to_text(value);
  if (std::holds_alternative<std::int64_t>(value)) return text;
  const bool integer = std::holds_alternative<std::int64_t>(value_from_text(text));
  if (!integer) return text;
  return std::holds_alternative<double>(value) ? text + ".0" : fmt::format("\"{}\"", text);
}

// Follows default_from to the parameter whose default tells the kind.
const ParamValue& kind_of(const Selected& selected, const ParamSpec& spec) {
  const ParamSpec* origin = &spec;
  for (std::size_t step = 0; step < selected.specs.size() && !origin->default_from.empty(); ++step) {
    const ParamSpec* next = selected.spec(origin->default_from);
    if (!next) break;
    origin = next;
  }
  return origin->default_value;
}

double distance(const ParamValue& value, double wanted) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::abs(static_cast<double>(*integer) - wanted);
  if (const auto* real = std::get_if<double>(&value)) return std::abs(*real - wanted);
  return std::numeric_limits<double>::infinity();
}

// "accepted: 1, 2, 4; nearest: 4"
std::string accepted_values(const std::vector<ParamValue>& accepted, const ParamValue& wanted) {
  std::vector<std::string> texts;
  for (const ParamValue& value : accepted) texts.push_back(to_text(value));
  std::string text = "accepted: " + list_names(texts);
  if (std::holds_alternative<std::string>(wanted)) return text + did_you_mean(std::get<std::string>(wanted), texts);
  const auto* integer = std::get_if<std::int64_t>(&wanted);
  const double number = integer ? static_cast<double>(*integer) : std::get<double>(wanted);
  const auto nearest = std::min_element(accepted.begin(), accepted.end(), [&](const auto& a, const auto& b) {
    return distance(a, number) < distance(b, number);
  });
  const bool is_number = nearest != accepted.end() && !std::holds_alternative<std::string>(*nearest);
  return is_number ? text + "; nearest: " + to_text(*nearest) : text;
}

// Why a variant refuses a value, as "accepted: ..."; empty when it accepts it.
std::string refusal(const Selected& selected, const ParamSpec& spec, const ParamValue& value) {
  if (const std::vector<ParamValue> compiled = selected.variant->compiled_values(spec.name); !compiled.empty()) {
    const bool found = std::find(compiled.begin(), compiled.end(), value) != compiled.end();
    return found ? "" : accepted_values(compiled, value);
  }
  const ParamValue& kind = kind_of(selected, spec);
  if (std::holds_alternative<std::string>(kind)) {
    if (std::holds_alternative<std::string>(value) && (spec.words.empty() || spec.words.contains(to_text(value)))) {
      return "";
    }
    std::vector<ParamValue> words;
    for (const auto& [word, meaning] : spec.words) words.emplace_back(word);
    return words.empty() ? "accepted: a word" : accepted_values(words, value);
  }
  if (std::holds_alternative<double>(kind)) {
    return std::holds_alternative<std::string>(value) ? "accepted: a number" : "";
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer && *integer >= spec.min && *integer <= spec.max) return "";
  const std::string range = fmt::format("accepted: integers from {} to {}", spec.min, spec.max);
  return integer ? fmt::format("{}; nearest: {}", range, std::clamp(*integer, spec.min, spec.max)) : range;
}

class Planner {
 public:
  Planner(const Experiment& experiment, const PlanEdits& edits)
      : experiment_(experiment),
        flags_(axes_from_flags(edits.sets)),
        filter_(filter_terms(edits.filters)),
        flag_values_taken_(flags_.size()) {
    for (std::size_t i = 0; i < flags_.size(); ++i) flag_values_taken_[i].resize(flags_[i].values.size());
    flag_taken_.resize(flags_.size());
  }

  Plan make(const PlanEdits& edits) {
    find_kept();
    std::vector<std::vector<Expansion>> expansions;
    std::uint64_t total = 0;
    for (const Sweep& sweep : experiment_.sweeps) {
      expansions.push_back(prepare(sweep));
      total = count(sweep, expansions.back(), total);
    }
    check_flags();
    Plan plan;
    for (std::size_t i = 0; i < expansions.size(); ++i) expand(experiment_.sweeps[i], expansions[i], plan.points);
    plan.name = experiment_.name;
    plan.points = filter_points(std::move(plan.points), filter_, experiment_.source, left_out());
    plan.experiment = experiment_;
    plan.edits = edits;
    plan.notes = all_notes();
    return plan;
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& what) const {
    const bool is_path = place.starts_with("/");
    throw Error(ExitCode::usage, is_path ? fmt::format("{}: {}: {}", experiment_.source, place, what)
                                         : fmt::format("{}: {}", place, what));
  }

  static std::string place_of_value(const Axis& axis, std::size_t index) {
    return axis.from_flag ? axis.place : json_path(axis.place, index);
  }

  std::vector<Selected> select(const Sweep& sweep) const {
    std::vector<Selected> selection;
    for (std::size_t i = 0; i < sweep.variants.size(); ++i) {
      const std::string& wanted = sweep.variants[i];
      std::vector<const Variant*> matches;
      try {
        matches = match_variants(wanted);
      } catch (const Error& error) {
        const std::string place = json_path(sweep.place, "variant");
        fail(sweep.variant_is_list ? json_path(place, i) : place, error.what());
      }
      for (const Variant* variant : matches) add(selection, variant, !is_glob(wanted));
    }
    return selection;
  }

  static void add(std::vector<Selected>& selection, const Variant* variant, bool exact) {
    for (Selected& selected : selection) {
      if (selected.variant != variant) continue;
      selected.exact = selected.exact || exact;
      return;
    }
    selection.push_back({variant, exact, params_of(*variant)});
  }

  // Which variants --filter can keep: those that a --set is for. All of them when a term is a mistake, which
  // filter_points() then names.
  void find_kept() {
    std::vector<Selected> all;
    for (const Sweep& sweep : experiment_.sweeps) {
      for (const Selected& selected : select(sweep)) add(all, selected.variant, selected.exact);
    }
    for (const FilterTerm& term : filter_) {
      for (const std::string& alternative : term.alternatives) {
        const bool known = std::any_of(all.begin(), all.end(), [&](const Selected& selected) {
          return term.parameter.empty() ? variant_matches(alternative, selected.variant->name)
                                        : selected.spec(term.parameter) != nullptr;
        });
        if (!known) return;
      }
    }
    for (const Selected& selected : all) {
      const bool keeps = std::all_of(filter_.begin(), filter_.end(), [&](const FilterTerm& term) {
        if (!term.parameter.empty()) return selected.spec(term.parameter) != nullptr;
        return std::any_of(term.alternatives.begin(), term.alternatives.end(), [&](const std::string& alternative) {
          return variant_matches(alternative, selected.variant->name);
        });
      });
      if (keeps) kept_.insert(selected.variant->name);
    }
  }

  [[nodiscard]] bool kept(const std::string& variant) const { return kept_.empty() || kept_.contains(variant); }

  // The sweep's groups as --set changes them.
  Groups edited_groups(const Sweep& sweep) const {
    Groups groups = sweep.groups;
    for (const Axis& flag : flags_) {
      if (!replace(groups, flag)) groups.push_back({flag});
    }
    return groups;
  }

  bool replace(Groups& groups, const Axis& flag) const {
    for (std::vector<Axis>& group : groups) {
      for (Axis& axis : group) {
        if (axis.name != flag.name) continue;
        const std::size_t length = axis.values.size();
        const bool zipped = group.size() > 1;
        if (zipped && flag.values.size() != 1 && flag.values.size() != length) {
          fail(flag.place, fmt::format("{} advances together with other axes at {}: give it 1 value or {}", flag.name,
                                       axis.place, length));
        }
        axis = flag;
        if (zipped && flag.values.size() == 1) axis.values.assign(length, flag.values.front());
        return true;
      }
    }
    return false;
  }

  void note_flag(const Axis& axis, const ParamValue* accepted) {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      if (flags_[i].name != axis.name) continue;
      flag_taken_[i] = true;
      for (std::size_t v = 0; accepted && v < flags_[i].values.size(); ++v) {
        if (flags_[i].values[v] == *accepted) flag_values_taken_[i][v] = true;
      }
    }
  }

  void check_names(const Axis& axis, const std::vector<Selected>& selection) {
    std::vector<std::string> known;
    bool taken = false;
    for (const Selected& selected : selection) {
      for (std::string& name : parameter_names(selected)) {
        if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(std::move(name));
      }
      taken = taken || selected.spec(axis.name);
    }
    if (axis.from_flag) {
      if (taken) note_flag(axis, nullptr);
      known_parameters_.insert(known_parameters_.end(), known.begin(), known.end());
      return;
    }
    if (!taken) {
      fail(axis.place, fmt::format("{} {} no parameter '{}'; accepted: {}{}", list_names(variant_names(selection), 4),
                                   selection.size() == 1 ? "has" : "have", axis.name, list_names(known),
                                   did_you_mean(axis.name, known)));
    }
    for (const Selected& selected : selection) {
      if (!selected.exact || selected.spec(axis.name)) continue;
      fail(axis.place, fmt::format("{} has no parameter '{}', which other variants here have; it takes: {}; give it an "
                                   "entry of its own in \"experiments\"",
                                   selected.variant->name, axis.name, list_names(parameter_names(selected))));
    }
  }

  void check_values(const Axis& axis, const std::vector<Selected>& selection) {
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      bool accepted = false;
      std::string refused;
      for (const Selected& selected : selection) {
        const ParamSpec* spec = selected.spec(axis.name);
        if (!spec) continue;
        const std::string why = refusal(selected, *spec, axis.values[i]);
        accepted = accepted || why.empty();
        if (why.empty()) continue;
        if (refused.empty() || selected.exact) {
          refused = fmt::format("{} does not accept {}={}; {} ({}: {})", selected.variant->name, axis.name,
                                shown(axis.values[i]), why, axis.name, spec->meaning);
        }
        if (selected.exact && !axis.from_flag) fail(place_of_value(axis, i), refused);
      }
      if (axis.from_flag) {
        if (accepted) note_flag(axis, &axis.values[i]);
        if (!refused.empty()) flag_refusals_.emplace_back(axis.name, axis.values[i], refused);
      } else if (!accepted && !refused.empty()) {
        fail(place_of_value(axis, i), refused);
      }
    }
  }

  // A --set must be taken somewhere in the experiment, each of its values too.
  void check_flags() const {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      const Axis& flag = flags_[i];
      if (!flag_taken_[i]) {
        std::vector<std::string> known = known_parameters_;
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        fail(flag.place, fmt::format("no variant of {}{} has a parameter '{}'; accepted: {}{}", experiment_.source,
                                     kept_.empty() || filter_.empty() ? "" : " that --filter keeps", flag.name,
                                     list_names(known), did_you_mean(flag.name, known)));
      }
      for (std::size_t v = 0; v < flag.values.size(); ++v) {
        if (flag_values_taken_[i][v]) continue;
        for (const auto& [name, value, why] : flag_refusals_) {
          if (name == flag.name && value == flag.values[v]) fail(flag.place, why);
        }
      }
    }
  }

  void check_exclusions(const Sweep& sweep, const std::vector<Selected>& selection) const {
    for (const Exclusion& exclusion : sweep.exclusions) {
      for (const Axis& match : exclusion.match) {
        std::vector<std::string> known = {"variant"};
        for (const Selected& selected : selection) {
          for (std::string& name : parameter_names(selected)) known.push_back(std::move(name));
        }
        if (std::find(known.begin(), known.end(), match.name) != known.end()) continue;
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        fail(match.place, fmt::format("no variant of this entry has a parameter '{}'; accepted: {}{}", match.name,
                                      list_names(known), did_you_mean(match.name, known)));
      }
    }
  }

  std::vector<Expansion> prepare(const Sweep& sweep) {
    std::vector<Selected> selection = select(sweep), kept_selection = selection;
    std::erase_if(kept_selection, [&](const Selected& selected) { return !kept(selected.variant->name); });
    const Groups groups = kept_selection.empty() ? sweep.groups : edited_groups(sweep);
    for (const std::vector<Axis>& group : groups) {
      for (const Axis& axis : group) {
        check_names(axis, axis.from_flag ? kept_selection : selection);
        check_values(axis, axis.from_flag ? kept_selection : selection);
      }
    }
    check_exclusions(sweep, selection);
    std::vector<Expansion> expansions;
    for (Selected& selected : selection) {
      Expansion expansion{std::move(selected), {}};
      for (const std::vector<Axis>& group : groups) add_group(expansion, group);
      expansions.push_back(std::move(expansion));
    }
    return expansions;
  }

  // The rows of a group that the variant can run: of the parameters it takes, with values it accepts.
  void add_group(Expansion& expansion, const std::vector<Axis>& group) {
    const Selected& selected = expansion.selected;
    std::vector<const Axis*> axes;
    for (const Axis& axis : group) {
      if (selected.spec(axis.name)) axes.push_back(&axis);
    }
    if (axes.empty()) return;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < group.front().values.size(); ++i) {
      Row row;
      for (const Axis* axis : axes) {
        const std::string why = refusal(selected, *selected.spec(axis->name), axis->values[i]);
        if (why.empty()) {
          row.emplace_back(axis->name, axis->values[i]);
        } else {
          const std::string what = fmt::format("{}={} left out; {}", axis->name, to_text(axis->values[i]), why);
          if (kept(selected.variant->name)) add_note(fmt::format("{}: {}", selected.variant->name, what));
          refused_.emplace(selected.variant->name, what);
        }
      }
      if (row.size() == axes.size()) rows.push_back(std::move(row));
    }
    expansion.groups.push_back(std::move(rows));
  }

  void add_note(std::string note) {
    if (noted_.insert(note).second) notes_.push_back(std::move(note));
  }

  // Points so far plus those of this sweep, before exclusions; refuses too many before any is made.
  std::uint64_t count(const Sweep& sweep, const std::vector<Expansion>& expansions, std::uint64_t before) const {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t total = before;
    for (const Expansion& expansion : expansions) {
      std::uint64_t product = 1;
      for (const std::vector<Row>& rows : expansion.groups) {
        product = rows.empty() ? 0 : product > most / rows.size() ? most : product * rows.size();
      }
      total = product > most - total ? most : total + product;
    }
    if (total <= max_plan_points) return total;
    fail(sweep.place,
         fmt::format("{}{} points{}; a plan has at most {}: shorten an axis or split the experiment",
                     total == most ? "more than " : "", total,
                     before ? fmt::format(" together with the entries before it ({})", before) : "", max_plan_points));
  }

  static bool matches(const Exclusion& exclusion, const Variant& variant, const ParamSet& params) {
    if (!exclusion.variant.empty() && !variant_matches(exclusion.variant, variant.name)) return false;
    return std::all_of(exclusion.match.begin(), exclusion.match.end(), [&](const Axis& axis) {
      const ParamValue* value = params.find(axis.name);
      return value && std::any_of(axis.values.begin(), axis.values.end(),
                                  [&](const ParamValue& wanted) { return same_value(wanted, *value); });
    });
  }

  // Whether an exclusion matches; every one that does is marked as used.
  static bool excluded(const Sweep& sweep, const Variant& variant, const ParamSet& params, std::vector<bool>& used) {
    bool any = false;
    for (std::size_t i = 0; i < sweep.exclusions.size(); ++i) {
      if (!matches(sweep.exclusions[i], variant, params)) continue;
      used[i] = true;
      any = true;
    }
    return any;
  }

  void expand(const Sweep& sweep, const std::vector<Expansion>& expansions, std::vector<Point>& points) {
    std::vector<bool> used(sweep.exclusions.size());
    bool any = false;
    for (const Expansion& expansion : expansions) {
      const bool empty = std::any_of(expansion.groups.begin(), expansion.groups.end(),
                                     [](const std::vector<Row>& rows) { return rows.empty(); });
      if (!empty) any = expand_variant(sweep, expansion, used, points) || any;
    }
    const bool is_kept = std::any_of(expansions.begin(), expansions.end(), [&](const Expansion& expansion) {
      return kept(expansion.selected.variant->name);
    });
    if (!any && is_kept) fail(sweep.place, "no point is left of this entry" + left_out_reason(sweep));
    for (std::size_t i = 0; i < used.size(); ++i) {
      // After --set an exclusion may have nothing left to do.
      if (used[i] || !flags_.empty()) continue;
      fail(sweep.exclusions[i].place, "excludes nothing: no point of this entry matches it");
    }
  }

  [[nodiscard]] std::string left_out_reason(const Sweep& sweep) const {
    if (const std::vector<std::string> notes = all_notes(); !notes.empty()) return ": " + notes.back();
    return sweep.exclusions.empty() ? "" : ": \"exclude\" matches all of them";
  }

  // Counts up like an odometer, the last group fastest. Returns whether the variant has any point.
  bool expand_variant(const Sweep& sweep, const Expansion& expansion, std::vector<bool>& used,
                      std::vector<Point>& points) {
    std::vector<std::size_t> at(expansion.groups.size(), 0);
    bool any = false;
    while (true) {
      ParamSet given;
      for (std::size_t g = 0; g < at.size(); ++g) {
        for (const auto& [name, value] : expansion.groups[g][at[g]]) given.set(name, value);
      }
      any = add_points(sweep, expansion.selected, given, used, points) || any;
      std::size_t g = at.size();
      while (g > 0 && ++at[g - 1] == expansion.groups[g - 1].size()) at[--g] = 0;
      if (g == 0) return any;
    }
  }

  // Adds what a combination stands for: one point, or several where a parameter names cases (the rows of a file).
  bool add_points(const Sweep& sweep, const Selected& selected, const ParamSet& given, std::vector<bool>& used,
                  std::vector<Point>& points) {
    std::vector<ParamSet> cases;
    try {
      cases = expand_params(*selected.variant, given);
    } catch (const Error& error) {
      // Each value alone is accepted; the combination is not. It may be excluded for just that reason.
      if (excluded(sweep, *selected.variant, given, used)) return false;
      const bool from_flag =
          std::any_of(flags_.begin(), flags_.end(), [&](const Axis& flag) { return given.find(flag.name); });
      if (selected.exact && !from_flag)
        fail(sweep.place, fmt::format("{} {}: {}", selected.variant->name, given.to_text(), error.what()));
      note_combination(*selected.variant, given, error.what());
      return false;
    }
    bool any = false;
    for (ParamSet& params : cases) {
      if (excluded(sweep, *selected.variant, params, used)) continue;
      any = true;
      Point point{selected.variant->name, std::move(params), experiment_.seed};
      if (!keys_.insert(point.key()).second) continue;
      if (points.size() == max_plan_points) {
        fail(sweep.place, fmt::format("more than {} points; a plan has at most that many", max_plan_points));
      }
      points.push_back(std::move(point));
    }
    return any;
  }

  // Combinations can be many: one note per variant, with their number and the first.
  void note_combination(const Variant& variant, const ParamSet& given, std::string_view why) {
    LeftOut& left_out = combinations_[variant.name];
    if (left_out.count++ == 0) left_out.first = fmt::format("{}: {}", given.to_text(), why);
  }

  [[nodiscard]] std::vector<std::string> all_notes() const {
    std::vector<std::string> notes = notes_;
    for (const auto& [variant, left_out] : combinations_) {
      if (!kept(variant)) continue;
      notes.push_back(left_out.count == 1 ? fmt::format("{} left out: {}", variant, left_out.first)
                                          : fmt::format("{}: {} combinations left out, the first {}", variant,
                                                        left_out.count, left_out.first));
    }
    return notes;
  }

  // By variant: why values or combinations of it were left out.
  [[nodiscard]] std::map<std::string, std::string> left_out() const {
    std::map<std::string, std::string> reasons = refused_;
    for (const auto& [variant, left_out] : combinations_) reasons.emplace(variant, left_out.first);
    return reasons;
  }

  struct LeftOut {
    std::uint64_t count = 0;
    std::string first;
  };

  struct FlagRefusal {
    FlagRefusal(std::string n, ParamValue v, std::string w)
        : name(std::move(n)), value(std::move(v)), why(std::move(w)) {}
    std::string name;
    ParamValue value;
    std::string why;
  };

  const Experiment& experiment_;
  std::vector<Axis> flags_;
  std::vector<FilterTerm> filter_;
  std::unordered_set<std::string> kept_;              // variants that --filter can keep; empty: all
  std::vector<bool> flag_taken_;                      // by flag: some variant has the parameter
  std::vector<std::vector<bool>> flag_values_taken_;  // by flag and value: some variant accepts it
  std::vector<FlagRefusal> flag_refusals_;
  std::vector<std::string> known_parameters_;
  std::vector<std::string> notes_;
  std::unordered_set<std::string> noted_;
  std::map<std::string, std::string> refused_;   // by variant: its first value left out
  std::map<std::string, LeftOut> combinations_;  // by variant
  std::unordered_set<std::string> keys_;
};

}  // namespace

Plan make_plan(const Experiment& experiment, const PlanEdits& edits) { return Planner(experiment, edits).make(edits); }

}  // namespace gpuexp
