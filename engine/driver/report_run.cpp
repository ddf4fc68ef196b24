#include "engine/driver/report_run.hpp"

#include "engine/driver/json.hpp"
#include "engine/driver/report_sync.hpp"
#include "engine/driver/report_words.hpp"
#include "engine/ir/walk.hpp"
#include "engine/time/replay.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace pto::driver {

using json = nlohmann::ordered_json;

namespace {

/// Findings in the generated text are shown at the user's place.
Span users(const Compiled& c, Span at) {
    if (!c.generated || at.file != c.generated_file) return at;
    Span origin = c.generated->origin(at.begin, at.end);
    return origin.valid() ? origin : at;
}

bool is_race(const execute::Hazard& h) {
    return h.kind == execute::HazardKind::race || h.kind == execute::HazardKind::block_race || h.kind == execute::HazardKind::same_pipe;
}

/// One line of the source a place points at, without its indentation; long ones are cut.
std::string source_text(const Span& at, const SourceMap& sources) {
    std::string text(sources.text(at));
    for (char& ch : text)
        if (ch == '\n') ch = ' ';
    std::string out;
    for (char ch : text)
        if (ch != ' ' || (!out.empty() && out.back() != ' ')) out += ch;
    return out.size() > 60 ? out.substr(0, 57) + "..." : out;
}

report::RaceAccess access_of(const Compiled& c, const execute::Place& p, const SourceMap& sources, bool with_block) {
    report::RaceAccess a;
    a.writes = p.writes;
    a.core = execute::text(p.core);
    a.pipe = std::string(isa::name(p.pipe));
    Span at = users(c, p.at);
    a.text = source_text(at, sources);
    if (a.text.empty()) a.text = p.operation;
    a.place = place_of(at, sources);
    a.stage = p.stage;
    a.task = std::int32_t(p.task);
    a.iteration = execute::text(p.iterations);
    if (with_block) a.block = p.core.block;
    return a;
}

std::string exposure_text(const Exposure& e) {
    if (!e.tried) return {};
    if (e.order.empty()) return "none of the " + std::to_string(e.tried) + " orders tried for it turns the two round";
    std::string out = e.order + " turns the two round: ";
    if (e.hangs) return out + "the run hangs";
    if (!e.bytes) return out + "no value of this launch changes";
    return out + e.arguments + (e.arguments.find(',') == std::string::npos ? " differs in " : " differ in ") + std::to_string(e.bytes) + " bytes";
}

Code code_of(execute::HazardKind k) {
    switch (k) {
    case execute::HazardKind::race: return Code::verify_race;
    case execute::HazardKind::block_race: return Code::run_block_race;
    case execute::HazardKind::same_pipe: return Code::verify_same_pipe;
    case execute::HazardKind::flag_twice: return Code::verify_flag;
    case execute::HazardKind::flag_left: return Code::verify_flag_left;
    case execute::HazardKind::counter_left: return Code::verify_left;
    case execute::HazardKind::counter_overflow: return Code::verify_overflow;
    case execute::HazardKind::lock_left:
    case execute::HazardKind::lock_unbalanced: return Code::verify_lock;
    case execute::HazardKind::uninitialised:
    case execute::HazardKind::uninitialised_register: return Code::run_uninitialised;
    default: return Code::run_finding;
    }
}

/// Sums whose bits the order of blocks decides.
bool adds_floats_atomically(const ir::Kernel& kernel) {
    bool found = false;
    for (const auto* f : {&kernel.cube, &kernel.vector})
        if (*f)
            ir::for_each_statement((*f)->body, [&](const ir::Stmt& s) {
                const auto* op = std::get_if<ir::Op>(&s.what);
                if (!op || op->row->semantics != isa::Semantics::store) return;
                const int at = op->row->keyword_index("atomic");
                const auto* mode = at < 0 ? nullptr : std::get_if<isa::EnumValue>(&op->attributes[std::size_t(at)]);
                const auto* to = std::get_if<ir::TensorId>(&op->operands[0]);
                if (mode && to && mode->as<isa::AtomicType>() == isa::AtomicType::add) found = found || isa::is_float((**f)[*to].dtype);
            });
    return found;
}

} // namespace

