package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.cuda.pages.PageMoves;
import io.radixflow.kernels.cuda.pages.PinnedPages;
import io.radixflow.kernels.cuda.step.AttentionPlans;
import io.radixflow.kernels.cuda.step.CudaModel;
import io.radixflow.kernels.cuda.step.ProgramRecorder;
import io.radixflow.kernels.cuda.step.SamplingKernel;
import io.radixflow.kernels.cuda.step.StepBuffers;
import io.radixflow.kernels.cuda.step.StepPlan;
import io.radixflow.kernels.cuda.step.StepProgram;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.lab.device.DeviceClock.Work;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ForwardOps.ExpertWeights;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import jcuda.Pointer;

/**
 * Times each kernel of a forward pass except the matrix products, one at a time, on buffers with
 * the shape of a model but without its weights. The kernels are attention over all layers with
 * pages that are not in the GPU's caches, norm, rotation with storing, draws, and moves of pages.
 * All kernels run in graphs and on random data.
 */
final class KernelBench implements AutoCloseable {

  /** Receives a measurement, with the fewest bytes and operations that the kernel needs. */
  @FunctionalInterface
  interface Figures {
    /**
     * @param name the name of the measured kernel
     * @param bus the bus that carries the bytes
     */
    void accept(String name, double seconds, double bytes, double flops, Bus bus);
  }

  /** The bus that carries a kernel's bytes. */
  enum Bus {
    MEMORY,
    TO_DEVICE,
    TO_HOST
  }

  private static final int PAGE_TOKENS = 16;
  private static final SamplingParams FILTERED =
      new SamplingParams(0.8f, 50, 0.95f, 0, 1, 0, 0, Map.of(), 1, -1);

  private static final List<StepBuffer> READ =
      List.of(
          StepBuffer.HIDDEN,
          StepBuffer.NORMED,
          StepBuffer.QKV,
          StepBuffer.LATENT,
          StepBuffer.LATENT_QUERY);

  private final CudaContext context;
  private final CudaStream stream;
  private final DeviceClock clock;
  private final ModelConfig config;
  private final int contextTokens;
  private final int pagesEach;
  private final long tokenBytes;
  private final Figures figures;
  private final KernelModule module;
  private final StepBuffers buffers;
  private final CudaKvPool pool;
  private final StepPlan plan;
  private final AttentionPlans attention;
  private final PinnedMemory ints;
  private final Batch batch = new Batch();

  /**
   * The contexts that attention reads.
   *
   * @param contextTokens tokens of each sequence, a multiple of 16
   * @param sequences the most sequences that {@link #decode} gets
   * @param type type of keys and values
   */
  record Contexts(int contextTokens, int sequences, KvSpec.Type type) {}

  /**
   * @throws CudaException if the device has no room for the buffers
   */
  KernelBench(
      DeviceClock clock,
      KernelModule module,
      ModelConfig config,
      GpuMode mode,
      Contexts contexts,
      Figures figures) {
    this.clock = clock;
    this.module = module;
    this.config = config;
    tokenBytes = KvSpec.of(config, contexts.type()).bytesPerToken();
    contextTokens = contexts.contextTokens();
    this.figures = figures;
    context = clock.context();
    stream = clock.stream();
    pagesEach = contextTokens / PAGE_TOKENS;
    buffers = new StepBuffers(context, config, CudaModel.MAX_ROWS);
    int pages = contexts.sequences() * pagesEach;
    pool = new CudaKvPool(context, config, contexts.type(), pages, 0, PAGE_TOKENS, () -> true);
    plan = new StepPlan(buffers.layout(), config.vocabSize(), config.contextLength());
    attention = new AttentionPlans(context.device(), config, buffers, pool, mode);
    ints = context.allocatePinned((long) buffers.layout().ints() * Integer.BYTES, "a benchmark");
    pool.fillRandom(module, stream);
    buffers.clearArrived(stream);
    for (StepBuffer rows : READ) {
      if (buffers.activation(rows) != null) {
        module.fillRandom(buffers.activation(rows), 2, stream);
      }
    }
    buffers.rotations().all().forEach(table -> module.fillRandom(table, 3, stream));
  }

