#pragma once
/// Instruction records by hand, for tests and measurements of the timing model.

#include "engine/execute/record.hpp"
#include "engine/isa/catalogue.hpp"

#include <string>

namespace pto::support {

class RecordBuilder {
  public:
    explicit RecordBuilder(std::string kernel = "hand") { record.kernel = std::move(kernel); }

    /// A core; later calls work on the last one.
    RecordBuilder& core(isa::Core kind, int block = 0, int subblock = 0) {
        record.cores.push_back({kind, block, subblock, {}, {}});
        record.block_num = std::max(record.block_num, block + 1);
        return *this;
    }
    RecordBuilder& stage(const std::string& name, int task) {
        auto& stages = record.cores.back().stages;
        m_stage = -1;
        for (std::size_t i = 0; i < stages.size(); ++i)
            if (stages[i] == name) m_stage = int(i);
        if (m_stage < 0) {
            m_stage = int(stages.size());
            stages.push_back(name);
        }
        m_task = task;
        return *this;
    }
    RecordBuilder& no_stage() {
        m_stage = m_task = -1;
        return *this;
    }
    /// Mutex ids held around the next operation.
    RecordBuilder& locks(std::initializer_list<int> ids) {
        for (int id : ids) m_locks |= 1u << id;
        return *this;
    }

    execute::Row& op(isa::Pipe pipe, const std::string& timing, isa::DType dtype = isa::DType::fp16) {
        execute::Row row;
        row.site = site(timing, dtype);
        row.pipe = pipe;
        return add(row);
    }
    execute::Row& load(bool cube, std::int64_t address, std::int64_t bytes, int row_bytes = 0, int stride = 0) {
        execute::Row& r = op(isa::Pipe::mte2, cube ? "path.gm_mat" : "path.gm_vec");
        r.gm_address = address;
        r.bytes = bytes;
        r.row_bytes = row_bytes ? row_bytes : int(bytes);
        r.k = stride;
        return r;
    }
    execute::Row& store(std::int64_t address, std::int64_t bytes, int row_bytes = 0, int stride = 0) {
        execute::Row& r = op(isa::Pipe::mte3, "path.vec_gm");
        r.gm_address = address;
        r.bytes = bytes;
        r.row_bytes = row_bytes ? row_bytes : int(bytes);
        r.k = stride;
        return r;
    }
    execute::Row& fix_store(std::int64_t address, int m, int n, int element_bytes, int stride = 0) {
        execute::Row& r = op(isa::Pipe::fix, "path.acc_gm");
        r.gm_address = address;
        r.m = m;
        r.n = n;
        r.bytes = std::int64_t(m) * n * element_bytes;
        r.row_bytes = n * element_bytes;
        r.k = stride;
        return r;
    }
    execute::Row& move(isa::Pipe pipe, const std::string& path, std::int64_t bytes) {
        execute::Row& r = op(pipe, path);
        r.bytes = bytes;
        return r;
    }
    execute::Row& matmul(int m, int n, int k, isa::DType dtype = isa::DType::fp16) {
        execute::Row& r = op(isa::Pipe::m, "cube." + std::string(isa::name(dtype)), dtype);
        r.m = m;
        r.n = n;
        r.k = k;
        return r;
    }
    execute::Row& vector(const std::string& timing, std::int64_t bytes, isa::DType dtype = isa::DType::fp32) {
        execute::Row& r = op(isa::Pipe::v, timing, dtype);
        r.bytes = bytes;
        r.row_bytes = int(bytes);
        return r;
    }
    execute::Row& call(const std::string& name, execute::CallWork work) {
        execute::Row& r = op(isa::Pipe::v, "vector_function");
        record.sites[std::size_t(r.site)].name = name;
        for (std::size_t i = 0; i <= record.calls.size(); ++i) {
            if (i == record.calls.size()) record.calls.push_back(work);
            if (record.calls[i] == work) {
                r.k = int(i);
                break;
            }
        }
        return r;
    }
    void set(isa::Pipe from, isa::Pipe to, int id) { sync(execute::SyncKind::flag_set, "system.sync_src", from, to, id); }
    void wait(isa::Pipe from, isa::Pipe to, int id) { sync(execute::SyncKind::flag_wait, "system.sync_dst", to, from, id); }
    void barrier(isa::Pipe pipe) { sync(execute::SyncKind::barrier, "system.bar_all", pipe, isa::Pipe::s, -1); }
    void cross_set(isa::Pipe pipe, int id, isa::CrossCoreSyncMode mode = isa::CrossCoreSyncMode::intra_block) {
        sync(execute::SyncKind::cross_set, "system.set_cross_core", pipe, isa::Pipe::s, id).sync_mode = std::uint8_t(mode);
    }
    void cross_wait(isa::Pipe pipe, int id, isa::CrossCoreSyncMode mode = isa::CrossCoreSyncMode::intra_block) {
        sync(execute::SyncKind::cross_wait, "system.wait_cross_core", pipe, isa::Pipe::s, id).sync_mode = std::uint8_t(mode);
    }
    void sync_all(isa::SyncCoreType type) { sync(execute::SyncKind::sync_all, "system.sync_all", isa::Pipe::all, isa::Pipe::s, -1).sync_mode = std::uint8_t(type); }
    void lock(isa::Pipe pipe, int id) { sync(execute::SyncKind::mutex_lock, "system.mutex_lock", pipe, isa::Pipe::s, id); }
    void unlock(isa::Pipe pipe, int id) { sync(execute::SyncKind::mutex_unlock, "system.mutex_unlock", pipe, isa::Pipe::s, id); }

    execute::Record record;

  private:
    int site(const std::string& timing, isa::DType dtype) {
        for (std::size_t i = 0; i < record.sites.size(); ++i)
            if (record.sites[i].timing == timing && record.sites[i].dtype == dtype && timing != "vector_function") return int(i);
        record.sites.push_back({nullptr, timing, timing, dtype, {}});
        return int(record.sites.size()) - 1;
    }
    execute::Row& sync(execute::SyncKind kind, const char* name, isa::Pipe pipe, isa::Pipe other, int id) {
        execute::Row row;
        row.site = site(std::string(isa::Catalogue::builtin().find(name)->timing), isa::DType::fp32);
        row.pipe = pipe;
        row.sync = kind;
        row.sync_pipe = std::uint8_t(other);
        row.sync_id = std::int16_t(id);
        return add(row);
    }
    execute::Row& add(execute::Row row) {
        row.stage = std::int16_t(m_stage);
        row.task = m_task;
        if (row.sync == execute::SyncKind::none) {
            row.locks = m_locks;
            m_locks = 0;
        }
        record.cores.back().rows.push_back(row);
        return record.cores.back().rows.back();
    }
    int m_stage = -1, m_task = -1;
    std::uint32_t m_locks = 0;
};

} // namespace pto::support
