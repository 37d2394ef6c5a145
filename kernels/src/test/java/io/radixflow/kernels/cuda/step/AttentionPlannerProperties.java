package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.device.GpuMode;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class AttentionPlannerProperties {

  private static final int SPLIT = 32;

  record Chunk(int position, int rows) {
    int splits() {
      return (position + rows + SPLIT - 1) / SPLIT;
    }
  }

  @Property(tries = 500)
  void everySplitThatAPackedRowSeesIsInOneTile(
      @ForAll @Size(min = 1, max = 12) List<@From("chunks") Chunk> chunks,
      @ForAll @IntRange(min = 1, max = 16) int group,
      @ForAll @IntRange(min = 1, max = 300) int blocks,
      @ForAll @IntRange(max = 2000) int maxPartials,
      @ForAll @IntRange(max = 200) int spareTiles,
      @ForAll GpuMode mode,
      @ForAll boolean keysKernel) {
    AttentionShape shape = new AttentionShape(2 * group, 2, 64, 16);
    int rows = chunks.stream().mapToInt(Chunk::rows).sum();
    int maxTiles = AttentionPlanner.fewestTiles(shape, rows) + spareTiles;
    AttentionPlanner planner =
        new AttentionPlanner(
            shape,
            mode,
            blocks,
            keysKernel,
            new AttentionPlanner.Limits(chunks.size(), maxTiles, maxPartials),
            SPLIT);
    planner.begin();
    chunks.forEach(chunk -> planner.add(chunk.position(), chunk.rows()));

    planner.plan();

    assertThat(planner.tiles()).isLessThanOrEqualTo(maxTiles);
    assertThat(planner.partials()).isLessThanOrEqualTo(maxPartials);
    int[][][] seen = new int[chunks.size()][][];
    for (int i = 0; i < seen.length; i++) {
      seen[i] = new int[chunks.get(i).rows() * group][chunks.get(i).splits()];
    }
    for (int i = 0; i < planner.tiles(); i++) {
      take(planner, i, chunks, group, seen);
    }
    for (int i = 0; i < seen.length; i++) {
      for (int packed = 0; packed < seen[i].length; packed++) {
        int splits = (chunks.get(i).position() + packed / group) / SPLIT + 1;
        for (int split = 0; split < splits; split++) {
          assertThat(seen[i][packed][split])
              .as("chunk %d, packed row %d, split %d", i, packed, split)
              .isEqualTo(1);
        }
      }
    }
  }

  private static void take(
      AttentionPlanner planner, int index, List<Chunk> chunks, int group, int[][][] seen) {
    int[] tiles = planner.tileInts();
    int at = AttentionPlanner.TILE_INTS * index;
    int chunk = tiles[at];
    int rows = index < planner.keyTiles() ? 16 : 64;
    int packed = chunks.get(chunk).rows() * group;
    assertThat(tiles[at + 1] % rows).isZero();
    assertThat(tiles[at + 1]).isBetween(0, packed - 1);
    assertThat(tiles[at + 3]).isPositive();
    assertThat(tiles[at + 2] + tiles[at + 3]).isLessThanOrEqualTo(chunks.get(chunk).splits());
    if (planner.mergeInts()[2 * chunk] < 0) {
      assertThat(tiles[at + 2]).as("a tile that writes the result has all keys").isZero();
    } else {
      assertThat(tiles[at + 2] % planner.foldedSplits()).isZero();
      assertThat(tiles[at + 3])
          .as("splits of one partial")
          .isLessThanOrEqualTo(planner.foldedSplits() == 1 ? 1000 : planner.foldedSplits());
    }
    for (int row = tiles[at + 1]; row < Math.min(tiles[at + 1] + rows, packed); row++) {
      for (int split = 0; split < tiles[at + 3]; split++) {
        seen[chunk][row][tiles[at + 2] + split]++;
      }
    }
  }

  @Property(tries = 200)
  void partialsOfDifferentRowsAreApart(
      @ForAll @Size(min = 1, max = 12) List<@From("chunks") Chunk> chunks,
      @ForAll @IntRange(min = 1, max = 16) int group,
      @ForAll GpuMode mode) {
    AttentionShape shape = new AttentionShape(group, 1, 64, 16);
    AttentionPlanner planner =
        new AttentionPlanner(
            shape,
            mode,
            200,
            true,
            new AttentionPlanner.Limits(chunks.size(), 10_000, 1 << 20),
            SPLIT);
    planner.begin();
    chunks.forEach(chunk -> planner.add(chunk.position(), chunk.rows()));

    planner.plan();

    boolean[] taken = new boolean[planner.partials()];
    for (int i = 0; i < chunks.size(); i++) {
      int first = planner.mergeInts()[2 * i];
      int ofRow = planner.mergeInts()[2 * i + 1];
      assertThat(ofRow * planner.foldedSplits()).isGreaterThanOrEqualTo(chunks.get(i).splits());
      for (int j = 0; first >= 0 && j < chunks.get(i).rows() * group * ofRow; j++) {
        assertThat(taken[first + j]).isFalse();
        taken[first + j] = true;
      }
    }
  }

  @Provide
  Arbitrary<Chunk> chunks() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 700), Arbitraries.integers().between(1, 90))
        .as(Chunk::new);
  }
}
