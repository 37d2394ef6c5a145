// Spreads the blocks of launches over the processors.
#include "module.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <thread>

namespace emulator {
namespace {

struct Job {
    Module& module;
    const simt::Launch& launch;
    uint64_t blocks;
    std::atomic<uint64_t> next{0};
    std::atomic<bool> failed{false};
    int helpers = 0;
    simt::Fault fault;

    void work() {
        for (uint64_t i; !failed && (i = next.fetch_add(1)) < blocks;) {
            simt::Fault mine;
            module.run_block(launch, launch.reverse ? blocks - 1 - i : i, &mine);
            if (mine.code && !failed.exchange(true)) fault = mine;
        }
    }
};

// Helpers live as long as the process. Launches of several streams share them.
class Helpers {
public:
    static Helpers& get() {
        static auto* helpers = new Helpers;
        return *helpers;
    }

    void run(Job& job) {
        if (job.blocks == 1) {
            job.work();
            return;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        auto place = jobs_.insert(jobs_.end(), &job);
        wake_.notify_all();
        lock.unlock();
        job.work();
        lock.lock();
        jobs_.erase(place);
        finished_.wait(lock, [&] { return job.helpers == 0; });
    }

private:
    Helpers() {
        unsigned processors = std::max(2u, std::thread::hardware_concurrency());
        for (unsigned i = 1; i < std::min(8u, processors); ++i) std::thread([this] { help(); }).detach();
    }

    void help() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            Job* job = nullptr;
            wake_.wait(lock, [&] {
                for (Job* open : jobs_) {
                    if (!open->failed && open->next < open->blocks) job = open;
                }
                return job != nullptr;
            });
            ++job->helpers;
            lock.unlock();
            job->work();
            lock.lock();
            if (--job->helpers == 0) finished_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, finished_;
    std::list<Job*> jobs_;
};

}  // namespace

simt::Fault run(Module& module, const simt::Launch& launch) {
    Job job{module, launch, uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2], {}, {}, 0, {}};
    Helpers::get().run(job);
    return job.fault;
}

}  // namespace emulator
