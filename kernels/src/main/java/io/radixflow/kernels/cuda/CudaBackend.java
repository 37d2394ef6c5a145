package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.CudaUnavailableException;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.step.CudaModel;
import io.radixflow.kernels.cuda.step.CudaStepTicket;
import io.radixflow.kernels.cuda.step.StepBuffers;
import io.radixflow.kernels.cuda.step.StepLauncher;
import io.radixflow.kernels.cuda.step.StepLayout;
import io.radixflow.kernels.cuda.step.StepPlan;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Sha256;
import io.radixflow.models.WeightSource;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The CUDA backend. Weights are bf16 or quantised, KV pages are bf16 or fp8, and sums are f32.
 *
 * <p>The thread that submits a step queues it and returns. A thread of the backend waits for the
 * device, passes the tokens to the sampling states and ends the tickets, in the order of
 * submission. If a step's input is a token of the step before it, the device reads that token from
 * its own memory, so two steps may be in flight.
 *
 * <p>In {@link GpuMode#DETERMINISTIC} mode a token's logits depend only on its prefix, bit for bit,
 * on all devices of one compute capability.
 */
public final class CudaBackend implements Backend {

  /**
   * Part of the numerics epoch. Change it whenever a change of Java code changes the bits of a
   * result.
   */
  static final int ARITHMETIC_VERSION = 2;

  private static final Logger LOG = LoggerFactory.getLogger(CudaBackend.class);
  private static final int[] PAGE_TOKENS = {16, 32};
  private static final int IN_FLIGHT = 2;

  private final CudaModel model;
  private final KvSpec kvSpec;
  private final GpuMode mode;
  private final String epoch;
  private final String description;
  private final CudaStream stream;
  private final CudaStepTicket[] tickets = new CudaStepTicket[StepBuffers.RING_STEPS];
  private final BlockingQueue<Runnable> ends = new ArrayBlockingQueue<>(tickets.length + 1);
  private final Runnable[] ending = new Runnable[tickets.length];
  private final Throwable[] submitFailures = new Throwable[tickets.length];
  private final Object stateLock = new Object();
  private final StepPlan.TokenRing ring = this::ringIndex;
  private final Thread thread;

  private CudaKvPool pool;
  private StepLauncher runner;
  private int submitted;
  private volatile boolean usable = true;
  private volatile boolean closed;

  private CudaBackend(CudaModel model, WeightSource weights, GpuMode mode) {
    this.model = model;
    this.mode = mode;
    ModelConfig config = model.config();
    kvSpec = KvSpec.of(config, model.kvType());
    CudaDevice device = model.context().device();
    epoch = epoch(weights.fingerprint(), model, mode);
    description =
        String.format(
            Locale.ROOT,
            "%s, compute capability %d.%d, %s, KV %s, %d MB of weights",
            device.name(),
            device.major(),
            device.minor(),
            mode.name().toLowerCase(Locale.ROOT),
            kvName(model),
            model.weightBytes() >> 20);
    stream = model.context().newStream("steps");
    StepLayout layout = model.buffers().layout();
    for (int i = 0; i < tickets.length; i++) {
      int number = i;
      tickets[i] =
          new CudaStepTicket(
              model.context(),
              config.vocabSize(),
              i * layout.maxRows(),
              (long) layout.ints() * Integer.BYTES,
              layout.maxRows());
      ending[i] = () -> end(number);
    }
    model.context().synchronize();
    thread = new Thread(this::awaitSteps, "radixflow-cuda");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Loads a model onto a GPU. The source may be closed afterwards.
   *
   * @param ordinal the driver's number of the GPU
   * @throws CudaUnavailableException if the device does not exist, or the build has no code for it
   * @throws OutOfDeviceMemoryException if too little memory is free; the message gives the numbers
   * @throws IllegalArgumentException if the device does not support the model or an option
   */
  public static CudaBackend open(WeightSource weights, DeviceOptions options, int ordinal) {
    return open(weights, options, PoolRequest.NONE, ordinal);
  }

  /**
   * Like {@link #open(WeightSource, DeviceOptions, int)}, but first checks that there is also
   * memory for the pool that will be opened.
   */
  public static CudaBackend open(
      WeightSource weights, DeviceOptions options, PoolRequest pool, int ordinal) {
    KvSpec.Type type = CudaModel.kvType(options);
    if (type != KvSpec.Type.BF16 && type != KvSpec.Type.FP8) {
      throw new IllegalArgumentException(
          "the CUDA backend does not support KV type " + type + ", only bf16 and fp8");
    }
    try {
      KvSpec spec = KvSpec.of(weights.config(), type);
      return load(weights, options, pool.poolBytes(spec, PAGE_TOKENS[0]), ordinal);
    } catch (CudaException e) {
      throw explained(e);
    }
  }

  /** Returns the GPU memory that a model needs. Reads no weights. */
  public static MemoryNeeds memoryNeeds(WeightSource weights) {
    return CudaModel.needs(weights);
  }

  private static RuntimeException explained(CudaException failure) {
    if (failure.isOutOfMemory()) {
      return new OutOfDeviceMemoryException(failure.getMessage(), failure);
    }
    return failure.isCodeRefused()
        ? new IllegalArgumentException(failure.getMessage(), failure)
        : failure;
  }

  private static CudaBackend load(
      WeightSource weights, DeviceOptions options, long poolBytes, int ordinal) {
    long started = System.nanoTime();
    CudaModel model = CudaModel.load(weights, options, poolBytes, ordinal);
    try {
      CudaBackend backend = new CudaBackend(model, weights, options.gpuMode());
      LOG.info(
          "CUDA backend: {}; loaded in {} ms",
          backend.description,
          (System.nanoTime() - started) / 1_000_000);
      return backend;
    } catch (RuntimeException | Error e) {
      model.close();
      throw e;
    }
  }

  private static String kvName(CudaModel model) {
    return model.kvType().name().toLowerCase(Locale.ROOT);
  }

  private static String epoch(String fingerprint, CudaModel model, GpuMode mode) {
    CudaDevice device = model.context().device();
    return Sha256.digits(
        String.join(
            "|",
            fingerprint,
            "cuda " + device.major() + "." + device.minor(),
            "device code " + model.numerics(),
            "arithmetic " + ARITHMETIC_VERSION,
            mode.name(),
            "kv " + kvName(model),
            "page [layer][K|V][slot][head][element]"));
  }

  @Override
  public String name() {
    return "cuda";
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public ModelConfig model() {
    return model.config();
  }

  @Override
  public KvSpec kvSpec() {
    return kvSpec;
  }

  @Override
  public int[] pageTokens() {
    return PAGE_TOKENS.clone();
  }

  @Override
  public int maxBatchRows() {
    return CudaModel.MAX_ROWS;
  }

  @Override
  public long weightBytes() {
    return model.weightBytes();
  }

  /** {@inheritDoc} Does not count the page and the window part that padding rows write to. */
  @Override
  public long poolBytes() {
    long padding = PAGE_TOKENS[PAGE_TOKENS.length - 1] * kvSpec.bytesPerToken();
    return Math.max(0, model.poolBytes() - padding);
  }

  @Override
  public boolean isUsable() {
    return usable && !model.context().isLost();
  }

  @Override
  public int pipelineDepth() {
    return IN_FLIGHT;
  }

  @Override
  public String numericsEpoch() {
    return epoch;
  }

  @Override
  public KvPool openPool(int pages, int pageTokens) {
    return openPool(pages, 0, pageTokens);
  }

  @Override
  public KvPool openPool(int pages, int parts, int pageTokens) {
    if (pool != null) {
      throw new IllegalStateException("a pool is open already");
    }
    if (pages < 1 || pageTokens != PAGE_TOKENS[0] && pageTokens != PAGE_TOKENS[1]) {
      throw new IllegalArgumentException(
          pages
              + " pages of "
              + pageTokens
              + " tokens; at least 1 page of 16 or 32 tokens is needed");
    }
    if (parts < 0 || parts > 0 && partedWindow() == 0) {
      throw new IllegalArgumentException(parts + " window parts for a model without windows");
    }
    model.context().bind();
    try {
      pool =
          new CudaKvPool(
              model.context(),
              model.config(),
              model.kvType(),
              pages,
              parts,
              pageTokens,
              this::poolClosed);
    } catch (CudaException e) {
      throw poolTooLarge(pages, parts, pageTokens, e);
    }
    try {
      runner = new StepLauncher(model, pool, partedWindow(), mode, stream);
      pool.clearParts(stream);
      runner.reset();
      runner.warm();
      return pool;
    } catch (CudaException e) {
      pool.close();
      throw explained(e);
    } catch (RuntimeException | Error e) {
      pool.close();
      throw e;
    }
  }

  private RuntimeException poolTooLarge(int pages, int parts, int pageTokens, CudaException cause) {
    if (!cause.isOutOfMemory()) {
      return cause;
    }
    long inParts = parts == 0 ? 0 : kvSpec.windowBytesPerToken();
    long bytes = pageTokens * ((kvSpec.bytesPerToken() - inParts) * pages + inParts * parts);
    return new OutOfDeviceMemoryException(
        String.format(
            Locale.ROOT,
            "a KV pool of %d pages%s needs %d MB; the device has %d MB left; use fewer pages",
            pages,
            parts == 0 ? "" : " and " + parts + " window parts",
            bytes >> 20,
            model.context().freeMemory() >> 20),
        cause);
  }

  /**
   * Queues a fill of all pages with random keys and values, for benchmarks. The pool must be open.
   */
  public void fillPool() {
    model.context().bind();
    model.fillRandom(pool, stream);
  }

  /** Returns whether the pool must free its memory. If the context is lost, the driver frees it. */
  private boolean poolClosed() {
    pool = null;
    if (!isUsable()) {
      return false;
    }
    model.context().bind();
    if (runner != null) {
      runner.close();
      runner = null;
    }
    return true;
  }

  @Override
  public StepTicket submit(Batch batch) {
    if (closed) {
      throw new IllegalStateException("the backend is closed");
    }
    if (batch.rows() == 0 || batch.rows() > CudaModel.MAX_ROWS) {
      throw new IllegalArgumentException(
          "a batch has 1 to " + CudaModel.MAX_ROWS + " rows, not " + batch.rows());
    }
    int number = submitted % tickets.length;
    CudaStepTicket ticket = tickets[number];
    CudaStepTicket oldest = tickets[(submitted + tickets.length - IN_FLIGHT) % tickets.length];
    if (!oldest.isDone()) {
      throw new IllegalStateException(IN_FLIGHT + " steps are in flight already");
    }
    ticket.begin(batch);
    submitted = (submitted + 1) % tickets.length;
    submitFailures[number] = queue(ticket, batch);
    ends.add(ending[number]);
    return ticket;
  }

  /** Queues a step on the device. Returns why that failed, or null. */
  private Throwable queue(CudaStepTicket ticket, Batch batch) {
    try {
      if (pool == null) {
        throw new IllegalStateException("no KV pool is open");
      }
      model.context().bind();
      // A step that ends at the same time would change the counts of its sampling states.
      synchronized (stateLock) {
        runner.take(ticket, batch, ring);
      }
      runner.run(ticket);
      return null;
    } catch (RuntimeException e) {
      resetAfter(ticket, e);
      return e;
    }
  }

  private void resetAfter(CudaStepTicket ticket, RuntimeException failure) {
    try {
      if (runner != null) {
        runner.reset();
      }
      ticket.recordEnd(stream);
    } catch (CudaException e) {
      failure.addSuppressed(e);
    }
  }

  private int ringIndex(StepTicket source, int output) {
    return source instanceof CudaStepTicket ticket && !ticket.isDone()
        ? ticket.ringBase() + output
        : -1;
  }

  private void awaitSteps() {
    while (!closed || !ends.isEmpty()) {
      Uninterruptibly.await(() -> ends.take().run());
    }
  }

  /** Waits for the end of a step. The backend's thread calls it. */
  private void end(int number) {
    CudaStepTicket ticket = tickets[number];
    Throwable failure = submitFailures[number];
    try {
      model.context().bind();
      if (failure == null) {
        ticket.awaitDevice();
        failure = failureOfSources(ticket.batch());
      } else {
        ticket.awaitEnd();
      }
    } catch (RuntimeException | Error e) {
      if (failure == null) {
        failure = e;
      }
    }
    if (failure instanceof CudaException e && e.isContextLost() && usable) {
      usable = false;
      model.context().noteFailure(e);
      LOG.error("The GPU's context is lost: {}", e.getMessage());
    }
    Runnable callback;
    synchronized (stateLock) {
      if (failure == null) {
        ticket.acceptTokens();
      }
      callback = ticket.end(failure);
    }
    try {
      ticket.announce(callback);
    } catch (RuntimeException e) {
      LOG.error("A callback of a step failed", e);
    }
  }

  private static Throwable failureOfSources(Batch batch) {
    for (int row = 0; row < batch.rows(); row++) {
      StepTicket source = batch.rowSource(row);
      if (source != null && source.failure() != null) {
        return new IllegalStateException(
            "a row's input comes from a failed step", source.failure());
      }
    }
    return null;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    ends.add(() -> {});
    Uninterruptibly.await(thread::join);
    if (pool != null) {
      pool.close();
    }
    for (CudaStepTicket ticket : tickets) {
      ticket.close();
    }
    model.close();
  }
}