  /** Measures attention and draws of a decode step over sequences at the end of their context. */
  void decode(int sequences) {
    plan(sequences, 1, SamplingParams.GREEDY);
    double kv = (double) sequences * contextTokens * tokenBytes;
    double flops = StepWork.attentionFlops(config, sequences, contextTokens);
    timeCold("attention, decode " + sequences, layers()::run, kv, flops);
    if (sequences <= buffers.layout().blockOutputs()) {
      draws(sequences);
    }
  }

  /** Measures attention, norm and rotation of the last rows of one sequence's context. */
  void extend(int rows) {
    plan(1, rows, SamplingParams.GREEDY);
    int tokens = contextTokens - (rows - 1) / 2;
    double kv = (double) contextTokens * tokenBytes;
    timeCold(
        "attention, extend " + rows,
        layers()::run,
        kv,
        StepWork.attentionFlops(config, rows, tokens));
    try (DeviceMemory gains = context.allocate(4L * config.hiddenSize(), "a benchmark")) {
      module.fillRandom(gains, 4, stream);
      ProgramRecorder norm = recorder();
      norm.norm(StepBuffer.HIDDEN, gains, StepBuffer.NORMED);
      double bytes = 4.0 * rows * config.hiddenSize();
      time("norm of " + rows, norm.program()::run, bytes, 0, Bus.MEMORY);
      ProgramRecorder rope = recorder();
      DeviceMemory headGains = config.qkNorm() ? gains : null;
      if (config.layer(0).attention() instanceof Latent) {
        rope.ropeAndStoreLatent(0, gains);
      } else {
        rope.ropeAndStore(0, headGains, headGains);
      }
      bytes = 4.0 * rows * StepBuffer.QKV.width(config);
      time("rope and store of " + rows, rope.program()::run, bytes, 0, Bus.MEMORY);
    }
  }

  /**
   * Measures the experts of a decode step's rows: choice, grouping, products and sum. Does nothing
   * without experts.
   */
  void experts(int rows) {
    int last = config.layers() - 1;
    if (!(config.layer(last).feedForward() instanceof Experts shape)) {
      return;
    }
    plan(rows, 1, SamplingParams.GREEDY);
    int hidden = config.hiddenSize();
    int width = shape.expert().width();
    long matrix = 2L * width * hidden;
    double read = Math.min(shape.count(), rows * shape.chosen()) * 3.0 * matrix;
    try (DeviceMemory gateUp = context.allocate(2 * matrix * shape.count(), "experts");
        DeviceMemory down = context.allocate(matrix * shape.count(), "experts")) {
      module.fillRandom(gateUp, 5, stream);
      module.fillRandom(down, 6, stream);
      module.fillRandom(buffers.activation(StepBuffer.ROUTER), 7, stream);
      ProgramRecorder experts = recorder();
      experts.experts(
          last,
          new ExpertWeights<>(
              matrices(gateUp, shape.count(), 2 * width, hidden),
              matrices(down, shape.count(), hidden, width),
              null),
          StepBuffer.NORMED);
      experts.addResidual();
      double flops = 6.0 * rows * shape.chosen() * width * hidden;
      timeCold("experts of " + rows, experts.program()::run, read, flops);
    }
  }

  private static List<CudaMatrix> matrices(DeviceMemory all, int count, int rows, int columns) {
    long bytes = 2L * rows * columns;
    return IntStream.range(0, count)
        .mapToObj(i -> CudaMatrix.ofBf16(all.slice(i * bytes, bytes), rows, columns))
        .toList();
  }

