package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaGraph;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.pages.PageTransfers;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.GpuMode;

/**
 * Queues steps over one pool. It plans a step, sends its metadata in one copy, and launches a
 * program; for decode steps the program is a captured graph. Programs and graphs are kept. Owned by
 * the thread that submits.
 */
public final class StepLauncher implements AutoCloseable {

  /** Decode steps of up to this many rows run as graphs. */
  private static final int GRAPH_ROWS = 256;

  private static final int BUCKETS = StepSizes.number(CudaModel.MAX_ROWS) + 1;
  private static final int FLAGS = 4;

  private final CudaModel model;
  private final CudaKvPool pool;
  private final CudaStream stream;
  private final StepPlan plan;
  private final int window;
  private final AttentionPlans attention;
  private final CudaOutputStage outputs;
  private final PageTransfers transfers;
  private final StepProgram[] programs = new StepProgram[BUCKETS * FLAGS];
  private final CudaGraph[] graphs = new CudaGraph[BUCKETS * FLAGS * BUCKETS];

  /**
   * @param window number of tokens that a query sees in layers with window parts
   */
  public StepLauncher(
      CudaModel model, CudaKvPool pool, int window, GpuMode mode, CudaStream stream) {
    this.window = window;
    this.model = model;
    this.pool = pool;
    this.stream = stream;
    plan =
        new StepPlan(
            model.buffers().layout(), model.config().vocabSize(), model.config().contextLength());
    attention = model.attention(pool, mode);
    outputs = model.outputStage();
    transfers = model.transfers(pool, stream);
    pool.moveWith(transfers);
  }

  /**
   * Makes a step's metadata from a batch. The caller must make sure that no earlier step ends
   * meanwhile.
   *
   * @throws IllegalArgumentException if the batch is not valid, or does not fit
   */
  public void take(CudaStepTicket ticket, Batch batch, StepPlan.TokenRing ring) {
    plan.take(
        ticket.plan().buffer().asIntBuffer(),
        batch,
        pool.pages(),
        pool.pageTokens(),
        ring,
        ticket.ringBase());
    if (pool.parts() > 0) {
      plan.windows(pool, window);
    }
  }

  /** Queues the step whose metadata was made last, including the copies of its results. */
  public void run(CudaStepTicket ticket) {
    attention.plan(plan);
    int rows = StepSizes.size(plan.rows(), CudaModel.MAX_ROWS);
    plan.pad(rows, pool.dummySlot(), pool.dummyPartSlot());
    ticket.reserveLogits();
    StepBuffers buffers = model.buffers();
    buffers.step().writeAsync(ticket.plan(), (long) plan.ints() * Integer.BYTES, stream);
    if (transfers.isLoading()) {
      program(attention.key(rows)).run(stream, transfers);
      runOutputs(ticket);
    } else if (isForGraph()) {
      graph(attention.key(rows), StepSizes.size(plan.outputs(), outputs.blockOutputs()))
          .launch(stream);
      ticket.copyLogits(buffers.logits(), 0, plan.outputs(), stream);
    } else {
      program(attention.key(rows)).run(stream);
      runOutputs(ticket);
    }
    ticket.copyResults(buffers.results(), stream);
  }

  /**
   * Captures the graphs of decode steps in which each row has an output, so that no such step waits
   * for a capture. Other graphs are captured when they are needed.
   */
  public void warm() {
    if (model.context().synchronous()) {
      return;
    }
    int most = Math.min(GRAPH_ROWS, outputs.blockOutputs());
    for (int rows = 1; rows <= most; rows *= 2) {
      graph(attention.decodeKey(rows), rows).upload(stream);
    }
  }

  /** Makes the device ready for the next step after only a part of a step was queued. */
  public void reset() {
    model.buffers().clearArrived(stream);
  }

  private boolean isForGraph() {
    return !model.context().synchronous()
        && plan.decodeOnly()
        && plan.rows() <= GRAPH_ROWS
        && plan.outputs() > 0
        && plan.outputs() <= outputs.blockOutputs();
  }

  private void runOutputs(CudaStepTicket ticket) {
    int blockOutputs = outputs.blockOutputs();
    for (int first = 0; first < plan.outputs(); first += blockOutputs) {
      int count = Math.min(blockOutputs, plan.outputs() - first);
      outputs.run(first / blockOutputs, StepSizes.size(count, blockOutputs), stream);
      ticket.copyLogits(model.buffers().logits(), first, count, stream);
    }
  }

  private StepProgram program(StepProgram.Key key) {
    int index = programIndex(key);
    if (programs[index] == null) {
      programs[index] = model.program(pool, key);
    }
    return programs[index];
  }

  private static int programIndex(StepProgram.Key key) {
    return StepSizes.number(key.rows()) * FLAGS + (key.keys() ? 1 : 0) + (key.packed() ? 2 : 0);
  }

  private CudaGraph graph(StepProgram.Key key, int paddedOutputs) {
    int index = programIndex(key) * BUCKETS + StepSizes.number(paddedOutputs);
    if (graphs[index] == null) {
      StepProgram program = program(key);
      outputs.prepare(paddedOutputs);
      graphs[index] =
          stream.capture(
              () -> {
                program.run(stream);
                outputs.run(0, paddedOutputs, stream);
              });
    }
    return graphs[index];
  }

  @Override
  public void close() {
    for (CudaGraph graph : graphs) {
      if (graph != null) {
        graph.close();
      }
    }
    outputs.close();
    transfers.close();
  }
}
