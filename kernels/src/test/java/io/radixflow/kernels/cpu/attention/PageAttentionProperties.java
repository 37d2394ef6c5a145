package io.radixflow.kernels.cpu.attention;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.Shapes;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.NativeIsas;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.RowMemory;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.models.Attention;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Rope;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** Native code attends with the bits of plain Java, for every shape. */
class PageAttentionProperties {

  private static final Rope ROPE = new Rope(10000, true, null);

  @Provide
  Arbitrary<KvSpec.Type> kvTypes() {
    return Arbitraries.of(KvSpec.Type.F32, KvSpec.Type.F16, KvSpec.Type.FP8);
  }

  @Provide
  Arbitrary<Integer> widths() {
    return Arbitraries.of(2, 8, 10, 16, 40, 64, 80, 96, 100, 128, 256);
  }

  @Property(tries = 300)
  void groupedQueriesGetTheSameBits(
      @ForAll("kvTypes") KvSpec.Type type,
      @ForAll("widths") int width,
      @ForAll @IntRange(min = 1, max = 9) int group,
      @ForAll @IntRange(min = 1, max = 9) int rows,
      @ForAll @IntRange(min = 1, max = 400) int tokens,
      @ForAll @IntRange(min = 0, max = 60) int window,
      @ForAll long seed) {
    Attention attention =
        new Attention.Grouped(
            2 * group,
            2,
            width,
            ROPE,
            false,
            false,
            Attention.QkNorm.NONE,
            0,
            Attention.Scores.of(width));
    check(new Case(attention, type, rows, tokens, window, seed));
  }

  @Property(tries = 200)
  void latentQueriesGetTheSameBits(
      @ForAll("kvTypes") KvSpec.Type type,
      @ForAll @IntRange(min = 1, max = 40) int heads,
      @ForAll @IntRange(min = 1, max = 9) int eighths,
      @ForAll @IntRange(min = 1, max = 4) int rows,
      @ForAll @IntRange(min = 1, max = 400) int tokens,
      @ForAll long seed) {
    int rank = eighths * 12;
    Attention attention = new Attention.Latent(heads, 0, rank, 16, 8, 20, ROPE, false, 0.2f);
    check(new Case(attention, type, rows, tokens, 0, seed));
  }

  /** Native code takes at most 2,048 pages in one call. */
  @Example
  void pagesOfSeveralCallsGetTheSameBits() {
    int tokens = 2 * 2048 * CpuKvPool.PAGE_TOKENS + 100;
    Attention grouped =
        new Attention.Grouped(
            2, 2, 8, ROPE, false, false, Attention.QkNorm.NONE, 0, Attention.Scores.of(8));
    check(new Case(grouped, KvSpec.Type.F16, 3, tokens, 0, 1));
    int window = 2048 * CpuKvPool.PAGE_TOKENS + 50;
    check(new Case(grouped, KvSpec.Type.F16, 3, tokens, window, 2));
    Attention latent = new Attention.Latent(3, 0, 8, 16, 8, 20, ROPE, false, 0.2f);
    check(new Case(latent, KvSpec.Type.F16, 2, tokens, 0, 3));
  }

