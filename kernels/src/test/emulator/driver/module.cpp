#include "module.h"

#include "faults.h"
#include "memory.h"
#include "stream.h"
#include "trap.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace emulator {
namespace {

constexpr uint32_t kFatBinary = 0xba55ed50;
constexpr unsigned kSharedByDefault = 48 << 10;
constexpr unsigned kSharedAtMost = 227 << 10;

std::string beside_this_library(const char* name) {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(&beside_this_library), &info)) return name;
    std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1) + name;
}

// A file in memory with the image, or -1.
int image_file(const void* image, size_t bytes) {
    int file = memfd_create("module", MFD_CLOEXEC);
    const char* data = static_cast<const char*>(image);
    for (size_t at = 0; file >= 0 && at < bytes;) {
        ssize_t written = write(file, data + at, bytes - at);
        if (written <= 0) break;
        at += written;
    }
    return file;
}

struct Function {
    std::shared_ptr<Module> module;
    std::string name;
    simt::Bind bind;
    unsigned shared_limit;
    bool loaded = false;  // a kernel is loaded when it is first used
};

// The order of the members matters: the bound kernel goes before the code it points to.
struct BoundKernel {
    std::shared_ptr<Module> module;
    std::string name;
    simt::Body body;
    simt::Launch launch;
    Context* context;

    void run() {
        if (context->error) return;
        if (CUresult injected = enter_launch(name.c_str())) {
            fail(injected, "an injected fault");
            return;
        }
        launch.body = &body;
        launch.reverse = settings().reverse;
        simt::Fault fault = emulator::run(*module, launch);
        std::string damaged = damage();
        if (fault.code) {
            fail(fault.code, fault.text);
        } else if (!damaged.empty()) {
            fail(ILLEGAL_ADDRESS, damaged);
        }
    }

    void fail(CUresult code, const std::string& text) {
        set_fault(name + ": " + text);
        CUresult none = SUCCESS;
        context->error.compare_exchange_strong(none, code);
    }
};

std::mutex registry;
struct Loaded {
    Context* context;
    std::shared_ptr<Module> module;
};
std::map<void*, Loaded> modules;
std::map<void*, std::unique_ptr<Function>> functions;

void drop_functions(void* module) {
    for (auto it = functions.begin(); it != functions.end();) {
        it = it->second->module.get() == module ? functions.erase(it) : std::next(it);
    }
}

}  // namespace

void drop_modules(Context* context) {
    std::lock_guard<std::mutex> lock(registry);
    for (auto it = modules.begin(); it != modules.end();) {
        auto here = it++;
        if (here->second.context != context) continue;
        drop_functions(here->first);
        modules.erase(here);
    }
}

CUresult Module::load(const void* image, std::shared_ptr<Module>* out) {
    if (settings().major < 8) return NO_BINARY_FOR_GPU;
    auto* header = static_cast<const Elf64_Ehdr*>(image);
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    bool elf = !memcmp(header->e_ident, ELFMAG, SELFMAG);
    void* library = nullptr;
    int file = -1;
    if (elf && header->e_machine == EM_X86_64) {
        file = image_file(image, header->e_shoff + size_t(header->e_shnum) * header->e_shentsize);
        library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    } else if (elf || magic == kFatBinary) {
        library = dlopen(beside_this_library("radixflow-host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        const char* why = elf ? dlerror() : nullptr;
        if (file >= 0) close(file);
        set_fault(why ? why : "the image is neither device code nor a host build of it");
        return INVALID_IMAGE;
    }
    std::shared_ptr<Module> module(new Module(library, file));
    if (!module->resolve()) {
        set_fault("the image is not a module of kernels");
        return INVALID_IMAGE;
    }
    *out = std::move(module);
    return SUCCESS;
}

bool Module::resolve() {
    create_ = reinterpret_cast<simt::WorkerCreate>(dlsym(library_, "simt_worker_create"));
    destroy_ = reinterpret_cast<simt::WorkerDestroy>(dlsym(library_, "simt_worker_destroy"));
    run_ = reinterpret_cast<simt::RunBlock>(dlsym(library_, "simt_run_block"));
    trapped_ = reinterpret_cast<simt::Trapped>(dlsym(library_, "simt_trapped"));
    return create_ && destroy_ && run_ && trapped_;
}

Module::~Module() {
    for (simt::Worker* worker : idle_) destroy_(worker);
    dlclose(library_);
    if (file_ >= 0) close(file_);
}

simt::Bind Module::kernel(const char* name) const {
    return reinterpret_cast<simt::Bind>(dlsym(library_, (std::string(name) + "__bind").c_str()));
}

void Module::run_block(const simt::Launch& launch, uint64_t block, simt::Fault* fault) {
    simt::Worker* worker = nullptr;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!idle_.empty()) {
            worker = idle_.back();
            idle_.pop_back();
        }
    }
    if (!worker) worker = create_();
    {
        KernelScope scope(trapped_);
        run_(worker, &launch, block, fault);
    }
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(worker);
}

}  // namespace emulator