report::Provenance run_provenance(const Run& r) {
    std::string checked = "happens-before";
    if (!r.hostile.empty()) checked += ", " + std::to_string(r.hostile.size()) + " further orders";
    return report::Provenance(r.computed_by, checked, {});
}

report::Race report_race(const Compiled& c, const Run& r, const SourceMap& sources) {
    report::Race out{run_provenance(r), c.name, preload_text(c), false, "found by order, not by timing", "", {}, {}};
    for (std::size_t index = 0; index < r.outcome.hazards.size(); ++index) {
        const execute::Hazard& h = r.outcome.hazards[index];
        if (!is_race(h)) continue;
        bool across = h.kind == execute::HazardKind::block_race;
        report::RacePair p;
        std::size_t slot = h.what.find(" slot ");
        p.buffer = h.what.substr(0, slot);
        if (slot != std::string::npos) p.slot = std::atoi(h.what.c_str() + slot + 6);
        bool second_writes = h.second.writes && !h.first.writes;
        p.first = access_of(c, second_writes ? h.second : h.first, sources, across);
        p.second = access_of(c, second_writes ? h.first : h.second, sources, across);
        p.memory = memory_word(h.memory);
        p.from = h.begin;
        p.to = h.end;
        if (h.row_begin >= 0) p.bytes_note = "rows " + std::to_string(h.row_begin) + "-" + std::to_string(h.row_end - 1);
        else if (h.pieces > 1)
            p.bytes_note = std::to_string(h.pieces) + " pieces of " + std::to_string(h.piece_bytes) + " bytes every " + std::to_string(h.piece_stride);
        p.order = h.order;
        if (index < r.exposures.size()) p.luck = exposure_text(r.exposures[index]);
        if (!h.repair.empty()) p.fix.push_back(h.repair);
        p.same_pipe = h.kind == execute::HazardKind::same_pipe;
        if (h.count > 1) {
            std::string tasks;
            for (auto [a, b] : h.tasks)
                if (a >= 0 && b >= 0) tasks += (tasks.empty() ? "" : ", ") + ("tasks " + std::to_string(a) + " and " + std::to_string(b));
            for (const auto& [a, b] : h.times)
                if (h.tasks.empty() || h.tasks.front().first < 0)
                    tasks += (tasks.empty() ? "" : "; ") + ("iterations " + (a.empty() ? "before" : a) + " and " + (b.empty() ? "after" : b));
            out.same.push_back(std::to_string(h.count) + " pairs" + (tasks.empty() ? "" : " (" + tasks + ")") + ", reported once");
        }
        out.pairs.push_back(std::move(p));
    }
    std::stable_partition(out.pairs.begin(), out.pairs.end(), [](const report::RacePair& p) { return !p.same_pipe; });
    return out;
}

