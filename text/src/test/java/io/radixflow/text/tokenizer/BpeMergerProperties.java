package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class BpeMergerProperties {

  /** Ranks of pairs over few ids, so that merges pile up; equal ranks happen, as with scores. */
  private static MergeTable table(long seed, int ids, int[][] ranks) {
    Random random = new Random(seed);
    MergeTable table = new MergeTable(ids * ids);
    for (int left = 0; left < ids; left++) {
      for (int right = 0; right < ids; right++) {
        ranks[left][right] = random.nextInt(4) == 0 ? random.nextInt(ids) : -1;
        if (ranks[left][right] >= 0) {
          // The outcome is a function of the rank, as it is with one merge a rank.
          table.put(left, right, ranks[left][right], ranks[left][right]);
        }
      }
    }
    return table;
  }

  @Property(tries = 2000)
  void shortAndLongPiecesMergeByTheDefinition(
      @ForAll long seed,
      @ForAll @IntRange(min = 2, max = 12) int ids,
      @ForAll @IntRange(min = 0, max = 200) int length) {
    int[][] ranks = new int[ids][ids];
    BpeMerger merger = new BpeMerger(table(seed, ids, ranks));
    List<Integer> symbols = new ArrayList<>();
    new Random(seed + 1).ints(length, 0, ids).forEach(symbols::add);
    for (int reuse = 0; reuse < 2; reuse++) {
      merger.clear();
      symbols.forEach(merger::add);
      merger.merge();
      int[] merged = Arrays.copyOf(merger.ids(), merger.size());
      assertThat(merged).isEqualTo(naive(symbols, ranks));
    }
  }

  @Example
  void aMillionEqualSymbolsMergeInLinearithmicWork() {
    MergeTable doubling = new MergeTable(20);
    for (int level = 0; level < 20; level++) {
      doubling.put(level, level, level, level + 1);
    }
    BpeMerger merger = new BpeMerger(doubling);
    for (int i = 0; i < 1 << 20; i++) {
      merger.add(0);
    }
    merger.merge();
    assertThat(Arrays.copyOf(merger.ids(), merger.size())).containsExactly(20);
  }

  private static int[] naive(List<Integer> start, int[][] ranks) {
    List<Integer> symbols = new ArrayList<>(start);
    while (true) {
      int best = -1;
      for (int i = 0; i + 1 < symbols.size(); i++) {
        int rank = ranks[symbols.get(i)][symbols.get(i + 1)];
        if (rank >= 0 && (best < 0 || rank < ranks[symbols.get(best)][symbols.get(best + 1)])) {
          best = i;
        }
      }
      if (best < 0) {
        return symbols.stream().mapToInt(Integer::intValue).toArray();
      }
      symbols.set(best, ranks[symbols.get(best)][symbols.remove(best + 1)]);
    }
  }
}
