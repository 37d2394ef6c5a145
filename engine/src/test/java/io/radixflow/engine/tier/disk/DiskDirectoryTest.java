package io.radixflow.engine.tier.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskDirectoryTest {
  private static final FileTime LONG_AGO =
      FileTime.fromMillis(
          System.currentTimeMillis() - DiskTierOptions.DEFAULT_RETENTION.toMillis() - 60_000);

  @TempDir Path root;

  private static DiskDirectory claim(Path root, String kind, Set<String> restored)
      throws IOException {
    return DiskDirectory.claim(root, kind, restored, DiskTierOptions.DEFAULT_RETENTION);
  }

  private static DiskDirectory claim(Path root, String kind) throws IOException {
    return claim(root, kind, Set.of());
  }

  @Test
  void theNextEngineOfAKindTakesOverTheDirectoryOfTheLast() throws IOException {
    String id;
    try (DiskDirectory claimed = claim(root, "a")) {
      id = claimed.engine();
      assertThat(claimed.pages().startsWith(root.resolve(id))).isTrue();
    }
    try (DiskDirectory claimed = claim(root, "b")) {
      assertThat(claimed.engine()).isNotEqualTo(id);
    }
    try (DiskDirectory claimed = claim(root, "a")) {
      assertThat(claimed.engine()).isEqualTo(id);
    }
  }

  @Test
  void twoEnginesOfAKindHaveDirectoriesOfTheirOwn() throws IOException {
    try (DiskDirectory one = claim(root, "a");
        DiskDirectory other = claim(root, "a")) {
      assertThat(other.engine()).isNotEqualTo(one.engine());
    }
  }

  @Test
  void directoriesUnusedForTheRetentionAreDeletedUnlessTheyAreLocked() throws IOException {
    claim(root, "a").close();
    DiskDirectory used = claim(root, "b");
    Path others = Files.createDirectory(root.resolve("lost+found"));
    setUsed(others, LONG_AGO);
    for (Path directory : directories()) {
      setUsed(directory.resolve("engine"), LONG_AGO);
    }
    try (DiskDirectory claimed = claim(root, "c")) {
      assertThat(Files.list(root))
          .containsExactlyInAnyOrder(
              others, root.resolve(used.engine()), root.resolve(claimed.engine()));
    } finally {
      used.close();
    }
  }

  @Test
  void theRetentionOfADirectoryBeginsWhenItsEngineEnds() throws IOException {
    DiskDirectory claimed = claim(root, "a");
    Path kind = root.resolve(claimed.engine()).resolve("engine");
    setUsed(kind, LONG_AGO);
    claimed.close();
    claim(root, "b").close();
    assertThat(kind).exists();

    Files.createDirectories(claimed.pages());
    setUsed(kind, LONG_AGO);
    claim(root, "b").close();
    assertThat(kind).as("a process that was killed wrote pages").exists();
  }

  @Test
  void aDirectoryThatIsIncompleteAfterACrashIsDeleted() throws IOException {
    Path half = Files.createDirectories(root.resolve("0123456789ab"));
    Path fresh = Files.createDirectories(root.resolve("ba9876543210"));
    Files.createDirectories(half.resolve("pages"));
    long longer = DiskDirectory.INCOMPLETE_RETENTION.toMillis() + 60_000;
    setUsed(half, FileTime.fromMillis(System.currentTimeMillis() - longer));
    claim(root, "a").close();
    assertThat(half).doesNotExist();
    assertThat(fresh).as("another engine makes it now").exists();
  }

  @Test
  void enginesThatClaimAtOnceWhileOldDirectoriesAreDeletedAllGetOne() throws Exception {
    int engines = 6;
    ExecutorService threads = Executors.newFixedThreadPool(engines);
    try {
      for (int round = 0; round < 30; round++) {
        for (Path directory : directories()) {
          setUsed(directory.resolve("engine"), LONG_AGO);
        }
        CountDownLatch go = new CountDownLatch(1);
        List<Future<DiskDirectory>> claims = new ArrayList<>();
        for (int i = 0; i < engines; i++) {
          String kind = round + " " + i % 2;
          claims.add(
              threads.submit(
                  () -> {
                    go.await();
                    return claim(root, kind);
                  }));
        }
        go.countDown();
        Set<String> ids = new HashSet<>();
        for (Future<DiskDirectory> claim : claims) {
          ids.add(claim.get().engine());
        }
        assertThat(ids).hasSize(engines);
        for (Future<DiskDirectory> claim : claims) {
          claim.get().close();
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void onlyItsOwnerCanReadADirectory() throws IOException {
    Path tiers = root.resolve("working/tiers");
    try (DiskDirectory claimed = claim(tiers, "a")) {
      for (Path path : List.of(tiers, tiers.resolve(claimed.engine()))) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
            .isEqualTo("rwx------");
      }
    }
  }

  @Test
  void aDirectoryThatHadNoPartInTheRestoredCheckpointIsEmptied() throws IOException {
    String engine;
    Path page;
    try (DiskDirectory claimed = claim(root, "a")) {
      engine = claimed.engine();
      page = Files.createDirectories(claimed.pages()).resolve("page");
      Files.writeString(page, "page");
    }
    claim(root, "a", Set.of(engine, "other")).close();
    assertThat(page).exists();
    claim(root, "a", Set.of("other")).close();
    assertThat(page).doesNotExist();
  }

  private List<Path> directories() throws IOException {
    try (Stream<Path> all = Files.list(root)) {
      return all.filter(path -> Files.exists(path.resolve("engine"))).toList();
    }
  }

  private static void setUsed(Path path, FileTime time) throws IOException {
    Files.setLastModifiedTime(path, time);
  }
}