report::Hang report_hang(const Compiled& c, const Run& r, const SourceMap& sources) {
    report::Hang out{run_provenance(r), c.name, preload_text(c)};
    if (!c.generated && c.source.function) out.ran = sources.file(c.source.function->at.file).name;
    const execute::HangReport& h = r.outcome.hang;
    std::vector<execute::StuckPipe> stuck = h.stuck;
    std::stable_partition(stuck.begin(), stuck.end(), [](const execute::StuckPipe& s) { return s.is_cause; });
    std::vector<std::int32_t> row, next; // of each of them: where it stands in `out`, whom it waits for
    for (const execute::StuckPipe& s : stuck) {
        report::StuckPipe p;
        p.cores = execute::text(s.core, r.block_dim > 1);
        p.pipe = std::string(isa::name(s.pipe));
        p.waits_for = s.waits_for;
        p.before = s.at.stage.empty() ? s.at.operation + execute::when(s.at) : s.at.stage + (s.at.task >= 0 ? ", task " + std::to_string(s.at.task) : "");
        p.id = s.id;
        p.stage = s.at.stage;
        p.task = std::int32_t(s.at.task);
        p.sets = s.raised;
        p.waits = s.awaited;
        (s.is_cause ? p.expected : p.because) = s.expected;
        p.place = place_of(users(c, s.at.at), sources);
        if (!s.setters.empty()) p.expected_place = place_of(users(c, s.setters.front().at), sources);
        if (s.queued > 0) p.queue.push_back(std::to_string(s.queued) + " instructions");
        p.cause = s.is_cause;
        // the two vector cores of a block usually stand at the same place
        auto twin = std::find_if(out.stuck.begin(), out.stuck.end(), [&](const report::StuckPipe& o) {
            return o.pipe == p.pipe && o.waits_for == p.waits_for && o.before == p.before && o.cause == p.cause && o.cores != p.cores;
        });
        row.push_back(std::int32_t(twin - out.stuck.begin()));
        next.push_back(s.circle_next);
        if (twin != out.stuck.end()) twin->cores += ", " + p.cores;
        else out.stuck.push_back(std::move(p));
    }
    for (std::size_t i = 0; i < row.size(); ++i) // causes stand first in both lists, so indices agree
        if (next[i] >= 0 && std::size_t(next[i]) < row.size() && row[std::size_t(next[i])] != row[i]) out.stuck[std::size_t(row[i])].waits_on = row[std::size_t(next[i])];
    if (h.circle) {
        std::vector<bool> seen(h.stuck.size(), false);
        for (std::size_t at = 0; at < h.stuck.size() && !seen[at];) {
            seen[at] = true;
            const execute::StuckPipe& s = h.stuck[at];
            std::int32_t next = s.circle_next;
            if (next < 0) break;
            out.circle.push_back(execute::text(s.core) + " " + std::string(isa::name(s.pipe)) + " waits for " + s.waits_for + " from " +
                                 execute::text(h.stuck[std::size_t(next)].core) + " " + std::string(isa::name(h.stuck[std::size_t(next)].pipe)));
            at = std::size_t(next);
        }
    }
    std::vector<std::pair<std::string, std::int64_t>> tasks; // most a core of each stage entered
    for (const execute::StageProgress& s : r.outcome.stages) {
        auto known = std::find_if(out.progress.begin(), out.progress.end(), [&](const report::StageProgress& p) { return p.stage == s.stage; });
        if (known == out.progress.end()) out.progress.push_back({s.stage, s.finished, s.entered});
        else {
            known->done = std::min(known->done, s.finished);
            known->tasks = std::max(known->tasks, s.entered);
        }
    }
    std::int64_t most = 0;
    for (const report::StageProgress& p : out.progress) most = std::max(most, p.tasks);
    for (report::StageProgress& p : out.progress) p.tasks = most;
    return out;
}

report::Refusal report_findings(const Compiled& c, const Run& r, const SourceMap& sources) {
    Diagnostics list;
    const execute::Outcome& o = r.outcome;
    for (Diagnostic d : r.launch) {
        d.at = users(c, d.at);
        list.push_back(std::move(d));
    }
    if (has_errors(r.launch)) return report::refusal_of(list, sources, c.name, run_provenance(r));
    if (o.status == execute::Status::out_of_range || o.status == execute::Status::refused || o.status == execute::Status::limit) {
        Code code = o.status == execute::Status::out_of_range ? Code::run_out_of_range : Code::run_stopped;
        list.push_back(diagnose(code, users(c, o.at), o.message));
    }
    for (const execute::Hazard& h : o.hazards) {
        if (is_race(h) && h.is_error) continue; // a race has a report of its own
        Diagnostic d = diagnose(code_of(h.kind), users(c, h.first.at), h.message);
        d.severity = h.is_error ? Severity::error : Severity::warning;
        if (h.second.at.valid()) d.labels.push_back({users(c, h.second.at), h.second.operation + (h.second.stage.empty() ? "" : " in " + h.second.stage)});
        if (!h.order.empty() && h.order != "in every order") d.message += "; " + h.order;
        if (!h.repair.empty()) d.advice.push_back(h.repair);
        list.push_back(std::move(d));
    }
    return report::refusal_of(list, sources, c.name, run_provenance(r));
}

