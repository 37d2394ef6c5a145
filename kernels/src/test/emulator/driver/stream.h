// Streams, events and captured graphs.
#pragma once
#include "driver.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace emulator {

using Work = std::function<void()>;

// What a capture collects: the work in the order of capture, which keeps every dependency.
struct Capture {
    const int mode;  // CUstreamCaptureMode: 0 forbids some calls to all threads, 1 to the thread that began it
    const std::thread::id owner;
    std::vector<Work> work;
    std::atomic<bool> invalid{false};

    explicit Capture(int mode) : mode(mode), owner(std::this_thread::get_id()) {}
};

// A queue with a thread of its own, so that an order that no event enforces is not kept. A late stream waits with each piece
// of work until a thread waits for it, which is the latest that a device may be; with Settings::lazy all are late.
class Stream {
public:
    Stream(Context* context, bool blocking, bool late)
        : context(context), blocking(blocking), late_(late), worker_([this] { run(); }) {}
    ~Stream();

    // Returns the number of the work, for wait().
    uint64_t submit(Work work);
    void wait(uint64_t number);
    bool done(uint64_t number);
    uint64_t submitted();

    std::shared_ptr<Capture> capture();
    void set_capture(std::shared_ptr<Capture> capture);

    Context* const context;
    const bool blocking;  // ordered with the legacy stream

private:
    void run();

    const bool late_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work> queue_;
    std::shared_ptr<Capture> capture_;
    uint64_t submitted_ = 0, done_ = 0, demanded_ = 0;
    bool stop_ = false;
    std::thread worker_;
};

std::shared_ptr<Stream> stream_of(void* handle);
// Waits for all streams.
void drain_all();
// Queues the work, or adds it to the stream's capture; on the legacy stream, runs it after all blocking streams' work.
CUresult submit(void* stream, Work work);
// Queues the work on the legacy stream and does not wait: of the other streams only blocking ones come after it.
CUresult submit_unawaited(Work work);
CUresult synchronize(void* stream);
bool captures(void* stream);
// Fails, and spoils captures in progress, if there are any that forbid this thread calls like this one.
CUresult refuse_in_capture();
// The same for a wait for the whole context, which no capture in it survives, whichever thread began it.
CUresult refuse_context_in_capture();
// Drops the streams of a context that is destroyed.
void drop_streams(Context* context);

}  // namespace emulator
