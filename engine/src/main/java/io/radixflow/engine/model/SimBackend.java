package io.radixflow.engine.model;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.kernels.sampling.Sampler;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.models.ModelConfig;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The simulated device: one thread that runs steps and discards in the order of their submission.
 */
final class SimBackend implements Backend {
  private static final int MAX_ROWS = 4096;
  private static final int SPINS = 200;

  private final ModelConfig model;
  private final SimOptions options;
  private final SimLogits logits;
  private final Sampler sampler;
  private final float[] row;
  private final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
  private final Thread thread = new Thread(this::run, "radixflow-sim");

  /**
   * Copies out of the pool that wait for the end of one more step; owned by the device's thread.
   */
  private final ArrayDeque<OrderedTransfer> late = new ArrayDeque<>();

  private volatile SimPool pool;
  private volatile boolean closed;

  SimBackend(ModelConfig model, SimOptions options) {
    this.model = model;
    this.options = options;
    this.logits = new SimLogits(options.endOfTurn());
    this.sampler = new Sampler(model.vocabSize());
    this.row = new float[model.vocabSize()];
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public String description() {
    return "sim (simulated, pipeline depth " + options.pipelineDepth() + ")";
  }

  @Override
  public ModelConfig model() {
    return model;
  }

  @Override
  public KvSpec kvSpec() {
    KvSpec.Group full = new KvSpec.Group(1, 1, 1, 0, KvSpec.Type.SIM, 0);
    int window = options.window();
    return new KvSpec(
        window == 0
            ? List.of(full)
            : List.of(full, new KvSpec.Group(1, 1, 1, 0, KvSpec.Type.SIM, window)));
  }

  @Override
  public int partedWindow() {
    return options.window();
  }

  @Override
  public int[] pageTokens() {
    return new int[] {1, 2, 4, 8, 16, 32, 64, 128};
  }

  @Override
  public int maxBatchRows() {
    return MAX_ROWS;
  }

  @Override
  public int pipelineDepth() {
    return options.pipelineDepth();
  }

  @Override
  public String numericsEpoch() {
    long model = SimPool.mix(0x73696dL, Double.hashCode(options.endOfTurn()));
    return String.format(
        "%016x", options.window() == 0 ? model : SimPool.mix(model, options.window()));
  }

  @Override
  public KvPool openPool(int pages, int pageTokens) {
    return openPool(pages, 0, pageTokens);
  }

  @Override
  public boolean movesWindowParts() {
    return true;
  }

  @Override
  public KvPool openPool(int pages, int parts, int pageTokens) {
    if (pool != null) {
      throw new IllegalArgumentException("a pool of " + pool.pages() + " pages is open already");
    }
    if (pages < 1 || pageTokens < 1 || pageTokens > 128 || Integer.bitCount(pageTokens) != 1) {
      throw new IllegalArgumentException(
          pages
              + " pages of "
              + pageTokens
              + " tokens: need at least one page of 1, 2, 4 … or "
              + "128 tokens");
    }
    if (parts < 0 || parts > 0 && options.window() == 0) {
      throw new IllegalArgumentException(parts + " window parts for window " + options.window());
    }
    SimWindow window =
        options.window() == 0 ? null : new SimWindow(options.window(), pages, parts, pageTokens);
    pool = new SimPool(this, pages, pageTokens, options.calls(), window);
    return pool;
  }

  void poolClosed(SimPool other) {
    if (pool == other) {
      pool = null;
    }
  }

  void discard(SimPool from, int page) {
    if (options.poison() && !closed) {
      work.add(() -> from.poison(page));
    }
  }

  void discardPart(SimWindow from, int part) {
    if (options.poison() && !closed) {
      work.add(() -> from.poison(part));
    }
  }

  void copyIn(OrderedTransfer transfer) {
    requireOpen();
    work.add(transfer::run);
  }

  void copyOut(OrderedTransfer transfer) {
    requireOpen();
    work.add(() -> late.add(transfer));
  }

  private void runLate() {
    for (OrderedTransfer each; (each = late.poll()) != null; ) {
      each.run();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the backend is closed");
    }
  }

  @Override
  public StepTicket submit(Batch batch) {
    requireOpen();
    HostStepTicket ticket = new HostStepTicket(model.vocabSize(), SPINS);
    ticket.begin(batch);
    work.add(() -> execute(ticket));
    return ticket;
  }

  private void run() {
    try {
      while (!closed || !work.isEmpty()) {
        if (work.isEmpty()) {
          runLate();
        }
        work.take().run();
      }
      runLate();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void execute(HostStepTicket ticket) {
    Throwable failure = null;
    try {
      step(ticket);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
    runLate();
    if (failure == null) {
      ticket.acceptTokens();
    }
    ticket.announce(ticket.end(failure));
  }

  private void step(HostStepTicket ticket) {
    Batch batch = ticket.batch();
    for (int r = 0; r < batch.rows(); r++) {
      StepTicket source = batch.rowSource(r);
      if (source != null && source.failure() != null) {
        throw new IllegalStateException("a row's input comes from a failed step", source.failure());
      }
    }
    options.fault().beforeStep(batch);
    long nanos = options.stepNanos() + options.rowNanos() * batch.rows();
    if (nanos > 0) {
      options.clock().pass(nanos);
    }
    int output = 0;
    for (int chunk = 0; chunk < batch.chunks(); chunk++) {
      output = runChunk(ticket, chunk, output);
    }
  }

  /**
   * Runs the rows of a chunk in order. Each row reads its own slot and all slots before it from the
   * pool.
   */
  private int runChunk(HostStepTicket ticket, int chunk, int firstOutput) {
    Batch batch = ticket.batch();
    SimPool slots = pool;
    int[] table = batch.chunkPages(chunk);
    int start = batch.chunkPosition(chunk);
    int end = start + batch.chunkRows(chunk);
    if (end > batch.chunkPageCount(chunk) * slots.pageTokens()) {
      throw new IllegalArgumentException(
          "position " + (end - 1) + " is beyond " + batch.chunkPageCount(chunk) + " pages");
    }
    int output = firstOutput;
    long prefix = slots.prefix(table, start);
    for (int i = 0; i < batch.chunkRows(chunk); i++) {
      int batchRow = batch.chunkFirstRow(chunk) + i;
      int token = batch.rowToken(batchRow);
      slots.store(table, start + i, token, prefix);
      prefix = slots.extend(prefix, table, start + i);
      while (output < batch.outputs() && batch.outputRow(output) == batchRow) {
        logits(slots, table, start + i, slots.seen(prefix, table, start + i), token);
        produce(ticket, output++);
      }
    }
    return output;
  }

  private void logits(SimPool slots, int[] table, int position, long prefix, int last) {
    int next = options.calls() ? SimCalls.next(slots.tokens(table, position + 1)) : -1;
    if (next >= 0) {
      logits.force(next, row);
    } else {
      logits.fill(prefix, last, row);
    }
  }

  private void produce(HostStepTicket ticket, int output) {
    Batch batch = ticket.batch();
    int flags = batch.outputFlags(output);
    if ((flags & Batch.LOGITS) != 0) {
      ticket.putLogits(output, row, 0);
    }
    SamplingState state = batch.outputSampling(output);
    if (state == null) {
      return;
    }
    int given = batch.outputGiven(output);
    int token =
        given >= 0 ? given : sampler.sample(row, 0, row.length, state, batch.outputMask(output));
    ticket.putToken(output, token);
    if ((flags & Batch.LOGPROBS) != 0) {
      ticket.putLogprobs(output, sampler, row, 0, token, state.params().topLogprobs());
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    work.add(() -> {});
    Uninterruptibly.await(thread::join);
  }
}
