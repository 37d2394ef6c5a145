package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.device.KvSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One step's attention on the device: conversations in a pool of random pages, some of them chunks
 * of the step.
 */
final class AttentionRun {

  private static final short NAN = (short) 0xffff;

  private final KernelTest test;
  private final AttentionCase conversations;
  private final AttentionPlanner planner;
  private final Random random;
  private final List<int[]> chunks = new ArrayList<>();

  AttentionRun(
      KernelTest test, AttentionCase conversations, AttentionPlanner planner, Random random) {
    this.test = test;
    this.conversations = conversations;
    this.planner = planner;
    this.random = random;
  }

  /** Adds a chunk: {@code rows} rows of a conversation from a position on. */
  AttentionRun chunk(int conversation, int position, int rows) {
    chunks.add(new int[] {conversation, position, rows});
    return this;
  }

  /** Runs the step; the result is [row][head][element]. */
  float[] run() {
    AttentionShape shape = conversations.shape;
    planner.begin();
    chunks.forEach(chunk -> planner.add(chunk[1], chunk[2]));
    planner.plan();
    int[] firstRow = new int[chunks.size() + 1];
    int[] pageStart = new int[chunks.size() + 1];
    for (int i = 0; i < chunks.size(); i++) {
      firstRow[i + 1] = firstRow[i] + chunks.get(i)[2];
      pageStart[i + 1] = pageStart[i] + pages(chunks.get(i));
    }
    int rows = firstRow[chunks.size()];
    int pool = pageStart[chunks.size()] * 2 + 3;
    int[] pageIds = pages(pool, pageStart[chunks.size()]);
    int width = shape.heads() * shape.headDim();
    int queryWidth = width + 2 * shape.kvHeads() * shape.headDim();
    DeviceMemory out = test.allocate((long) rows * width * Short.BYTES);
    DeviceMemory arrived =
        test.device(new int[4 + (int) shape.arrivedBytes(planner.partials()) / Integer.BYTES]);
    List<DeviceMemory> memory =
        List.of(
            test.device(queries(rows, queryWidth)),
            pool(pool, pageStart, pageIds, conversations.keys),
            pool(pool, pageStart, pageIds, conversations.values),
            out,
            test.allocate(16 + shape.partialBytes(planner.partials())),
            test.allocate(16 + shape.weightBytes(planner.partials())),
            arrived,
            test.device(header()),
            test.device(Arrays.copyOf(planner.tileInts(), 4 * planner.tiles())),
            test.device(Arrays.copyOf(planner.mergeInts(), 2 * chunks.size())),
            test.device(firstRow),
            test.device(chunks.stream().mapToInt(chunk -> chunk[1]).toArray()),
            test.device(pageStart),
            test.device(pageIds));
    launch(shape.keysKernel(), memory, 3, shape.kvHeads(), shape.keysSharedBytes());
    launch(shape.rowsKernel(), memory, 3, shape.kvHeads(), shape.rowsSharedBytes());
    assertThat(test.ints(arrived, (int) (arrived.bytes() / Integer.BYTES)))
        .as("counters are ready for the next step")
        .containsOnly(0);
    return Bf16.toFloats(test.shorts(out, rows * width));
  }

  private void launch(String kernel, List<DeviceMemory> memory, int x, int y, int shared) {
    AttentionShape shape = conversations.shape;
    KernelLaunch launch = test.module.launch(kernel).pointer(memory.get(0));
    launch.integer((shape.heads() + 2 * shape.kvHeads()) * shape.headDim());
    memory.subList(1, memory.size()).forEach(launch::pointer);
    launch.integer(shape.kvHeads()).integer(shape.group()).integer(shape.pageTokens());
    DeviceMemory sinks = conversations.sinks == null ? null : test.device(conversations.sinks);
    new ScoreArguments(conversations.scores, conversations.window, sinks).append(launch);
    launch.grid(x, y, 1).block(AttentionShape.THREADS).shared(shared).on(test.stream);
  }

  private int[] header() {
    return new int[] {
      planner.tiles(), planner.keyTiles(), planner.splitTokens(), planner.foldedSplits()
    };
  }

  private int pages(int[] chunk) {
    int pageTokens = conversations.shape.pageTokens();
    return (chunk[1] + chunk[2] + pageTokens - 1) / pageTokens;
  }

  private int[] pages(int pool, int count) {
    int[] pages = IntStream.range(0, pool).toArray();
    for (int i = pool - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int page = pages[i];
      pages[i] = pages[other];
      pages[other] = page;
    }
    return Arrays.copyOf(pages, count);
  }

  /** Rows of queries, and NaN where keys and values of the rows are. */
  private short[] queries(int rows, int queryWidth) {
    int width = conversations.shape.heads() * conversations.shape.headDim();
    short[] queries = new short[rows * queryWidth];
    Arrays.fill(queries, NAN);
    int row = 0;
    for (int[] chunk : chunks) {
      for (int i = 0; i < chunk[2]; i++) {
        int token = conversations.start[chunk[0]] + chunk[1] + i;
        System.arraycopy(conversations.queries, token * width, queries, row++ * queryWidth, width);
      }
    }
    return queries;
  }

  /** One layer's keys or values; NaN in every slot that no chunk's prefix has. */
  private DeviceMemory pool(int pages, int[] pageStart, int[] pageIds, short[] tokens) {
    return conversations.shape.type() == KvSpec.Type.FP8
        ? test.device(codes(pages, pageStart, pageIds, tokens))
        : test.device(halves(pages, pageStart, pageIds, tokens));
  }

  private byte[] codes(int pages, int[] pageStart, int[] pageIds, short[] tokens) {
    AttentionShape shape = conversations.shape;
    int pageTokens = shape.pageTokens();
    int heads = shape.kvHeads();
    Float8Pages pool = new Float8Pages(pages, pageTokens, heads, shape.headDim());
    for (int i = 0; i < chunks.size(); i++) {
      int[] chunk = chunks.get(i);
      for (int position = 0; position < chunk[1] + chunk[2]; position++) {
        int page = pageIds[pageStart[i] + position / pageTokens];
        int slot = page * pageTokens + position % pageTokens;
        int from = (conversations.start[chunk[0]] + position) * heads;
        for (int head = 0; head < heads; head++) {
          pool.put(slot, head, tokens, (from + head) * shape.headDim());
        }
      }
    }
    return pool.bytes;
  }

  private short[] halves(int pages, int[] pageStart, int[] pageIds, short[] tokens) {
    int pageTokens = conversations.shape.pageTokens();
    int width = conversations.shape.kvHeads() * conversations.shape.headDim();
    short[] pool = new short[pages * pageTokens * width];
    Arrays.fill(pool, NAN);
    for (int i = 0; i < chunks.size(); i++) {
      int[] chunk = chunks.get(i);
      for (int position = 0; position < chunk[1] + chunk[2]; position++) {
        int page = pageIds[pageStart[i] + position / pageTokens];
        int from = (conversations.start[chunk[0]] + position) * width;
        int to = (page * pageTokens + position % pageTokens) * width;
        System.arraycopy(tokens, from, pool, to, width);
      }
    }
    return pool;
  }
}
