package io.radixflow.kernels.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The tasks of a region cover its panels, and their lengths follow the rule that was asked for. */
class PanelTasksProperties {

  private static PanelTasks shrinking(int workers, int least, List<Integer> products) {
    PanelTasks tasks = new PanelTasks(workers);
    tasks.beginEven(1);
    tasks.add(0, 3); // an earlier region
    tasks.beginShrinking(products.stream().mapToInt(Integer::intValue).sum(), least);
    return add(tasks, products);
  }

  private static PanelTasks even(int length, List<Integer> products) {
    PanelTasks tasks = new PanelTasks(2);
    tasks.beginEven(length);
    return add(tasks, products);
  }

  private static PanelTasks add(PanelTasks tasks, List<Integer> products) {
    for (int product = 0; product < products.size(); product++) {
      tasks.add(product, products.get(product));
    }
    return tasks;
  }

  private static int length(PanelTasks tasks, int task) {
    return tasks.end(task) - tasks.first(task);
  }

  /** Whether a task is the last of its product. */
  private static boolean isLast(PanelTasks tasks, int task, List<Integer> products) {
    return tasks.end(task) == products.get(tasks.product(task));
  }

  private static void assertCovers(PanelTasks tasks, List<Integer> products) {
    int task = 0;
    for (int product = 0; product < products.size(); product++) {
      for (int panel = 0; panel < products.get(product); task++) {
        assertThat(tasks.product(task)).isEqualTo(product);
        assertThat(tasks.first(task)).isEqualTo(panel);
        assertThat(tasks.end(task)).isBetween(panel + 1, products.get(product));
        panel = tasks.end(task);
      }
    }
    assertThat(tasks.count()).isEqualTo(task);
  }

  @Property
  void tasksCoverEachPanelOnceInOrder(
      @ForAll @IntRange(min = 1, max = 64) int workers,
      @ForAll @IntRange(min = 1, max = 9) int least,
      @ForAll @Size(max = 40) List<@IntRange(max = 300) Integer> products) {
    assertCovers(shrinking(workers, least, products), products);
    assertCovers(even(least, products), products);
  }

  @Property
  void onlyTheLastTaskOfAProductIsShorterThanTheLeast(
      @ForAll @IntRange(min = 1, max = 64) int workers,
      @ForAll @IntRange(min = 1, max = 9) int least,
      @ForAll @Size(min = 1, max = 40) List<@IntRange(min = 1, max = 300) Integer> products) {
    PanelTasks tasks = shrinking(workers, least, products);
    for (int task = 0; task < tasks.count(); task++) {
      if (!isLast(tasks, task, products)) {
        assertThat(length(tasks, task)).isGreaterThanOrEqualTo(least);
      }
    }
  }

  @Property
  void tasksNeverGrowButBehindAProductsLast(
      @ForAll @IntRange(min = 1, max = 64) int workers,
      @ForAll @IntRange(min = 1, max = 9) int least,
      @ForAll @Size(min = 1, max = 40) List<@IntRange(min = 1, max = 300) Integer> products) {
    PanelTasks tasks = shrinking(workers, least, products);
    for (int task = 1; task < tasks.count(); task++) {
      if (!isLast(tasks, task - 1, products)) {
        assertThat(length(tasks, task)).isLessThanOrEqualTo(length(tasks, task - 1));
      }
    }
  }

  @Property
  void aTaskIsAtMostHalfOfAWorkersShareOfWhatIsLeft(
      @ForAll @IntRange(min = 1, max = 64) int workers,
      @ForAll @IntRange(min = 1, max = 5000) int panels) {
    PanelTasks tasks = shrinking(workers, 1, List.of(panels));
    for (int task = 0; task < tasks.count(); task++) {
      int left = panels - tasks.first(task);
      assertThat(length(tasks, task)).isEqualTo(Math.max(1, left / (2 * workers)));
    }
  }

  @Example
  void evenTasksHaveOneLengthButTheLast() {
    PanelTasks tasks = even(4, List.of(10));
    assertThat(List.of(tasks.end(0), tasks.end(1), tasks.end(2))).containsExactly(4, 8, 10);
  }
}