std::string done_text(const Compiled& c, const Run& r) {
    std::string out;
    if (!r.outcome.record.cores.empty()) {
        time::Timeline t = time::replay(r.outcome.record, *c.chip, {{}, false});
        char us[32];
        std::snprintf(us, sizeof us, "%.3g", t.us(t.total));
        out = "PREDICTED  " + c.name + ": " + us + " us; not compared with anything (%pto_check out ref does)\n";
    }
    out += "computed on " + r.computed_by + ", " + std::to_string(r.block_dim) + (r.block_dim == 1 ? " block" : " blocks") + ", order " +
                      execute::text(r.order) + "; outputs are in the arguments";
    const verify::Verdict* v = c.verdict ? &*c.verdict : nullptr;
    if (v && v->status != verify::Status::proven) out += "\nsync      NOT PROVEN: " + verify::summary(*v);
    if (!r.hostile.empty()) {
        std::size_t same = 0;
        for (const HostileRun& h : r.hostile) same += h.status == execute::Status::done && h.identical;
        out += "\norders    " + std::to_string(same) + " of " + std::to_string(r.hostile.size()) + " further orders gave the same bits";
        for (const HostileRun& h : r.hostile) {
            if (h.status != execute::Status::done) out += "\n          " + execute::text(h.order) + ": " + std::string(execute::name(h.status)) + " " + h.message;
            else if (!h.identical) out += "\n          " + execute::text(h.order) + ": other values";
        }
        const bool others = std::any_of(r.hostile.begin(), r.hostile.end(), [](const HostileRun& h) { return h.status == execute::Status::done && !h.identical; });
        if (others && adds_floats_atomically(*c.kernel()))
            out += "\n          blocks add floats atomically, and they end in any order: compare within a bound (%pto_check), not bit by bit";
    }
    return out;
}

json run_json(const Compiled& c, const Run& r, const SourceMap& sources) {
    json j;
    j["schema"] = 1;
    j["kernel"] = c.name;
    j["status"] = r.status();
    j["computed_by"] = r.computed_by;
    j["checked_by"] = run_provenance(r).checked_by;
    j["block_dim"] = r.block_dim;
    j["order"] = execute::text(r.order);
    j["message"] = r.outcome.message;
    json launch = json::array();
    for (const Diagnostic& d : r.launch)
        launch.push_back({{"code", row(d.code).text}, {"severity", d.severity == Severity::error ? "error" : d.severity == Severity::warning ? "warning" : "note"}, {"message", d.message}});
    j["launch"] = std::move(launch);
    j["seconds"] = r.seconds;
    json hazards = json::array(), orders = json::array();
    for (std::size_t index = 0; index < r.outcome.hazards.size(); ++index) {
        const execute::Hazard& h = r.outcome.hazards[index];
        auto place = [&](const execute::Place& p) {
            report::Place at = place_of(users(c, p.at), sources);
            return json{{"file", at.file}, {"line", at.line}, {"column", at.column}, {"core", execute::text(p.core, r.block_dim > 1)},
                        {"pipe", isa::name(p.pipe)}, {"operation", p.operation}, {"stage", p.stage}, {"task", p.task},
                        {"iteration", execute::text(p.iterations)}, {"writes", p.writes}};
        };
        json row{{"kind", execute::name(h.kind)}, {"severity", h.is_error ? "error" : "warning"}, {"message", h.message}, {"memory", isa::name(h.memory)},
                 {"what", h.what}, {"begin", h.begin}, {"end", h.end}, {"order", h.order}, {"repair", h.repair}, {"count", h.count}, {"first", place(h.first)}};
        if (h.second.at.valid()) row["second"] = place(h.second);
        if (index < r.exposures.size() && r.exposures[index].tried) {
            const Exposure& e = r.exposures[index];
            row["exposed_by"] = e.order;
            row["effect"] = exposure_text(e);
        }
        hazards.push_back(std::move(row));
    }
    for (const HostileRun& h : r.hostile)
        orders.push_back({{"order", execute::text(h.order)}, {"status", execute::name(h.status)}, {"identical", h.identical}});
    j["hazards"] = std::move(hazards);
    j["orders"] = std::move(orders);
    const execute::Statistics& s = r.outcome.statistics;
    j["statistics"] = {{"operations", s.operations}, {"scalar_instructions", s.scalar_instructions}, {"gm_bytes_read", s.gm_bytes_read},
                       {"gm_bytes_written", s.gm_bytes_written}, {"cores", s.cores}};
    if (r.outcome.status == execute::Status::hang) j["hang"] = report::json_of(report_hang(c, r, sources));
    return j;
}

} // namespace pto::driver
