#include "stream.h"

#include <algorithm>
#include <map>

namespace emulator {
namespace {

std::mutex registry;
std::map<void*, std::shared_ptr<Stream>> streams;

const std::shared_ptr<Stream>& legacy() {
    static auto* stream = new std::shared_ptr<Stream>(std::make_shared<Stream>(nullptr, true, true));
    return *stream;
}

bool is_legacy(void* handle) { return handle == nullptr || handle == (void*)1 || handle == (void*)2; }

std::vector<std::shared_ptr<Stream>> all_streams() {
    std::lock_guard<std::mutex> lock(registry);
    std::vector<std::shared_ptr<Stream>> all;
    for (auto& [handle, stream] : streams) all.push_back(stream);
    return all;
}

struct Event {
    std::mutex mutex;
    std::shared_ptr<Stream> stream;  // null before the first record
    uint64_t number = 0;
    std::shared_ptr<std::chrono::steady_clock::time_point> when;
    std::shared_ptr<Capture> capture;
};

struct Recorded {
    std::shared_ptr<Stream> stream;
    uint64_t number;
    void wait() const {
        if (stream) stream->wait(number);
    }
    bool done() const { return !stream || stream->done(number); }
};

Recorded recorded(Event* event) {
    std::lock_guard<std::mutex> lock(event->mutex);
    return {event->stream, event->number};
}

struct Graph {
    std::vector<Work> work;
};

}  // namespace

Stream::~Stream() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        demanded_ = submitted_;
    }
    changed_.notify_all();
    if (worker_.get_id() == std::this_thread::get_id()) {
        worker_.detach();
    } else {
        worker_.join();
    }
}

void Stream::run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || (!queue_.empty() && ((!late_ && !settings().lazy) || demanded_ > done_)); });
        if (queue_.empty()) return;
        Work work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        work();
        work = nullptr;
        lock.lock();
        ++done_;
        changed_.notify_all();
    }
}

uint64_t Stream::submit(Work work) {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_all();
    return ++submitted_;
}

void Stream::wait(uint64_t number) {
    std::unique_lock<std::mutex> lock(mutex_);
    demanded_ = std::max(demanded_, number);
    changed_.notify_all();
    changed_.wait(lock, [&] { return done_ >= number; });
}

bool Stream::done(uint64_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    demanded_ = std::max(demanded_, number);
    changed_.notify_all();
    return done_ >= number;
}

std::shared_ptr<Capture> Stream::capture() {
    std::lock_guard<std::mutex> lock(mutex_);
    return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
    std::lock_guard<std::mutex> lock(mutex_);
    capture_ = std::move(capture);
}

uint64_t Stream::submitted() {
    std::lock_guard<std::mutex> lock(mutex_);
    return submitted_;
}

std::shared_ptr<Stream> stream_of(void* handle) {
    if (is_legacy(handle)) return legacy();
    std::lock_guard<std::mutex> lock(registry);
    auto it = streams.find(handle);
    return it == streams.end() ? nullptr : it->second;
}

void drain_all() {
    for (auto& stream : all_streams()) stream->wait(stream->submitted());
    legacy()->wait(legacy()->submitted());
}

CUresult submit(void* handle, Work work) {
    Context* context = current_context();
    if (!context) return INVALID_CONTEXT;
    auto stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (is_legacy(handle)) {
        if (CUresult r = submit_unawaited(std::move(work))) return r;
        stream->wait(stream->submitted());
        return context->error;
    }
    if (auto capture = stream->capture()) {
        capture->work.push_back(std::move(work));
    } else {
        if (stream->blocking) legacy()->wait(legacy()->submitted());
        stream->submit(std::move(work));
    }
    return SUCCESS;
}

CUresult submit_unawaited(Work work) {
    if (!current_context()) return INVALID_CONTEXT;
    if (CUresult r = refuse_in_capture()) return r;
    for (auto& other : all_streams()) {
        if (other->blocking) other->wait(other->submitted());
    }
    legacy()->submit(std::move(work));
    return SUCCESS;
}

CUresult synchronize(void* handle) {
    auto stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (auto capture = stream->capture()) {
        capture->invalid = true;
        return CAPTURE_UNSUPPORTED;
    }
    stream->wait(stream->submitted());
    return current_context()->error;
}

bool captures(void* handle) {
    auto stream = stream_of(handle);
    return stream && stream->capture();
}