using namespace emulator;

API cuModuleLoadData(void** handle, const void* image) {
    if (CUresult r = enter(__func__)) return r;
    std::shared_ptr<Module> module;
    if (CUresult r = Module::load(image, &module)) return r;
    *handle = module.get();
    std::lock_guard<std::mutex> lock(registry);
    modules[module.get()] = {current_context(), module};
    return SUCCESS;
}
API cuModuleLoadDataEx(void** handle, const void* image, unsigned, void*, void*) {
    return cuModuleLoadData(handle, image);
}
API cuModuleUnload(void* handle) {
    enter(__func__);
    drain_all();
    std::lock_guard<std::mutex> lock(registry);
    drop_functions(handle);
    return modules.erase(handle) ? SUCCESS : INVALID_HANDLE;
}
API cuModuleGetFunction(void** handle, void* of, const char* name) {
    if (CUresult r = enter(__func__)) return r;
    std::lock_guard<std::mutex> lock(registry);
    auto module = modules.find(of);
    if (module == modules.end()) return INVALID_HANDLE;
    simt::Bind bind = module->second.module->kernel(name);
    if (!bind) return NOT_FOUND;
    auto function = std::make_unique<Function>(Function{module->second.module, name, bind, kSharedByDefault});
    *handle = function.get();
    functions[function.get()] = std::move(function);
    return SUCCESS;
}
API cuFuncSetAttribute(void* handle, int attribute, int value) {
    if (CUresult r = enter(__func__)) return r;
    if (attribute == 8) {  // the most dynamic shared memory that a launch may ask for
        if (value < 0 || unsigned(value) > kSharedAtMost) return INVALID_VALUE;
        static_cast<Function*>(handle)->shared_limit = value;
    }
    if (attribute == 9) {  // the share of the cache that shared memory should get, in percent
        if (value < -1 || value > 100) return INVALID_VALUE;
        count("carve-out of " + std::to_string(value) + " for " + static_cast<Function*>(handle)->name);
    }
    return SUCCESS;
}
// Loads the kernel if that has not happened yet.
API cuFuncGetAttribute(int* value, int attribute, void* handle) {
    if (CUresult r = enter(__func__)) return r;
    static_cast<Function*>(handle)->loaded = true;
    *value = attribute == 0 ? 1024 : attribute == 8 ? int(static_cast<Function*>(handle)->shared_limit) : 0;
    return SUCCESS;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
    if (CUresult r = enter(__func__)) return r;
    *blocks = 1;
    return SUCCESS;
}
API cuLaunchKernel(void* handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** parameters, void** extra) {
    if (CUresult r = enter(__func__)) return r;
    auto* function = static_cast<Function*>(handle);
    bool sizes = gx && gy && gz && gy <= 65535 && gz <= 65535 && bx && by && bz && uint64_t(bx) * by * bz <= 1024;
    if (!sizes || shared > function->shared_limit || !parameters || extra) return INVALID_VALUE;
    if (!std::exchange(function->loaded, true) && captures(stream)) count("kernels loaded by a capture");
    auto kernel = std::make_shared<BoundKernel>();
    kernel->module = function->module;
    kernel->name = function->name;
    kernel->context = current_context();
    kernel->launch = {{gx, gy, gz}, {bx, by, bz}, shared, false, nullptr};
    if (const char* wrong = function->bind(parameters, reachable, &kernel->body)) {
        set_fault(function->name + ": " + wrong);
        return INVALID_VALUE;
    }
    return submit(stream, [kernel] { kernel->run(); });
}