  /** Measures moves of the pages of one sequence between the pool and pinned memory. */
  void moves() {
    try (PinnedPages host = new PinnedPages(context, pagesEach, pool.pageBytes());
        PageMoves moves = pool.moves(module, pagesEach)) {
      for (int page = 0; page < pagesEach; page++) {
        moves.add(host.address(page), page);
      }
      double bytes = (double) pagesEach * pool.pageBytes();
      int layers = config.layers();
      String what = pagesEach + " pages ";
      time(what + "in", queue -> moves.in(queue, 0, layers), bytes, 0, Bus.TO_DEVICE);
      time(what + "out", queue -> moves.out(queue, 0, layers), bytes, 0, Bus.TO_HOST);
    }
  }

  private void draws(int sequences) {
    fillLogits(sequences);
    double bytes = 4.0 * sequences * config.vocabSize();
    try (SamplingKernel sampling =
        new SamplingKernel(
            context,
            module,
            buffers.layout(),
            buffers.step(),
            buffers.logits(),
            buffers.ring(),
            buffers.results(),
            config.vocabSize(),
            sequences)) {
      Work draw = queue -> sampling.sample(0, sequences, queue);
      time("greedy draws, " + sequences, draw, bytes, 0, Bus.MEMORY);
      plan(sequences, 1, FILTERED);
      time("top_k, top_p draws, " + sequences, draw, bytes, 0, Bus.MEMORY);
    }
  }

  /** Fills logits with the spread of real models, the same in each row. */
  private void fillLogits(int rows) {
    float[] row = new float[config.vocabSize()];
    Random random = new Random(1);
    for (int i = 0; i < row.length; i++) {
      row[i] = (float) (3 * random.nextGaussian());
    }
    long bytes = (long) Float.BYTES * row.length;
    buffers.logits().write(Pointer.to(row), bytes);
    DeviceMemory first = buffers.logits().slice(0, bytes);
    for (int i = 1; i < rows; i++) {
      buffers.logits().slice(i * bytes, bytes).copyAsync(first, bytes, stream);
    }
  }

  /** Sends the metadata of a step of the last {@code rows} positions of some sequences. */
  private void plan(int sequences, int rows, SamplingParams params) {
    batch.clear();
    for (int sequence = 0; sequence < sequences; sequence++) {
      int[] pages = new int[pagesEach];
      for (int i = 0; i < pagesEach; i++) {
        pages[i] = sequence * pagesEach + i;
      }
      batch.beginChunk(pages, pagesEach, contextTokens - rows);
      for (int row = 0; row < rows; row++) {
        batch.token(0);
      }
      batch.output(
          new SamplingState(params, new int[0], new int[0], config.vocabSize()), Batch.TOKEN);
    }
    stream.synchronize();
    plan.take(
        ints.buffer().asIntBuffer(), batch, pool.pages(), PAGE_TOKENS, (ticket, output) -> -1, 0);
    attention.plan(plan);
    buffers.step().writeAsync(ints, (long) plan.ints() * Integer.BYTES, stream);
  }

  private StepProgram layers() {
    ProgramRecorder recorder = recorder();
    for (int layer = 0; layer < config.layers(); layer++) {
      recorder.attend(layer, null);
    }
    return recorder.program();
  }

  private ProgramRecorder recorder() {
    StepProgram.Key key = attention.key(plan.rows());
    int blocks = CudaModel.attentionBlocks(context.device());
    return new ProgramRecorder(config, module, buffers, pool, null, blocks, key);
  }

  private void time(String name, Work work, double bytes, double flops, Bus bus) {
    figures.accept(name, clock.replayed(List.of(work)), bytes, flops, bus);
  }

  private void timeCold(String name, Work work, double bytes, double flops) {
    figures.accept(name, clock.replayedCold(work, module), bytes, flops, Bus.MEMORY);
  }

  @Override
  public void close() {
    pool.close();
    ints.close();
  }
}
