/// Mutants of a good program, at least half of them balanced. Exhaustive interleaving of small task counts is the oracle: for each
/// count verify must say exactly what every interleaving says, and over all counts it must flag whatever some count exposes.

#include "engine/verify/verify.hpp"
#include "tests/mutation/explorer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/relu_matmul.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <cstdio>
#include <cstdlib>
#include <map>

using namespace pto;
using namespace pto::testing;

namespace {

struct Mutant {
    std::string name;
    ReluMatmulSpec spec;
    bool balanced = false; // every id is set as often as it is awaited
};

std::vector<Mutant> mutants(const ReluMatmulSpec& good) {
    std::vector<Mutant> list;
    const auto add = [&](std::string name, bool balanced, auto&& change) {
        Mutant m{std::move(name), good, balanced};
        change(m.spec);
        list.push_back(std::move(m));
    };
    for (int e = 0; e < edge_count; ++e) {
        const std::string edge = edge_names[e];
        const auto tweak = [&](const std::string& what, bool balanced, auto&& f) { add(edge + ": " + what, balanced, [&](ReluMatmulSpec& s) { f(s.tweaks[std::size_t(e)]); }); };
        const bool backward = e % 2 == 0;
        tweak("no set", false, [](EdgeTweak& t) { t.drop_set = true; });
        tweak("no wait", false, [](EdgeTweak& t) { t.drop_wait = true; });
        tweak("no wait in the main loop", false, [](EdgeTweak& t) { t.drop_main_wait = true; });
        tweak("wait behind its stage", true, [](EdgeTweak& t) { t.wait_behind = true; });
        tweak("set before its stage", true, [](EdgeTweak& t) { t.set_before = true; });
        tweak("prefire and drain one more", true, [](EdgeTweak& t) { t.skew = 1; });
        tweak("prefire and drain two more", true, [](EdgeTweak& t) { t.skew = 2; });
        if (backward) {
            tweak("no prefire", false, [](EdgeTweak& t) { t.drop_prefire = 2; });
            tweak("one prefire missing", false, [](EdgeTweak& t) { t.drop_prefire = 1; });
            tweak("no drain", false, [](EdgeTweak& t) { t.drop_drain = 2; });
            tweak("prefire and drain one less", true, [](EdgeTweak& t) { t.skew = -1; });
            tweak("prefire and drain two less", true, [](EdgeTweak& t) { t.skew = -2; });
        }
        // The same edge on other pipes of the same cores.
        const bool set_on_cube = backward ? e / 2 % 2 == 1 : e / 2 % 2 == 0;
        const std::vector<isa::Pipe> cube{isa::Pipe::fix, isa::Pipe::mte1, isa::Pipe::m, isa::Pipe::mte2}, vector{isa::Pipe::v, isa::Pipe::mte3};
        // The pipes it stands on already are no change.
        static constexpr isa::Pipe own[edge_count][2] = {{isa::Pipe::v, isa::Pipe::fix}, {isa::Pipe::fix, isa::Pipe::v}, {isa::Pipe::mte1, isa::Pipe::mte3},
                                                         {isa::Pipe::mte3, isa::Pipe::mte1}, {isa::Pipe::mte3, isa::Pipe::fix}, {isa::Pipe::fix, isa::Pipe::mte3}};
        for (isa::Pipe p : set_on_cube ? cube : vector)
            if (p != own[e][0]) tweak("set on " + std::string(isa::name(p)), true, [&](EdgeTweak& t) { t.set_pipe = p; });
        for (isa::Pipe p : set_on_cube ? vector : cube)
            if (p != own[e][1]) tweak("wait on " + std::string(isa::name(p)), true, [&](EdgeTweak& t) { t.wait_pipe = p; });
        for (isa::Pipe p : set_on_cube ? vector : cube)
            if (p != own[e][1]) tweak("late waits on " + std::string(isa::name(p)), true, [&](EdgeTweak& t) { t.late_pipe = p; });
        for (isa::Pipe p : set_on_cube ? cube : vector)
            for (isa::Pipe q : set_on_cube ? vector : cube)
                if (p != own[e][0] && q != own[e][1]) tweak("both ends on " + std::string(isa::name(p)) + " and " + std::string(isa::name(q)), true, [&](EdgeTweak& t) { t.set_pipe = p, t.wait_pipe = q; });
        add(edge + ": whole edge dropped", true, [&](ReluMatmulSpec& s) {
            ChannelSpec& c = e < 2 ? s.x : e < 4 ? s.y : s.z;
            (backward ? c.bwd : c.fwd).clear();
        });
    }
    // Ids of two channels that go the same way: swapped at both ends (harmless), at one end.
    for (auto [a, b] : {std::pair{x_fwd, z_fwd}, std::pair{x_bwd, z_bwd}, std::pair{x_fwd, y_bwd}, std::pair{x_bwd, y_fwd}, std::pair{y_fwd, z_bwd}, std::pair{y_bwd, z_fwd}}) {
        const std::vector<std::int32_t> ids[] = {{2, 3}, {0, 1}, {6, 7}, {4, 5}, {10, 11}, {8, 9}};
        const auto name = std::string(edge_names[a]) + " and " + edge_names[b];
        add(name + ": ids swapped at both ends", true, [&](ReluMatmulSpec& s) {
            s.tweaks[a].set_ids = s.tweaks[a].wait_ids = ids[b];
            s.tweaks[b].set_ids = s.tweaks[b].wait_ids = ids[a];
        });
        add(name + ": ids swapped at the waits", true, [&](ReluMatmulSpec& s) { s.tweaks[a].wait_ids = ids[b], s.tweaks[b].wait_ids = ids[a]; });
        add(name + ": one list for both", true, [&](ReluMatmulSpec& s) { s.tweaks[a].wait_ids = s.tweaks[a].set_ids = ids[b]; });
    }
    for (const char* group : {"cube.x", "cube.y", "cube.z", "cube.a1", "cube.w1", "cube.w2", "cube.left", "cube.right", "cube.acc", "vector.x", "vector.y", "vector.z", "vector.r"})
        add(std::string(group) + ": no lock", true, [&](ReluMatmulSpec& s) { s.unlocked.insert(group); });
    add("y: one id for two slots", true, [](ReluMatmulSpec& s) { s.y.fwd = {4}, s.y.bwd = {6}; });
    add("y: one slot", true, [](ReluMatmulSpec& s) { s.y.slots = 1, s.y.fwd = {4}, s.y.bwd = {6}; });
    add("y: three slots", true, [](ReluMatmulSpec& s) { s.y.slots = 3, s.y.fwd = {4, 5, 12}, s.y.bwd = {6, 7, 13}; });
    add("y: three slots, forward only", true, [](ReluMatmulSpec& s) { s.y.slots = 3, s.y.fwd = {4, 5, 12}, s.y.bwd.clear(); });
    return list;
}

machine::Chip chip() {
    machine::Chip c;
    c.arch = "a5";
    return c;
}

std::string found(const verify::Verdict& v) {
    std::string s;
    for (const auto& h : v.hazards)
        if (h.is_error) s += std::string(s.empty() ? "" : ", ") + std::string(verify::name(h.kind));
    return s.empty() ? "nothing" : s;
}

struct Row {
    int mutants = 0, balanced = 0, exposed = 0, larger = 0;
    int on_redundant = 0; // harmless: the hand-over can go as a whole at this preload
    std::vector<std::string> survivors, larger_names;
};

/// What was changed, without the place: the row of the table.
std::string kind_of(const std::string& name) {
    const std::string what = name.substr(name.find(": ") + 2);
    for (const char* prefix : {"set on", "wait on", "both ends on", "late waits on"})
        if (what.rfind(prefix, 0) == 0) return std::string(prefix) + " another pipe";
    return name.rfind("y: ", 0) == 0 ? "other slots or ids of y" : what;
}

/// Why a mutant of a kind may be as good as the original. A survivor of a kind that is not here fails the test.
const std::map<std::string, std::string>& reasons() {
    static const std::map<std::string, std::string> all{
        {"set on another pipe", "the locks of the stage's tiles put the other pipe's last operation behind the one that has to be over"},
        {"wait on another pipe", "the other pipe works in front of the one that has to wait, and the locks of the stage's tiles keep it there"},
        {"both ends on another pipe", "both of the above"},
        {"late waits on another pipe", "the locks of the last stage, or other waits, put the two pipes in turn; or the sets are all there when the last waits compete"},
        {"ids swapped at both ends", "a renaming: set and wait still meet on one counter"},
        {"no lock", "one pipe alone touches the tile, or cross-core waits order its pipes"},
        {"other slots or ids of y", "fewer slots only make the producer wait, one id queues its hand-overs up in order, the third slot makes up for the missing list"},
    };
    return all;
}

std::map<std::string, Row> g_table; // over all preloads

void compare(std::int32_t preload, std::int64_t largest) {
    ReluMatmulSpec good;
    good.preload = preload;
    int total = 0, balanced = 0, exposed = 0, flagged = 0, beyond = 0, harmless = 0;
    std::set<std::string> redundant;
    for (const Mutant& mutant : mutants(good)) {
        Row& row = g_table[kind_of(mutant.name)];
        ++total, balanced += mutant.balanced, ++row.mutants, row.balanced += mutant.balanced;
        bool bad = false;
        for (std::int64_t tasks = 1; tasks <= largest; ++tasks) {
            ReluMatmulSpec spec = mutant.spec;
            spec.trips = tasks;
            const auto program = program::assemble(ReluMatmul(spec).kernel(), chip());
            const Exploration truth = Explorer(program).run(300'000);
            INFO("preload " << preload << ", " << mutant.name << ", T = " << tasks << ": " << truth.what);
            if (!truth.complete) break;
            bad = bad || !truth.safe();
            const auto v = verify::verify(program, chip());
            INFO("verify: " << verify::print(v));
            CHECK(v.safe() == truth.safe()); // for a fixed count the two agree exactly
        }
        const auto v = verify::verify(program::assemble(ReluMatmul(mutant.spec).kernel(), chip()), chip());
        INFO("preload " << preload << ", " << mutant.name << ", any T: " << verify::print(v));
        if (bad) CHECK_FALSE(v.safe());
        exposed += bad, row.exposed += bad, flagged += !v.safe();
        const std::string where = "preload " + std::to_string(preload) + ", " + mutant.name;
        if (!v.safe() && !bad) ++beyond, ++row.larger, row.larger_names.push_back(where + " (" + found(v) + " at T = " + std::to_string(v.hazards.front().tasks) + ")");
        if (v.safe()) ++harmless, row.survivors.push_back(where);
        if (v.safe() && kind_of(mutant.name) == "whole edge dropped") redundant.insert(mutant.name.substr(0, mutant.name.find(':')));
    }
    const std::string mine = "preload " + std::to_string(preload) + ", ";
    for (auto& [kind, row] : g_table) {
        for (std::string& s : row.survivors) {
            if (s.rfind(mine, 0) != 0) continue;
            const std::string where = s.substr(mine.size(), s.find(':') - mine.size()); // one hand-over, or "one and another"
            const std::size_t both = where.find(" and ");
            if (redundant.count(where.substr(0, both)) && (both == std::string::npos || redundant.count(where.substr(both + 5)))) {
                ++row.on_redundant, s.clear();
                continue;
            }
            INFO(s);
            CHECK(reasons().count(kind) == 1); // an unexplained survivor
        }
        row.survivors.erase(std::remove(row.survivors.begin(), row.survivors.end(), ""), row.survivors.end());
    }
    CHECK(balanced * 2 >= total);
    std::printf("mutation, preload %d: %d mutants, %d balanced; exposed by every interleaving of at most %d tasks %d, flagged %d, of these only at larger counts %d, harmless %d\n",
                int(preload), total, balanced, int(largest), exposed, flagged, beyond, harmless);
}

void print_table() {
    std::printf("\n%-30s %8s %9s %8s %12s %20s %15s\n", "what is changed", "mutants", "balanced", "exposed", "larger only", "harmless: redundant", "harmless: other");
    Row sum;
    for (const auto& [kind, row] : g_table) {
        std::printf("%-30s %8d %9d %8d %12d %20d %15zu\n", kind.c_str(), row.mutants, row.balanced, row.exposed, row.larger, row.on_redundant, row.survivors.size());
        sum.mutants += row.mutants, sum.balanced += row.balanced, sum.exposed += row.exposed, sum.larger += row.larger, sum.on_redundant += row.on_redundant;
        sum.survivors.insert(sum.survivors.end(), row.survivors.begin(), row.survivors.end());
    }
    std::printf("%-30s %8d %9d %8d %12d %20d %15zu\n", "all", sum.mutants, sum.balanced, sum.exposed, sum.larger, sum.on_redundant, sum.survivors.size());
    std::printf("\nharmless, redundant: the hand-over can be dropped whole at that preload, because the others of the chain order its stages.\nharmless, other:\n");
    for (const auto& [kind, row] : g_table) {
        if (row.survivors.empty()) continue;
        const auto why = reasons().find(kind);
        std::printf("  %s: %s\n", kind.c_str(), why == reasons().end() ? "NOT EXPLAINED" : why->second.c_str());
        for (const std::string& s : row.survivors) std::printf("    %s\n", s.c_str());
    }
    std::printf("\nflagged at larger task counts than were enumerated:\n");
    for (const auto& [kind, row] : g_table)
        for (const std::string& s : row.larger_names) std::printf("    %s\n", s.c_str());
}

} // namespace

TEST_CASE("the good program is safe in every interleaving") {
    for (std::int32_t preload : {0, 1, 2})
        for (std::int64_t tasks : {0, 1, 2, 3, 4, 5}) {
            ReluMatmulSpec spec;
            spec.preload = preload, spec.trips = tasks;
            const auto program = program::assemble(ReluMatmul(spec).kernel(), chip());
            const auto truth = Explorer(program).run(2'000'000);
            CHECK(truth.complete);
            CHECK(truth.safe());
            CHECK(verify::verify(program, chip()).status == verify::Status::proven);
        }
}

TEST_CASE("mutants of the serial form") { compare(0, 4); }
TEST_CASE("mutants at preload 1") { compare(1, 4); }
TEST_CASE("mutants at preload 2") {
    compare(2, 4);
    if (std::getenv("XPTO_MUTATION_TABLE")) print_table(); // make mutate
}