  /** Pages of random numbers behind queries of consecutive rows, the last of which ends them. */
  private record Case(
      Attention attention, KvSpec.Type type, int rows, int tokens, int window, long seed) {

    int keyDim() {
      return attention instanceof Attention.Latent latent
          ? latent.keyWidth()
          : ((Attention.Grouped) attention).headDim();
    }

    int valueDim() {
      return attention instanceof Attention.Latent latent ? latent.kvRank() : keyDim();
    }

    /** The last KV head. */
    int kvHead() {
      return attention.kvHeads() - 1;
    }

    /** Query heads that share a KV head. */
    int group() {
      return attention.heads() / attention.kvHeads();
    }

    int longest() {
      return tokens + rows - 1;
    }

    int pages() {
      return (longest() + CpuKvPool.PAGE_TOKENS - 1) / CpuKvPool.PAGE_TOKENS;
    }

    CpuKvPool pool() {
      ModelConfig config = Shapes.of(attention);
      CpuKvPool pool = new CpuKvPool(config, type, pages() + 3, 0, OrderedTransfer::run, () -> {});
      Random random = new Random(seed);
      Floats k = Floats.allocate(keyDim());
      Floats v = Floats.allocate(keyDim());
      for (int token = 0; token < longest(); token++) {
        fill(random, k);
        fill(random, v);
        int page = table()[token / CpuKvPool.PAGE_TOKENS];
        int slot = token % CpuKvPool.PAGE_TOKENS;
        if (valueDim() < keyDim()) {
          pool.storeKey(page, slot, 0, kvHead(), k, 0);
        } else {
          pool.store(page, slot, 0, kvHead(), k, 0, v, 0);
        }
      }
      return pool;
    }

    /** Pages from the last to the first. */
    int[] table() {
      int[] table = new int[pages()];
      for (int i = 0; i < table.length; i++) {
        table[i] = table.length - i;
      }
      return table;
    }

    static void fill(Random random, Floats x) {
      for (int i = 0; i < x.length(); i++) {
        x.set(i, random.nextFloat() * 2 - 1);
      }
    }

    HeadQueries queries(CpuKvPool pool, RowMemory memory) {
      HeadQueries q = new HeadQueries(memory);
      q.pool = pool;
      q.kvHead = kvHead();
      q.table = table();
      int seen = window == 0 ? 0 : Math.max(0, tokens - window);
      q.firstPage = seen / CpuKvPool.PAGE_TOKENS;
      q.pages = pages() - q.firstPage;
      q.keyDim = keyDim();
      q.valueDim = valueDim();
      q.scale = 0.3f;
      q.count = rows * group();
      q.ensure(q.count, q.pages);
      q.queries = memory.floats(q.count * keyDim());
      fill(new Random(seed + 1), q.queries);
      q.out = memory.floats(q.count * valueDim());
      int start = q.firstPage * CpuKvPool.PAGE_TOKENS;
      for (int i = 0; i < q.count; i++) {
        q.queryAt[i] = i * keyDim();
        q.outAt[i] = i * valueDim();
        q.to[i] = tokens + i / group() - start;
        q.from[i] = window == 0 ? 0 : Math.max(0, q.to[i] + start - window) - start;
        q.factor[i] = 0.5f + i;
      }
      return q;
    }

    /** The scores and the output, each computed in some parts. */
    float[][] run(CpuKvPool pool, PageAttention implementation, int parts) {
      try (RowMemory memory = new RowMemory()) {
        return run(queries(pool, memory), implementation, parts);
      }
    }

    private float[][] run(HeadQueries q, PageAttention implementation, int parts) {
      for (int part = 0; part < parts; part++) {
        implementation.scores(q, q.pages * part / parts, q.pages * (part + 1) / parts, 0);
      }
      float[] scores = new float[q.count * longest()];
      int start = q.firstPage * CpuKvPool.PAGE_TOKENS;
      for (int i = 0; i < q.count; i++) {
        int count = q.to[i] - q.from[i];
        int at = i * longest() + start + q.from[i];
        q.scores.get(i * q.stride() + q.from[i], scores, at, count);
      }
      for (int part = 0; part < parts; part++) {
        implementation.values(q, valueDim() * part / parts, valueDim() * (part + 1) / parts, 0);
      }
      return new float[][] {scores, q.out.toArray()};
    }
  }

  private static void check(Case c) {
    try (CpuKvPool pool = c.pool()) {
      float[][] expected = c.run(pool, new JavaPageAttention(new ScalarKernels(), 1), 1);
      for (NativeKernels.Isa isa : NativeIsas.required()) {
        PageAttention fast = PageAttention.of(new NativeKernels(isa), new ScalarKernels(), 1);
        assertSame(c.run(pool, fast, 1), expected, isa + " whole");
        assertSame(c.run(pool, fast, 3), expected, isa + " in parts");
      }
    }
  }

  private static void assertSame(float[][] actual, float[][] expected, String code) {
    assertThat(Arrays.mismatch(actual[0], expected[0])).as(code + ": scores").isEqualTo(-1);
    assertThat(Arrays.mismatch(actual[1], expected[1])).as(code + ": output").isEqualTo(-1);
  }
}