CUresult refuse_in_capture() {
    CUresult result = SUCCESS;
    for (auto& stream : all_streams()) {
        auto capture = stream->capture();
        if (!capture || capture->mode > 1) continue;
        if (capture->mode == 1 && capture->owner != std::this_thread::get_id()) continue;
        capture->invalid = true;
        result = CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult refuse_context_in_capture() {
    CUresult result = SUCCESS;
    for (auto& stream : all_streams()) {
        auto capture = stream->context == current_context() ? stream->capture() : nullptr;
        if (!capture) continue;
        capture->invalid = true;
        result = CAPTURE_UNSUPPORTED;
    }
    return result;
}

void drop_streams(Context* context) {
    std::lock_guard<std::mutex> lock(registry);
    for (auto it = streams.begin(); it != streams.end();) {
        it = it->second->context == context ? streams.erase(it) : std::next(it);
    }
}

}  // namespace emulator

using namespace emulator;

API cuStreamCreate(void** handle, unsigned flags) {
    if (CUresult r = enter(__func__)) return r;
    auto stream = std::make_shared<Stream>(current_context(), !(flags & 1), false);
    *handle = stream.get();
    std::lock_guard<std::mutex> lock(registry);
    streams[stream.get()] = stream;
    return SUCCESS;
}
API cuStreamCreateWithPriority(void** handle, unsigned flags, int) { return cuStreamCreate(handle, flags); }
API cuStreamDestroy_v2(void* handle) {
    enter(__func__);
    auto stream = stream_of(handle);
    if (!stream || is_legacy(handle)) return INVALID_HANDLE;
    stream->wait(stream->submitted());
    std::lock_guard<std::mutex> lock(registry);
    streams.erase(handle);
    return SUCCESS;
}
API cuStreamSynchronize(void* handle) {
    if (CUresult r = enter(__func__)) return r;
    return synchronize(handle);
}
API cuStreamQuery(void* handle) {
    if (CUresult r = enter(__func__)) return r;
    auto stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    return stream->done(stream->submitted()) ? CUresult(current_context()->error) : NOT_READY;
}
API cuLaunchHostFunc(void* handle, void (*function)(void*), void* data) {
    if (CUresult r = enter(__func__)) return r;
    return submit(handle, [=] { function(data); });
}
API cuCtxSynchronize() {
    if (CUresult r = enter(__func__)) return r;
    if (CUresult r = refuse_context_in_capture()) return r;
    drain_all();
    return current_context()->error;
}

API cuEventCreate(void** handle, unsigned) {
    if (CUresult r = enter(__func__)) return r;
    *handle = new Event;
    return SUCCESS;
}
API cuEventDestroy_v2(void* handle) {
    enter(__func__);
    delete static_cast<Event*>(handle);
    return SUCCESS;
}
API cuEventRecord(void* handle, void* on) {
    if (CUresult r = enter(__func__)) return r;
    auto* event = static_cast<Event*>(handle);
    auto stream = stream_of(on);
    if (!stream) return INVALID_HANDLE;
    std::lock_guard<std::mutex> lock(event->mutex);
    event->capture = stream->capture();
    if (event->capture) return SUCCESS;
    auto when = std::make_shared<std::chrono::steady_clock::time_point>();
    event->stream = stream;
    event->when = when;
    event->number = stream->submit([when] { *when = std::chrono::steady_clock::now(); });
    return SUCCESS;
}
API cuEventSynchronize(void* handle) {
    if (CUresult r = enter(__func__)) return r;
    recorded(static_cast<Event*>(handle)).wait();
    return current_context()->error;
}
API cuEventQuery(void* handle) {
    if (CUresult r = enter(__func__)) return r;
    return recorded(static_cast<Event*>(handle)).done() ? CUresult(current_context()->error) : NOT_READY;
}
API cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    if (CUresult r = enter(__func__)) return r;
    auto *first = static_cast<Event*>(from), *second = static_cast<Event*>(to);
    if (!first->when || !second->when) return INVALID_HANDLE;
    if (!recorded(first).done() || !recorded(second).done()) return NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(*second->when - *first->when).count();
    return SUCCESS;
}
API cuStreamWaitEvent(void* handle, void* of, unsigned) {
    if (CUresult r = enter(__func__)) return r;
    auto* event = static_cast<Event*>(of);
    auto stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    {
        std::lock_guard<std::mutex> lock(event->mutex);
        if (event->capture) {  // the stream joins the capture
            stream->set_capture(event->capture);
            return SUCCESS;
        }
    }
    Recorded until = recorded(event);
    return submit(handle, [until] { until.wait(); });
}

API cuStreamBeginCapture_v2(void* handle, int mode) {
    if (CUresult r = enter(__func__)) return r;
    if (is_legacy(handle)) return CAPTURE_UNSUPPORTED;
    auto stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    if (stream->capture()) return CAPTURE_UNSUPPORTED;
    stream->set_capture(std::make_shared<Capture>(mode));
    return SUCCESS;
}
API cuStreamEndCapture(void* handle, void** graph) {
    CUresult result = enter(__func__);
    auto stream = stream_of(handle);
    auto capture = stream ? stream->capture() : nullptr;
    if (!capture) return INVALID_VALUE;
    for (auto& other : all_streams()) {
        if (other->capture() == capture) other->set_capture(nullptr);
    }
    *graph = nullptr;
    if (result) return result;
    if (capture->invalid) return CAPTURE_INVALIDATED;
    *graph = new Graph{capture->work};
    return SUCCESS;
}
API cuStreamIsCapturing(void* handle, int* status) {
    if (CUresult r = enter(__func__)) return r;
    auto stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    auto capture = stream->capture();
    *status = !capture ? 0 : capture->invalid ? 2 : 1;
    return SUCCESS;
}
API cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
    if (CUresult r = enter(__func__)) return r;
    *exec = new Graph(*static_cast<Graph*>(graph));
    return SUCCESS;
}
API cuGraphGetNodes(void* graph, void**, size_t* count) {
    if (CUresult r = enter(__func__)) return r;
    *count = static_cast<Graph*>(graph)->work.size();
    return SUCCESS;
}
API cuGraphUpload(void*, void*) { return enter(__func__); }
API cuGraphLaunch(void* exec, void* handle) {
    if (CUresult r = enter(__func__)) return r;
    auto graph = std::make_shared<Graph>(*static_cast<Graph*>(exec));
    return submit(handle, [graph] {
        for (auto& work : graph->work) work();
    });
}
API cuGraphExecDestroy(void* exec) {
    enter(__func__);
    delete static_cast<Graph*>(exec);
    return SUCCESS;
}
API cuGraphDestroy(void* graph) {
    enter(__func__);
    delete static_cast<Graph*>(graph);
    return SUCCESS;
}
