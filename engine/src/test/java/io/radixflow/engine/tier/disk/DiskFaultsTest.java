package io.radixflow.engine.tier.disk;

import static io.radixflow.engine.Patience.await;
import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that are not as they were written, disks that are full, processes that are killed. */
@Timeout(300)
class DiskFaultsTest {
  private static final int CHAINS = 20;
  private static final int LENGTH = 50;
  private static final long LIMIT = 8 << 20;

  @TempDir Path directory;

  private DiskStore open() throws IOException {
    return DiskStore.open(
        directory, DiskTierOptions.of(LIMIT), EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS);
  }

  private void fill() throws IOException {
    try (DiskStore store = open()) {
      for (int i = 0; i < CHAINS; i++) {
        write(store, chain(i, LENGTH));
      }
    }
  }

  private List<Path> files() throws IOException {
    return TierPages.files(directory).stream().filter(file -> file.toFile().length() > 0).toList();
  }

  private static int pages(DiskStore store) {
    int pages = 0;
    for (int i = 0; i < CHAINS; i++) {
      pages += read(store, chain(i, LENGTH));
    }
    return pages;
  }

  /** Asserts that what is written from now on is kept. */
  private static void assertThatPagesAreKept(DiskStore store) {
    Chain more = chain(1_000, LENGTH);
    await()
        .until(
            () -> {
              write(store, more);
              return read(store, more) == LENGTH;
            });
  }

