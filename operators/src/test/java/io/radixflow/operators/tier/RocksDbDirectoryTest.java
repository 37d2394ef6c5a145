package io.radixflow.operators.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RocksDbDirectoryTest {
  @TempDir Path temporary;

  @Test
  void whatWasFlushedIsThereAfterTheProcessDiedAndALaterBatchIsThereAsAWholeOrNotAtAll()
      throws IOException {
    Path live = temporary.resolve("live");
    Path dead = temporary.resolve("dead");
    try (RocksDbDirectory directory = RocksDbDirectory.open(live)) {
      directory.put(entries(0, 100, 1), List.of(coverage(1)));
      directory.flush();
      directory.put(entries(100, 50, 2), List.of(coverage(2)));
      FileUtils.copyDirectory(live.toFile(), dead.toFile());
    }
    try (RocksDbDirectory found = RocksDbDirectory.open(dead)) {
      assertThat(found.size()).isEqualTo(100);
      assertThat(found.get(id(99))).isNotNull();
      assertThat(found.get(id(100))).isNull();
      assertThat(found.coverage(1)).isEqualTo(coverage(1));
      assertThat(found.coverage(2)).isNull();
    }
  }

  @Test
  void whatIsKnownOfSegmentsIsForgottenApartFromTheirPages() throws IOException {
    try (RocksDbDirectory directory = RocksDbDirectory.open(temporary.resolve("d"))) {
      directory.put(entries(0, 10, 7), List.of(coverage(7), coverage(8), coverage(9)));
      directory.uncover(8);
      assertThat(directory.coverage(8)).isNull();
      directory.uncoverOthers(Set.of(7L, 8L));
      assertThat(directory.coverage(7)).isEqualTo(coverage(7));
      assertThat(directory.coverage(9)).isNull();
      assertThat(directory.size()).isEqualTo(10);
      directory.clear();
      assertThat(directory.coverage(7)).isNull();
    }
  }

  private static PageDirectory.Coverage coverage(long segment) {
    return new PageDirectory.Coverage(segment, -segment, 1L << 60, segment == 1, 640, 576, -3);
  }

  @Test
  void aCopyIsOfItsTime() throws IOException {
    Path copy = temporary.resolve("copy");
    try (RocksDbDirectory directory = RocksDbDirectory.open(temporary.resolve("d"))) {
      directory.put(entries(0, 10, 1));
      directory.copyTo(copy);
      directory.put(entries(10, 10, 1));
      directory.remove(List.of(id(0)));
    }
    try (RocksDbDirectory directory = RocksDbDirectory.open(copy)) {
      assertThat(directory.size()).isEqualTo(10);
      assertThat(directory.get(id(0))).isNotNull();
      assertThat(directory.get(id(10))).isNull();
    }
  }

  @Test
  void aDamagedDirectoryDoesNotOpen() throws IOException {
    Path path = temporary.resolve("d");
    try (RocksDbDirectory directory = RocksDbDirectory.open(path)) {
      directory.put(entries(0, 10, 1));
    }
    try (Stream<Path> files = Files.list(path)) {
      for (Path manifest : files.filter(f -> f.toString().contains("MANIFEST")).toList()) {
        Files.write(manifest, new byte[] {1, 2, 3});
      }
    }
    assertThatThrownBy(() -> RocksDbDirectory.open(path))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not open");
  }

  @Test
  void aClosedDirectoryIsEmptyAndTakesNothing() throws IOException {
    RocksDbDirectory directory = RocksDbDirectory.open(temporary.resolve("d"));
    directory.put(entries(0, 10, 1));
    directory.close();
    directory.close();
    directory.put(entries(10, 10, 1));
    directory.remove(List.of(id(1)));
    assertThat(directory.get(id(1))).isNull();
    assertThat(directory.get(new PageId[] {id(1)}, 0, 1, new PageDirectory.Entry[1])).isZero();
    assertThatThrownBy(directory::flush).isInstanceOf(IOException.class);
  }

  @Test
  void anEntryOfAnotherVersionIsMissing() {
    byte[] key = DirectoryFormat.key(id(1));
    byte[] value = DirectoryFormat.encode(entries(1, 1, 1).get(0));
    assertThat(DirectoryFormat.decode(key, value)).isNotNull();
    for (int length = 0; length < value.length; length++) {
      assertThat(DirectoryFormat.decode(key, java.util.Arrays.copyOf(value, length))).isNull();
    }
    value[0]++;
    assertThat(DirectoryFormat.decode(key, value)).isNull();
  }

  @Test
  void flinksStateBackendAndTheDirectoryShareTheNativeLibrary() throws Exception {
    RocksDbLibrary.load();
    assertThat(Files.isDirectory(temporary)).isTrue();
    Class<?> backend = EmbeddedRocksDBStateBackend.class;
    java.lang.reflect.Method load =
        backend.getDeclaredMethod("ensureRocksDBIsLoaded", String.class);
    load.setAccessible(true);
    load.invoke(null, temporary.toString());
    try (RocksDbDirectory directory = RocksDbDirectory.open(temporary.resolve("d"))) {
      directory.put(entries(0, 1, 1));
      assertThat(directory.size()).isEqualTo(1);
    }
  }

  static List<PageDirectory.Entry> entries(int first, int count, long segment) {
    List<PageDirectory.Entry> entries = new ArrayList<>();
    for (int i = first; i < first + count; i++) {
      TierPage page = new TierPage(id(i), i == 0 ? null : id(i - 1), "", 0);
      entries.add(new PageDirectory.Entry(page, segment, i * 64L, 64, 1_000));
    }
    return entries;
  }

  static PageId id(int number) {
    return new PageId(number * 0x9E3779B97F4A7C15L, number, 2, 3);
  }
}
