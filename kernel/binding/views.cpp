#include "kernel/binding/views.hpp"

#include "engine/driver/json.hpp"
#include "engine/driver/report_advice.hpp"
#include "engine/driver/report_panel.hpp"
#include "engine/driver/report_run.hpp"
#include "engine/driver/report_sync.hpp"
#include "engine/driver/trace_file.hpp"
#include "engine/emit/emit.hpp"
#include "engine/report/precision.hpp"
#include "engine/report/sweep.hpp"
#include "kernel/views/timeline_extras.hpp"
#include "kernel/views/views.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <stdexcept>

namespace xpto {

using namespace pto;

namespace {

views::ViewOptions options_of(const std::string& lang) {
    std::string chosen = lang;
    if (chosen == "auto" || chosen.empty()) {
        const char* env = std::getenv("LANG");
        chosen = env && std::string(env).rfind("zh", 0) == 0 ? "zh" : "en";
    }
    views::ViewOptions o;
    o.language = chosen == "zh" ? report::Language::zh : report::Language::en;
    return o;
}

View from_bundle(const nlohmann::json& bundle, std::string json) {
    return {bundle.value("text/plain", ""), bundle.value("text/html", ""), std::move(json)};
}

View plain_view(const std::string& text) { return {text, views::pre(text), "{}"}; }

void append(View& to, const View& more) {
    to.text += (to.text.empty() || more.text.empty() ? "" : "\n") + more.text;
    to.html += more.html;
}

std::string cpp_text(const driver::Compiled& c) {
    if (!c.program) return {};
    emit::EmitOptions o;
    o.sources = &Session::get().sources;
    return emit::emit(*c.program, *c.chip, o).files.front().text;
}

report::Panel panel_of(const CompilationHandle& h, const std::string& since) {
    driver::PanelInput input;
    if (h.compiled->ok()) {
        input.prediction = &h.predicted();
        input.cpp = cpp_text(*h.compiled);
    }
    input.since = since;
    input.version = "xpto " XPTO_VERSION;
    return driver::report_panel(*h.compiled, Session::get().sources, input);
}

std::optional<report::Advice> advice_of(const CompilationHandle& h) {
    if (!h.compiled->ok()) return driver::report_advice(*h.compiled, nullptr, "the kernel was refused");
    const driver::Prediction& p = h.predicted();
    return driver::report_advice(*h.compiled, p.timeline ? &*p.timeline : nullptr, p.missing);
}

std::vector<report::PlanStage> stages_of(const driver::Compiled& c) {
    std::vector<report::PlanStage> out;
    for (const report::PlanLoop& l : driver::report_sync_plan(c, Session::get().sources).loops) out.insert(out.end(), l.stages.begin(), l.stages.end());
    return out;
}

} // namespace

std::string refusal_text(const driver::Compiled& c, const std::string& lang) {
    return report::to_text(driver::report_refusal(c, Session::get().sources), options_of(lang).language);
}

nlohmann::ordered_json json_with_prediction(const CompilationHandle& h) {
    nlohmann::ordered_json j = driver::json_of(*h.compiled, Session::get().sources);
    if (h.compiled->ok()) {
        const driver::Prediction& p = h.predicted();
        j["predicted"] = driver::prediction_json(p);
        if (!p.timeline) j["not_predicted"] = p.missing;
    }
    if (auto advice = advice_of(h)) j["advice"] = report::json_of(*advice);
    return j;
}

std::string changes_since(const driver::Compiled& before, const driver::Compiled& now) {
    std::string out;
    auto add = [&](const std::string& s) { out += (out.empty() ? "" : ", ") + s; };
    if (before.preload != now.preload && !before.preload.empty() && !now.preload.empty())
        add("preload " + std::to_string(before.preload[0]) + " -> " + std::to_string(now.preload[0]));
    if (before.chip && now.chip && before.chip != now.chip) add("target " + before.chip->name + " -> " + now.chip->name);
    if (before.generated && now.generated) add(before.generated->text == now.generated->text ? "plan the same" : "plan redrawn");
    return out;
}

View view_of(const CompilationHandle& h, const std::string& name, const std::string& lang, const std::string& since) {
    const driver::Compiled& c = *h.compiled;
    const SourceMap& sources = Session::get().sources;
    views::ViewOptions options = options_of(lang);
    if (name == "panel") {
        options.plan_changed = since.find("plan the same") == std::string::npos;
        return from_bundle(views::mime_bundle(panel_of(h, since), options), json_with_prediction(h).dump());
    }
    if (name == "refusal") {
        report::Refusal r = driver::report_refusal(c, sources);
        return from_bundle(views::mime_bundle(r, options), report::json_of(r).dump());
    }
    if (name == "advice") {
        const auto advice = advice_of(h);
        if (!advice) return plain_view(c.ok() ? "no pipeline loop: no preload to advise on" : refusal_text(c, lang));
        return from_bundle(views::mime_bundle(*advice, options), report::json_of(*advice).dump());
    }
    if (!c.ok()) return plain_view(refusal_text(c, lang));
    if (name == "sync") {
        report::SyncPlan plan = driver::report_sync_plan(c, sources);
        nlohmann::json data = report::json_of(plan);
        View v = from_bundle(views::mime_bundle(plan, options), {});
        if (const auto advice = advice_of(h)) {
            append(v, from_bundle(views::mime_bundle(*advice, options), {}));
            data["advice"] = report::json_of(*advice);
        }
        v.json = data.dump();
        return v;
    }
    if (name == "timeline") {
        const driver::Prediction& p = h.predicted();
        if (!p.timeline) return plain_view("no predicted timeline: " + p.missing);
        return from_bundle(views::mime_bundle(*p.timeline, options), report::json_of(*p.timeline).dump());
    }
    if (name == "memory") {
        report::MemoryMap map = driver::report_memory_map(c, sources);
        return from_bundle(views::mime_bundle(map, stages_of(c), options), report::json_of(map).dump());
    }
    if (name == "diff") {
        auto diff = driver::report_code_diff(c, sources);
        if (!diff) return plain_view("no pipeline loop: nothing was generated");
        return from_bundle(views::mime_bundle(*diff, options), report::json_of(*diff).dump());
    }
    if (name == "code") {
        if (!c.generated) return plain_view("no pipeline loop: the kernel runs as it is written");
        return from_bundle(views::code_bundle(c.generated->file_name, c.generated->text, views::CodeKind::python, options), "{}");
    }
    if (name == "cpp") return from_bundle(views::code_bundle("kernel.cpp", cpp_text(c), views::CodeKind::cpp, options), "{}");
    throw std::invalid_argument("no view is called " + name);
}

View view_of(const driver::Compiled& c, const driver::Run& run, const std::string& name, const std::string& lang) {
    const SourceMap& sources = Session::get().sources;
    views::ViewOptions options = options_of(lang);
    if (name == "timeline") {
        driver::PredictOptions o;
        o.block_dim = run.block_dim;
        report::Timeline t = driver::timeline_of(c, run, sources, o);
        return from_bundle(views::mime_bundle(t, options), report::json_of(t).dump());
    }
    if (name == "trace") return {"", "", driver::chrome_trace(c, run)};
    if (name != "run") throw std::invalid_argument("no view is called " + name);
    View v;
    if (run.outcome.status == execute::Status::hang) {
        report::Hang hang = driver::report_hang(c, run, sources);
        std::optional<report::SyncPlan> plan;
        if (c.plan) plan = driver::report_sync_plan(c, sources);
        append(v, from_bundle(views::mime_bundle(hang, plan ? &*plan : nullptr, options), "{}"));
    }
    if (report::Race race = driver::report_race(c, run, sources); run.outcome.has_races() && !race.pairs.empty())
        append(v, from_bundle(views::mime_bundle(race, stages_of(c), options), "{}"));
    if (report::Refusal findings = driver::report_findings(c, run, sources); !findings.findings.empty())
        append(v, from_bundle(views::mime_bundle(findings, options), "{}"));
    if (run.outcome.status == execute::Status::interrupted) append(v, plain_view("interrupted: " + run.kernel + " was stopped; arguments are as before the launch"));
    if (!run.refused()) append(v, plain_view(driver::done_text(c, run)));
    v.json = driver::run_json(c, run, sources).dump();
    return v;
}

View render(const std::string& kind, const std::string& json_text, const std::string& lang) {
    views::ViewOptions options = options_of(lang);
    nlohmann::json j = nlohmann::json::parse(json_text);
    if (kind == "precision") return from_bundle(views::mime_bundle(report::precision_from_json(j), options), json_text);
    if (kind == "sweep") return from_bundle(views::mime_bundle(report::sweep_from_json(j), options), json_text);
    if (kind == "race") return from_bundle(views::mime_bundle(report::race_from_json(j), {}, options), json_text);
    if (kind == "hang") return from_bundle(views::mime_bundle(report::hang_from_json(j), nullptr, options), json_text);
    if (kind == "memory") return from_bundle(views::mime_bundle(report::memory_map_from_json(j), {}, options), json_text);
    if (kind == "sync") return from_bundle(views::mime_bundle(report::sync_plan_from_json(j), options), json_text);
    if (kind == "timeline") return from_bundle(views::mime_bundle(report::timeline_from_json(j), options), json_text);
    if (kind == "comparison")
        return from_bundle(views::mime_bundle(report::timeline_from_json(j.at("now")), report::timeline_from_json(j.at("then")), options), json_text);
    if (kind == "refusal") return from_bundle(views::mime_bundle(report::refusal_from_json(j), options), json_text);
    throw std::invalid_argument("no report is called " + kind);
}

} // namespace xpto
