#include "engine/driver/trace_file.hpp"

#include "engine/execute/order.hpp"
#include "engine/time/replay.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace pto::driver {
namespace {

std::string number(double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", v);
    return text;
}
std::string json_string(const std::string& s) { return nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

} // namespace

std::string chrome_trace(const Compiled& c, const Run& run) {
    const execute::Record& record = run.outcome.record;
    time::Timeline t = time::replay(record, *c.chip);
    std::string out = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"kernel\": " + json_string(c.name) + ", \"target\": " + json_string(c.chip->name) +
                      ", \"computed_by\": " + json_string(run.computed_by) + "}, \"traceEvents\": [";
    bool first = true;
    auto event = [&](const std::string& text) {
        out += (first ? "\n" : ",\n") + text;
        first = false;
    };
    for (std::size_t k = 0; k < record.cores.size(); ++k) {
        const execute::CoreRecord& core = record.cores[k];
        execute::CoreName name{core.core, core.block, core.subblock};
        std::string pid = std::to_string(k);
        event("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": " + pid + ", \"args\": {\"name\": " + json_string(execute::text(name, record.block_num > 1)) + "}}");
        bool named[8] = {};
        for (std::size_t i = 0; i < core.rows.size(); ++i) {
            const execute::Row& row = core.rows[i];
            if (row.sync != execute::SyncKind::none || t.cores[k].start[i] < 0) continue;
            int tid = int(row.pipe);
            if (!named[tid & 7]) {
                named[tid & 7] = true;
                event("{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": " + pid + ", \"tid\": " + std::to_string(tid) + ", \"args\": {\"name\": " +
                      json_string(std::string(isa::name(row.pipe))) + "}}");
            }
            std::string stage = row.stage >= 0 && std::size_t(row.stage) < core.stages.size() ? core.stages[std::size_t(row.stage)] : "";
            const execute::Site& site = record.sites[std::size_t(row.site)];
            std::string label = stage.empty() ? site.name : stage + ":" + std::to_string(row.task) + " " + site.name;
            event("{\"ph\": \"X\", \"name\": " + json_string(label) + ", \"pid\": " + pid + ", \"tid\": " + std::to_string(tid) + ", \"ts\": " +
                  number(t.us(t.cores[k].start[i])) + ", \"dur\": " + number(t.us(t.cores[k].end[i] - t.cores[k].start[i])) + ", \"args\": {\"stage\": " +
                  json_string(stage) + ", \"task\": " + std::to_string(row.task) + ", \"bytes\": " + std::to_string(row.bytes) + "}}");
        }
        for (const time::Wait& w : t.cores[k].waits)
            if (w.end > w.start)
                event("{\"ph\": \"X\", \"name\": " + json_string("wait " + std::string(time::name(w.kind))) + ", \"cat\": \"wait\", \"pid\": " + pid + ", \"tid\": " +
                      std::to_string(int(w.pipe)) + ", \"ts\": " + number(t.us(w.start)) + ", \"dur\": " + number(t.us(w.end - w.start)) + "}");
    }
    return out + "\n]}\n";
}

} // namespace pto::driver
