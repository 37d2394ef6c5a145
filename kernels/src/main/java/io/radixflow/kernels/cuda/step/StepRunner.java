package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaGraph;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.pages.PageTransfers;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.GpuMode;

/**
 * Queues steps over one pool: plans them, sends their metadata in one copy, and launches a program,
 * for decode steps as a captured graph. Programs and graphs are made when first needed and kept.
 * Owned by the thread that submits.
 */
public final class StepRunner implements AutoCloseable {

  /** Decode steps of up to so many rows run as graphs. */
  private static final int GRAPH_ROWS = 256;

  private static final int BUCKETS = StepSizes.number(CudaModel.MAX_ROWS) + 1;
  private static final int FLAGS = 4;

  private final CudaModel model;
  private final CudaKvPool pool;
  private final CudaStream stream;
  private final StepPlan plan;
  private final AttentionPlanner attention;
  private final OutputStage outputs;
  private final PageTransfers transfers;
  private final StepProgram[] programs = new StepProgram[BUCKETS * FLAGS];
  private final CudaGraph[] graphs = new CudaGraph[BUCKETS * FLAGS * BUCKETS];

  public StepRunner(CudaModel model, CudaKvPool pool, GpuMode mode, CudaStream stream) {
    this.model = model;
    this.pool = pool;
    this.stream = stream;
    plan =
        new StepPlan(
            model.buffers().layout(), model.config().vocabSize(), model.config().contextLength());
    attention = model.planner(AttentionShape.of(model.config(), pool.pageTokens()), mode);
    outputs = model.outputStage();
    transfers = model.transfers(pool, stream);
    pool.moveWith(transfers);
  }

  /**
   * Takes a step's metadata from a batch; the caller makes sure that no earlier step ends
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
  }

  /** Queues the step taken last, up to the copies of its results. */
  public void run(CudaStepTicket ticket) {
    plan.attention(attention);
    int rows = StepSizes.size(plan.rows(), CudaModel.MAX_ROWS);
    plan.pad(rows, pool.dummySlot());
    ticket.reserveLogits();
    StepBuffers buffers = model.buffers();
    buffers.step().writeAsync(ticket.plan(), (long) plan.ints() * Integer.BYTES, stream);
    if (transfers.isLoading()) {
      program(rows).run(stream, transfers);
      runOutputs(ticket);
    } else if (isForGraph()) {
      graph(rows).launch(stream);
      ticket.copyLogits(buffers.logits(), 0, plan.outputs(), stream);
    } else {
      program(rows).run(stream);
      runOutputs(ticket);
    }
    ticket.copyResults(buffers.results(), stream);
  }

  /** Makes the device ready for the next step after a step that was queued only in part. */
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

  private StepProgram program(int rows) {
    boolean keys = attention.keyTiles() > 0;
    boolean packed = attention.tiles() > attention.keyTiles();
    int index = programIndex(rows);
    if (programs[index] == null) {
      programs[index] = model.program(pool, new StepProgram.Key(rows, keys, packed));
    }
    return programs[index];
  }

  private int programIndex(int rows) {
    int flags =
        (attention.keyTiles() > 0 ? 1 : 0) | (attention.tiles() > attention.keyTiles() ? 2 : 0);
    return StepSizes.number(rows) * FLAGS + flags;
  }

  private CudaGraph graph(int rows) {
    int padded = StepSizes.size(plan.outputs(), outputs.blockOutputs());
    int index = programIndex(rows) * BUCKETS + StepSizes.number(padded);
    if (graphs[index] == null) {
      StepProgram program = program(rows);
      outputs.prepare(padded);
      graphs[index] =
          stream.capture(
              () -> {
                program.run(stream);
                outputs.run(0, padded, stream);
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
