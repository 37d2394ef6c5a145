package io.radixflow.operators.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;
import org.apache.commons.io.FileUtils;

/** A directory in RocksDB tells the same as a map, whatever is done to it. */
class PageDirectoryProperties {
  private static final int PAGES = 40;

  private Path temporary;
  private int used;

  @BeforeProperty
  void makeDirectory() throws IOException {
    temporary = java.nio.file.Files.createTempDirectory("directory");
  }

  @AfterProperty
  void deleteDirectory() throws IOException {
    FileUtils.deleteDirectory(temporary.toFile());
  }

  @Property(tries = 40)
  void anyOperationsLeaveWhatTheyWouldLeaveInAMap(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 120) int operations) throws IOException {
    Random random = new Random(seed);
    Map<PageId, PageDirectory.Entry> model = new HashMap<>();
    Path path = temporary.resolve("d" + used++);
    RocksDbDirectory directory = RocksDbDirectory.open(path);
    try {
      for (int i = 0; i < operations; i++) {
        switch (random.nextInt(12)) {
          case 0 -> {
            directory.close();
            directory = RocksDbDirectory.open(path);
          }
          case 1 -> {
            if (random.nextInt(6) == 0) {
              directory.clear();
              model.clear();
            }
          }
          case 2, 3 -> {
            List<PageId> pages = random.ints(5, 0, PAGES).mapToObj(n -> id(n)).toList();
            directory.remove(pages);
            pages.forEach(model::remove);
          }
          case 4 -> directory.flush();
          case 5 -> directory.uncoverOthers(Set.of((long) random.nextInt(6)));
          default -> {
            List<PageDirectory.Entry> entries = entries(random);
            directory.put(entries);
            entries.forEach(entry -> model.put(entry.page().id(), entry));
          }
        }
        compare(directory, model, random);
      }
    } finally {
      directory.close();
    }
  }

  private static void compare(
      RocksDbDirectory directory, Map<PageId, PageDirectory.Entry> model, Random random) {
    assertThat(directory.size()).isEqualTo(model.size());
    List<PageDirectory.Entry> all = new ArrayList<>();
    directory.forEach(all::add);
    assertThat(all).containsExactlyInAnyOrderElementsOf(model.values());
    PageId one = id(random.nextInt(PAGES));
    assertThat(directory.get(one)).isEqualTo(model.get(one));

    PageId[] chain = random.ints(100, 0, PAGES).mapToObj(n -> id(n)).toArray(PageId[]::new);
    int from = random.nextInt(100);
    PageDirectory.Entry[] into = new PageDirectory.Entry[100];
    int found = directory.get(chain, from, 100, into);
    int expected = 0;
    while (from + expected < 100 && model.containsKey(chain[from + expected])) {
      assertThat(into[from + expected]).isEqualTo(model.get(chain[from + expected]));
      expected++;
    }
    assertThat(found).isEqualTo(expected);
  }

  private static List<PageDirectory.Entry> entries(Random random) {
    List<PageDirectory.Entry> entries = new ArrayList<>();
    int count = 1 + random.nextInt(20);
    for (int i = 0; i < count; i++) {
      PageId parent = random.nextBoolean() ? null : id(random.nextInt(PAGES));
      String namespace =
          switch (random.nextInt(3)) {
            case 0 -> "";
            case 1 -> "0123456789abcdef0123456789abcdef";
            default -> "a name – of another kind";
          };
      entries.add(
          new PageDirectory.Entry(
              new TierPage(
                  id(random.nextInt(PAGES)),
                  parent,
                  namespace,
                  random.nextBoolean() ? 0 : random.nextLong()),
              random.nextInt(6),
              random.nextLong(1L << 40),
              random.nextInt(1 << 30),
              random.nextLong(1L << 45)));
    }
    return entries;
  }

  private static PageId id(int number) {
    Random random = new Random(number);
    return new PageId(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
  }
}