  private static void flip(Path file, Random random, int bits) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      for (int i = 0; i < bits; i++) {
        long at = (long) (random.nextDouble() * bytes.length());
        bytes.seek(at);
        int old = bytes.read();
        bytes.seek(at);
        bytes.write(old ^ 1 << random.nextInt(8));
      }
    }
  }

  @Test
  void flippedBitsInAnyFileGiveNoWrongPageAndNewPagesAreKept() throws IOException {
    fill();
    for (int round = 0; round < 25; round++) {
      Random random = new Random(round);
      List<Path> files = files();
      flip(files.get(random.nextInt(files.size())), random, 1 + random.nextInt(20));
      try (DiskStore store = open()) {
        pages(store);
        assertThatPagesAreKept(store);
        for (int i = 0; i < CHAINS; i++) {
          write(store, chain(i, LENGTH));
        }
      }
    }
  }

  /** RocksDB may end the process when it reads damaged blocks without their checksums. */
  @Test
  void damagedBlocksOfTheTablesDoNotEndTheProcess() throws IOException {
    for (int round = 0; round < 4; round++) {
      fill();
      Random random = new Random(round);
      for (Path file : files()) {
        if (file.toString().endsWith(".sst")) {
          damageBlocks(file, random);
        }
      }
      try (DiskStore store = open()) {
        assertThat(pages(store)).isLessThan(CHAINS * LENGTH);
        assertThatPagesAreKept(store);
      }
    }
  }

  /** Flips bits in the first half of a table, as its index and filter are in the other one. */
  private static void damageBlocks(Path table, Random random) throws IOException {
    byte[] bytes = Files.readAllBytes(table);
    for (int at = 0; at < bytes.length / 2; at += 1 + random.nextInt(20)) {
      bytes[at] ^= (byte) (1 << random.nextInt(8));
    }
    Files.write(table, bytes);
  }

  @Test
  void aDamagedPageCostsNoOtherPage() throws IOException {
    fill();
    Path blobs =
        files().stream()
            .filter(file -> file.toString().endsWith(".blob"))
            .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
            .orElseThrow();
    flip(blobs, new Random(1), 3);
    try (DiskStore store = open()) {
      assertThat(pages(store)).isBetween(CHAINS * LENGTH / 2, CHAINS * LENGTH - 1);
      assertThat(store.stats().misses()).containsKey(MissReason.CHECKSUM);
      assertThatPagesAreWrittenAgain(store);
    }
  }

  /** Reads again and again, as each read of a conversation finds one damaged page. */
  private static void assertThatPagesAreWrittenAgain(DiskStore store) {
    await()
        .until(
            () -> {
              for (int i = 0; i < CHAINS; i++) {
                write(store, chain(i, LENGTH));
              }
              return pages(store) == CHAINS * LENGTH;
            });
  }

  @Test
  void pagesWhoseFileIsGoneAreWrittenAgain() throws IOException {
    fill();
    try (DiskStore store = open()) {
      for (Path file : files()) {
        if (file.toString().endsWith(".blob")) {
          Files.delete(file);
        }
      }
      assertThatPagesAreWrittenAgain(store);
    }
  }

  @Test
  void truncatedOrDeletedFilesGiveNoWrongPageAndNewPagesAreKept() throws IOException {
    fill();
    for (int round = 0; round < 25; round++) {
      Random random = new Random(round);
      List<Path> files = files();
      Path file = files.get(random.nextInt(files.size()));
      if (random.nextBoolean()) {
        Files.delete(file);
      } else {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
          bytes.setLength((long) (random.nextDouble() * bytes.length()));
        }
      }
      try (DiskStore store = open()) {
        pages(store);
        assertThatPagesAreKept(store);
        for (int i = 0; i < CHAINS; i++) {
          write(store, chain(i, LENGTH));
        }
      }
    }
  }

  @Test
  void aDamagedIndexIsFoundWhileTheStoreIsOpen() throws IOException {
    fill();
    Path table =
        files().stream()
            .filter(file -> file.toString().endsWith(".sst"))
            .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
            .orElseThrow();
    try (RandomAccessFile bytes = new RandomAccessFile(table.toFile(), "rw")) {
      bytes.seek(0);
      bytes.write(new byte[(int) bytes.length() / 2]);
    }
    try (DiskStore store = open()) {
      assertThat(pages(store)).isLessThanOrEqualTo(CHAINS * LENGTH);
      assertThatPagesAreKept(store);
    }
  }

  /** Writes pages until it is killed; prints each conversation that was written. */
  static final class Writer {
    public static void main(String[] arguments) throws IOException {
      DiskStore store =
          DiskStore.open(
              Path.of(arguments[0]),
              DiskTierOptions.of(LIMIT),
              EPOCH,
              PageSizes.of(PAGE_BYTES),
              TierPages.KEYS);
      System.out.println("open");
      System.in.read();
      for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
        Chain chain = chain(i, LENGTH);
        int failed = store.write(chain.pages(), chain.bytes(), LENGTH);
        boolean erases = !store.erased().isCompletedExceptionally();
        System.out.println(i + " " + (LENGTH - failed) + " " + read(store, chain) + " " + erases);
      }
      System.exit(0);
    }

    /** Starts a process, which writes once it is given a line. */
    static Process start(Path directory, int chains) throws IOException {
      return new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx256m",
              "-XX:TieredStopAtLevel=1",
              "-cp",
              System.getProperty("java.class.path"),
              Writer.class.getName(),
              directory.toString(),
              Integer.toString(chains))
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start();
    }

    static void go(Process writer) throws IOException {
      writer.getOutputStream().write('\n');
      writer.getOutputStream().flush();
    }
  }

  @Test
  void writtenPagesSurviveKillMinusNine() throws Exception {
    int last = -1;
    Process writer = Writer.start(directory, Integer.MAX_VALUE);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(writer.getInputStream()))) {
      assertThat(lines.readLine()).isEqualTo("open");
      Writer.go(writer);
      while (last < 40) {
        last = Integer.parseInt(lines.readLine().split(" ")[0]);
      }
    } finally {
      writer.destroyForcibly().waitFor();
    }
    try (DiskStore store = open()) {
      assertThat(read(store, chain(last, LENGTH))).isEqualTo(LENGTH);
      assertThat(read(store, chain(last - 20, LENGTH))).isEqualTo(LENGTH);
      assertThat(store.stats().misses().keySet()).isSubsetOf(MissReason.ABSENT);
      assertThatPagesAreKept(store);
    }
  }

  /** No file may grow beyond a size, as if the disk were full. */
  @Test
  void pagesThatAFullDiskRefusesAreMissesUntilItHasRoom() throws Exception {
    assumeThat(Path.of("/usr/bin/prlimit")).exists();
    fill();
    Process writer = Writer.start(directory, 60);
    int refused = 0;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(writer.getInputStream()))) {
      assertThat(lines.readLine()).isEqualTo("open");
      String[] limit = {"prlimit", "--pid", Long.toString(writer.pid()), "--fsize=30000:30000"};
      assertThat(new ProcessBuilder(limit).inheritIO().start().waitFor()).isZero();
      Writer.go(writer);
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        assertThat(Integer.parseInt(words[2])).isBetween(0, LENGTH);
        refused += words[1].equals("0") ? 1 : 0;
        assertThat(words[3])
            .as("it says that it erases")
            .isEqualTo(Boolean.toString(!words[1].equals("0")));
      }
    }
    assertThat(writer.waitFor()).as("the process ends in order").isZero();
    assertThat(refused).isPositive();
    try (DiskStore store = open()) {
      pages(store);
      assertThatPagesAreKept(store);
    }
  }
}
