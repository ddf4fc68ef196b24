#include "engine/driver/predict.hpp"

#include "engine/driver/report_sync.hpp"
#include "engine/driver/report_words.hpp"
#include "engine/report/from_time.hpp"
#include "engine/time/replay.hpp"

#include <nlohmann/json.hpp>

namespace pto::driver {
namespace {

/// Stops a run without a user that would take long.
class Limit final : public Sink {
  public:
    void write(std::string_view) override {}
    void poll() override {
        if (++m_polls > 1'000) cancelled = true;
    }

  private:
    int m_polls = 0;
};

} // namespace

report::Timeline timeline_of(const Compiled& c, const Run& run, const SourceMap& sources, const PredictOptions& options) {
    time::Timeline times = time::replay(run.outcome.record, *c.chip);
    report::SyncPlan plan = report_sync_plan(c, sources);
    report::FromTime from;
    from.target = c.chip->name;
    from.preload = preload_text(c);
    from.serial_total = options.serial_total;
    from.sources = &sources;
    from.plan = plan.loops.empty() ? nullptr : &plan;
    from.ask_what_if = options.what_if;
    return report::report_timeline(run.outcome.record, times, *c.chip, from);
}

Prediction predict(const Compiled& c, const SourceMap& sources, const PredictOptions& options) {
    Prediction p;
    if (!c.ok()) {
        p.missing = "the kernel was refused";
        return p;
    }
    SyntheticArguments synthetic = synthetic_arguments(*c.kernel());
    if (!synthetic.missing.empty()) {
        p.missing = synthetic.missing;
        return p;
    }
    RunOptions run_options;
    run_options.block_dim = options.block_dim;
    run_options.strictness = Strictness::warn;
    Limit limit;
    run_options.sink = &limit;
    Run r = run(c, synthetic.arguments, run_options);
    if (r.outcome.status != execute::Status::done) {
        p.missing = r.outcome.status == execute::Status::interrupted ? "the kernel is too long to predict without a launch"
                                                                      : "a run on zeros ended with " + std::string(execute::name(r.outcome.status));
        return p;
    }
    p.timeline = timeline_of(c, r, sources, options);
    p.input_notes.push_back("inputs were zeros");
    return p;
}

nlohmann::ordered_json prediction_json(const Prediction& p) {
    if (!p.timeline) return nullptr;
    const report::Timeline& t = *p.timeline;
    nlohmann::ordered_json j;
    j["cycles"] = double(t.total) / double(report::ticks_per_cycle);
    j["us"] = report::us(t, t.total);
    if (t.serial_total > 0) {
        j["serial_cycles"] = double(t.serial_total) / double(report::ticks_per_cycle);
        j["gain"] = double(t.serial_total) / double(t.total);
    }
    if (t.steady > 0) j["steady_cycles_per_task"] = double(t.steady) / double(report::ticks_per_cycle);
    j["pace"] = {{"core", t.pace_core}, {"pipe", t.pace_pipe}};
    j["computed_by"] = t.provenance.computed_by;
    j["checked_by"] = t.provenance.checked_by;
    j["estimated"] = t.provenance.estimated;
    j["notes"] = p.input_notes;
    return j;
}

} // namespace pto::driver
