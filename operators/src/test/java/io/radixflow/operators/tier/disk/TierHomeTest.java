package io.radixflow.operators.tier.disk;

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

class TierHomeTest {
  private static final FileTime LONG_AGO =
      FileTime.fromMillis(
          System.currentTimeMillis() - TierHome.FORGOTTEN_AFTER.toMillis() - 60_000);

  @TempDir Path root;

  @Test
  void theNextEngineOfAKindFindsTheHomeOfTheLast() throws IOException {
    String id;
    try (TierHome home = TierHome.claim(root, "a", Set.of())) {
      id = home.engine();
      assertThat(home.directory().startsWith(root.resolve(id))).isTrue();
    }
    try (TierHome home = TierHome.claim(root, "b", Set.of())) {
      assertThat(home.engine()).isNotEqualTo(id);
    }
    try (TierHome home = TierHome.claim(root, "a", Set.of())) {
      assertThat(home.engine()).isEqualTo(id);
    }
  }

  @Test
  void twoEnginesOfAKindHaveHomesOfTheirOwn() throws IOException {
    try (TierHome one = TierHome.claim(root, "a", Set.of());
        TierHome other = TierHome.claim(root, "a", Set.of())) {
      assertThat(other.engine()).isNotEqualTo(one.engine());
    }
  }

  @Test
  void homesThatNobodyUsesForLongAreDeletedUnlessTheyAreInUse() throws IOException {
    TierHome.claim(root, "a", Set.of()).close();
    TierHome used = TierHome.claim(root, "b", Set.of());
    Path others = Files.createDirectory(root.resolve("lost+found"));
    setUsed(others, LONG_AGO);
    for (Path home : homes()) {
      setUsed(home.resolve("engine"), LONG_AGO);
    }
    try (TierHome home = TierHome.claim(root, "c", Set.of())) {
      assertThat(Files.list(root))
          .containsExactlyInAnyOrder(
              others, root.resolve(used.engine()), root.resolve(home.engine()));
    } finally {
      used.close();
    }
  }

  @Test
  void aHomeThatWasUsedForLongIsNotForgottenWhenItIsLeft() throws IOException {
    TierHome home = TierHome.claim(root, "a", Set.of());
    Path kind = root.resolve(home.engine()).resolve("engine");
    setUsed(kind, LONG_AGO);
    home.close();
    TierHome.claim(root, "b", Set.of()).close();
    assertThat(kind).exists();

    Files.createDirectories(home.directory());
    setUsed(kind, LONG_AGO);
    TierHome.claim(root, "b", Set.of()).close();
    assertThat(kind).as("a process that was killed wrote segments").exists();
  }

  @Test
  void aHomeIsDeletedByTheNextIfAProcessDiedWhileItDidSo() throws IOException {
    Path half = Files.createDirectories(root.resolve("0123456789ab.old").resolve("segments"));
    TierHome.claim(root, "a", Set.of()).close();
    assertThat(half.getParent()).doesNotExist();
  }

  @Test
  void enginesThatClaimAtOnceWhileOthersAreForgottenAllHaveHomes() throws Exception {
    int engines = 6;
    ExecutorService threads = Executors.newFixedThreadPool(engines);
    try {
      for (int round = 0; round < 30; round++) {
        for (Path home : homes()) {
          setUsed(home.resolve("engine"), LONG_AGO);
        }
        CountDownLatch go = new CountDownLatch(1);
        List<Future<TierHome>> claims = new ArrayList<>();
        for (int i = 0; i < engines; i++) {
          String kind = round + " " + i % 2;
          claims.add(
              threads.submit(
                  () -> {
                    go.await();
                    return TierHome.claim(root, kind, Set.of());
                  }));
        }
        go.countDown();
        Set<String> ids = new HashSet<>();
        for (Future<TierHome> claim : claims) {
          ids.add(claim.get().engine());
        }
        assertThat(ids).hasSize(engines);
        for (Future<TierHome> claim : claims) {
          claim.get().close();
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void onlyItsOwnerCanReadAHome() throws IOException {
    Path tiers = root.resolve("working/tiers");
    try (TierHome home = TierHome.claim(tiers, "a", Set.of())) {
      for (Path path : List.of(tiers, tiers.resolve(home.engine()))) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
            .isEqualTo("rwx------");
      }
    }
  }

  @Test
  void aHomeThatHadNoPartInTheRestoredCheckpointIsEmptied() throws IOException {
    String engine;
    Path page;
    try (TierHome home = TierHome.claim(root, "a", Set.of())) {
      engine = home.engine();
      page = Files.createDirectories(home.directory()).resolve("page");
      Files.writeString(page, "page");
    }
    TierHome.claim(root, "a", Set.of(engine, "other")).close();
    assertThat(page).exists();
    TierHome.claim(root, "a", Set.of("other")).close();
    assertThat(page).doesNotExist();
  }

  private List<Path> homes() throws IOException {
    try (Stream<Path> all = Files.list(root)) {
      return all.filter(path -> Files.exists(path.resolve("engine"))).toList();
    }
  }

  private static void setUsed(Path path, FileTime time) throws IOException {
    Files.setLastModifiedTime(path, time);
  }
}
