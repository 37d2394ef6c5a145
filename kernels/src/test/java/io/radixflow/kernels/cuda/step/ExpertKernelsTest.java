package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.cuda.gemm.GroupedProduct;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The choice of experts and the grouping of rows, against what a list sorted plainly gives. */
class ExpertKernelsTest extends KernelTest {

  private static final int EXPERTS = 40;
  private static final int GROUPS = 8;

  /** Multiples of a quarter, so that many scores are equal. */
  private static float[] logits(int rows, Random random) {
    float[] logits = new float[rows * EXPERTS];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = random.nextInt(9) / 4f;
    }
    return logits;
  }

  private int[] choose(
      float[] logits,
      float[] correction,
      int chosen,
      boolean sigmoid,
      int chosenGroups,
      int groupBest,
      DeviceMemory weights) {
    int rows = logits.length / EXPERTS;
    DeviceMemory ids = allocate((long) rows * chosen * Integer.BYTES);
    KernelLaunch launch = module.launch("rf_choose_experts").pointer(device(logits));
    if (correction == null) {
      launch.nullPointer();
    } else {
      launch.pointer(device(correction));
    }
    launch
        .pointer(device(rows))
        .integer(EXPERTS)
        .integer(chosen)
        .integer(sigmoid ? 1 : 0)
        .integer(GROUPS)
        .integer(chosenGroups)
        .integer(groupBest)
        .integer(1)
        .real(2)
        .pointer(ids)
        .pointer(weights)
        .grid((rows + 3) / 4)
        .block(128)
        .shared(4 * (2 * EXPERTS + GROUPS) * Float.BYTES)
        .on(stream);
    return ints(ids, rows * chosen);
  }

  @Test
  void equalScoresGoToTheLowerIndexAndWeightsAreThoseOfTheSoftmax() {
    int rows = 9;
    int chosen = 6;
    float[] logits = logits(rows, new Random(1));
    DeviceMemory memory = allocate((long) rows * chosen * Float.BYTES);
    int[] ids = choose(logits, null, chosen, false, GROUPS, 1, memory);
    float[] weights = floats(memory, rows * chosen);
    for (int row = 0; row < rows; row++) {
      float[] own = Arrays.copyOfRange(logits, row * EXPERTS, (row + 1) * EXPERTS);
      List<Integer> best = best(own, range(EXPERTS), chosen);
      double sum = best.stream().mapToDouble(id -> Math.exp(own[id])).sum();
      for (int i = 0; i < chosen; i++) {
        assertThat(ids[row * chosen + i]).as("row %d, choice %d", row, i).isEqualTo(best.get(i));
        assertThat(weights[row * chosen + i] / 2 * sum / Math.exp(own[best.get(i)]))
            .isBetween(1 - 1e-5, 1 + 1e-5);
      }
    }
  }

  @Test
  void expertsOfTheBestGroupsAreChosenByCorrectedScoresAndWeighedByPlainOnes() {
    int rows = 11;
    int chosen = 4;
    Random random = new Random(2);
    float[] logits = logits(rows, random);
    float[] correction = new float[EXPERTS];
    for (int i = 0; i < EXPERTS; i++) {
      correction[i] = random.nextInt(3) / 8f;
    }
    for (int groupBest = 1; groupBest <= 2; groupBest++) {
      DeviceMemory memory = allocate((long) rows * chosen * Float.BYTES);
      int[] ids = choose(logits, correction, chosen, true, 3, groupBest, memory);
      float[] weights = floats(memory, rows * chosen);
      for (int row = 0; row < rows; row++) {
        float[] scores = new float[EXPERTS];
        float[] ranks = new float[EXPERTS];
        for (int i = 0; i < EXPERTS; i++) {
          scores[i] = 1f / ((float) Math.exp(-logits[row * EXPERTS + i]) + 1f);
          ranks[i] = scores[i] + correction[i];
        }
        List<Integer> best = best(ranks, ofBestGroups(ranks, groupBest), chosen);
        double sum = best.stream().mapToDouble(id -> scores[id]).sum();
        for (int i = 0; i < chosen; i++) {
          assertThat(ids[row * chosen + i]).as("row %d, choice %d", row, i).isEqualTo(best.get(i));
          assertThat(weights[row * chosen + i] * sum / 2 / scores[best.get(i)])
              .isBetween(1 - 1e-5, 1 + 1e-5);
        }
      }
    }
  }

  private static List<Integer> ofBestGroups(float[] ranks, int groupBest) {
    int size = EXPERTS / GROUPS;
    float[] groupRanks = new float[GROUPS];
    for (int group = 0; group < GROUPS; group++) {
      float[] own = Arrays.copyOfRange(ranks, group * size, (group + 1) * size);
      Arrays.sort(own);
      groupRanks[group] = groupBest == 1 ? own[size - 1] : own[size - 1] + own[size - 2];
    }
    List<Integer> experts = new ArrayList<>();
    for (int group : best(groupRanks, range(GROUPS), 3)) {
      range(size).forEach(i -> experts.add(group * size + i));
    }
    experts.sort(null);
    return experts;
  }

  private static List<Integer> range(int count) {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(i);
    }
    return all;
  }

  /** The first of these by value, equal ones in order. */
  private static List<Integer> best(float[] values, List<Integer> of, int count) {
    List<Integer> sorted = new ArrayList<>(of);
    sorted.sort(Comparator.comparing(id -> -values[id]));
    return sorted.subList(0, count);
  }

  @Test
  void rowsAreSortedByExpertAndCutIntoTiles() {
    for (int rows : new int[] {1, 7, 300}) {
      int chosen = 3;
      int tileRows = 8;
      int[] ids = new Random(rows).ints((long) rows * chosen, 0, 13).map(id -> id * 3).toArray();
      DeviceMemory places = allocate((long) ids.length * Integer.BYTES);
      DeviceMemory source = allocate((long) ids.length * Integer.BYTES);
      int most = GroupedProduct.mostTiles(ids.length, EXPERTS, tileRows);
      DeviceMemory tiles = allocate(16L * most);
      DeviceMemory count = allocate(Integer.BYTES);
      module
          .launch("rf_group_experts")
          .pointer(device(ids))
          .pointer(device(rows))
          .integer(chosen)
          .integer(EXPERTS)
          .integer(tileRows)
          .pointer(places)
          .pointer(source)
          .pointer(tiles)
          .pointer(count)
          .grid(EXPERTS)
          .block(256)
          .shared((EXPERTS + 8) * Integer.BYTES)
          .on(stream);
      List<Integer> sorted = range(ids.length);
      sorted.sort(Comparator.comparing(i -> ids[i]));
      int[] gotPlaces = ints(places, ids.length);
      int[] gotSource = ints(source, ids.length);
      for (int place = 0; place < ids.length; place++) {
        assertThat(gotPlaces[sorted.get(place)]).isEqualTo(place);
        assertThat(gotSource[place]).isEqualTo(sorted.get(place) / chosen);
      }
      int[] counts = ints(count, 1);
      List<int[]> expected = new ArrayList<>();
      for (int place = 0; place < ids.length; ) {
        int expert = ids[sorted.get(place)];
        int end = place;
        while (end < ids.length && ids[sorted.get(end)] == expert && end < place + tileRows) {
          end++;
        }
        expected.add(new int[] {expert, place, end - place, 0});
        place = end;
      }
      assertThat(counts[0]).isEqualTo(expected.size()).isLessThanOrEqualTo(most);
      int[] all = ints(tiles, 4 * expected.size());
      assertThat(all).isEqualTo(expected.stream().flatMapToInt(Arrays::stream).toArray());
    }
  }
}
