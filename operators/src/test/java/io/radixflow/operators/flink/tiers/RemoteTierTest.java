package io.radixflow.operators.flink.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.Patience;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TieredEngines;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages that one TaskManager's engine uploaded serve the sessions that move to another. */
@Timeout(180)
class RemoteTierTest {
  @TempDir Path root;

  @RegisterExtension final TieredEngines engines = new TieredEngines();

  /** The engine of a TaskManager of its own, with a disk of its own or none. */
  private ServingHarness harness(
      boolean disk, RemoteTierOptions remote, int parallelism, int subtask) throws Exception {
    return harness(disk ? disk() : DiskTierOptions.NONE, remote, parallelism, subtask);
  }

  private DiskTierOptions disk() {
    String directory = root.resolve("engine" + engines.opened()).toString();
    return DiskTierOptions.of(TieredEngines.DISK_BYTES, directory, TieredEngines.KEY);
  }

  private ServingHarness harness(
      DiskTierOptions disk, RemoteTierOptions remote, int parallelism, int subtask)
      throws Exception {
    return engines.harness(
        TieredEngines.options(TieredEngines.host(8 << 20)), disk, remote, parallelism, subtask);
  }

  private RemoteTierOptions remote() {
    return TieredEngines.remote(root.resolve("remote").toUri().toString());
  }

  private static Reply ask(ServingHarness h, String turn) throws Exception {
    return ask(h, turn, TieredEngines.LONG);
  }

  private static Reply ask(ServingHarness h, String turn, String text) throws Exception {
    return h.ask(Events.message("s", turn, text).of("acme"));
  }

  private PageStoreStats stored() {
    return engines.stats().remote();
  }

  private void awaitUploaded() {
    engines.awaitSettled();
    assertThat(stored().writtenPages()).isGreaterThan(40);
  }

  private List<Path> pageFiles() {
    return files(root.resolve("remote").toFile())
        .filter(file -> file.toString().contains("/pages/"))
        .sorted()
        .toList();
  }

  /** Returns the files in a folder, of which some may be deleted meanwhile. */
  private static Stream<Path> files(File folder) {
    File[] inside = folder.listFiles();
    return inside == null
        ? Stream.of(folder.toPath()).filter(Files::isRegularFile)
        : Arrays.stream(inside).flatMap(RemoteTierTest::files);
  }

  private long objects() {
    return pageFiles().size();
  }

  /** A turn on one engine, uploaded; and what its checkpoint has. */
  private OperatorSubtaskState served(boolean disk) throws Exception {
    try (ServingHarness h = harness(disk, remote(), 1, 0)) {
      h.open();
      ask(h, "t1");
      awaitUploaded(); // the tenant's key is drawn by then, so that the checkpoint has it
      return h.snapshot();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSessionThatMovesOnRescaleContinuesFromItsUploadedPages(boolean disk) throws Exception {
    OperatorSubtaskState state = served(disk);
    Reply undisturbed;
    int owner = ServingHarness.ownerOf("s", 2);
    try (ServingHarness h = harness(false, RemoteTierOptions.NONE, 2, owner).restore(state, 1)) {
      undisturbed = ask(h, "t2");
      assertThat(undisturbed.usage().cachedTokens()).isZero();
    }
    try (ServingHarness h = harness(disk, remote(), 2, owner).restore(state, 1)) {
      Reply moved = ask(h, "t2");
      assertThat(moved.text()).isEqualTo(undisturbed.text());
      assertThat(moved.usage().cachedTokens()).isGreaterThan(800);
      assertThat(moved.usage().tiers().remoteTokens()).isGreaterThan(800);
      assertThat(moved.usage().tiers().diskTokens()).isZero();
      assertThat(stored().misses()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deletedObjectsAreMissesAndTheReplyIsTheSame(boolean all) throws Exception {
    OperatorSubtaskState state = served(false);
    Reply undisturbed;
    try (ServingHarness h = harness(false, RemoteTierOptions.NONE, 1, 0).restore(state, 1)) {
      undisturbed = ask(h, "t2");
    }
    try (ServingHarness h = harness(false, remote(), 1, 0).restore(state, 1)) {
      int found = query(h).pages().tokens().remote();
      assertThat(found).as("what the engine knows to be there").isGreaterThan(800);
      List<Path> files = pageFiles();
      for (int i = 0; i < files.size(); i += all ? 1 : 2) {
        Files.delete(files.get(i));
      }
      Reply reply = ask(h, "t2");
      assertThat(reply.text()).isEqualTo(undisturbed.text());
      assertThat(reply.usage().tiers().remoteTokens()).isLessThan(found);
      assertThat(stored().misses()).containsOnlyKeys(MissReason.ABSENT);
    }
  }

  private static Reply query(ServingHarness h) throws Exception {
    return h.ask(Events.of(EventKind.QUERY, "s", "q").of("acme"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anErasedSessionLeavesTheRemoteAlsoWhenItHasMoved(boolean disk) throws Exception {
    OperatorSubtaskState state = served(disk);
    assertThat(objects()).isGreaterThan(40);
    try (ServingHarness h = harness(disk, remote(), 1, 0).restore(state, 1)) {
      h.send(Events.of(EventKind.ERASE, "s", "e1").of("acme"));
      h.runMails();
      Patience.await().until(() -> objects() == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void pagesOfAnErasedTenantInTheRemoteTierAreUnreadable(boolean disk) throws Exception {
    OperatorSubtaskState state = served(disk);
    try (ServingHarness h = harness(disk, remote(), 1, 0).restore(state, 1)) {
      h.control("erase_tenant", "acme", null);
      Patience.await()
          .pollInSameThread()
          .until(
              () -> {
                h.runMails();
                return h.erasuresPending() == 0;
              });
      assertThat(engines.tiers().keys().toSave(0, 1)).allMatch(key -> key.tenant() == 0);
      state = h.snapshot();
    }
    assertThat(objects()).isPositive();
    try (ServingHarness h = harness(false, remote(), 1, 0).restore(state, 1)) {
      assertThat(ask(h, "t9").usage().tiers().remoteTokens()).isZero();
    }
  }

  @Test
  void aFileSystemThatFailsCostsItsPagesOnly() throws Exception {
    Path file = Files.writeString(root.resolve("remote"), "no directory");
    try (ServingHarness h = harness(false, TieredEngines.remote(file.toUri().toString()), 1, 0)) {
      h.open();
      Reply first = ask(h, "t1");
      assertThat(first.text()).isNotEmpty();
      Patience.await().until(() -> stored().failedWrites() > 0);
      assertThat(ask(h, "t2").text()).isNotEmpty();
    }
  }

  @Test
  void aFolderWithoutAFileSystemIsRefusedWithWhatToDo() throws Exception {
    try (ServingHarness h = harness(false, TieredEngines.remote("s3://bucket/folder"), 1, 0)) {
      assertThatThrownBy(h::open)
          .hasStackTraceContaining("flink-s3-fs-hadoop")
          .hasStackTraceContaining("plugins/");
    }
    try (ServingHarness h = harness(false, TieredEngines.remote("nowhere://folder"), 1, 0)) {
      assertThatThrownBy(h::open).hasStackTraceContaining("plugin for nowhere://");
    }
    try (ServingHarness h = harness(false, TieredEngines.remote("/folder"), 1, 0)) {
      assertThatThrownBy(h::open).hasStackTraceContaining("has no scheme");
    }
  }

  @Test
  void theRemoteStaysWhenTheDiskIsDetachedAndAttachedAgain() throws Exception {
    OperatorSubtaskState state = served(true);
    try (ServingHarness h = harness(true, remote(), 1, 0).restore(state, 1)) {
      command(h, "detach disk");
      String question = TieredEngines.LONG.substring(0, 200);
      assertThat(ask(h, "t2", question).usage().tiers().remoteTokens()).isGreaterThan(800);
      command(h, "attach disk");
      command(h, "flush disk");
      long before = objects();
      assertThat(ask(h, "t3", question).text()).isNotEmpty();
      Patience.await().until(() -> objects() > before);
    }
  }

  @Test
  void hostMemoryGetsAnotherSizeWhilePagesWaitToBeUploaded() throws Exception {
    RemoteTierOptions later =
        new RemoteTierOptions(
            remote().uri(), 8, Patience.DURATION.toMillis(), 0, 0, 0, 3_600_000, TieredEngines.KEY);
    try (ServingHarness h = harness(true, later, 1, 0)) {
      h.open();
      ask(h, "t1");
      Patience.await()
          .until(() -> engines.stats().store() != null && engines.stats().store().pages() > 40);
      int before = engines.stats().hostPages();
      command(h, "resize host " + (4 << 20));
      Patience.await().until(() -> engines.stats().hostPages() == before / 2);
      assertThat(engines.stats().queuedPages()).isGreaterThan(40);
    }
  }

  @Test
  void theRemoteStaysWhenTheDiskCannotBeAttached() throws Exception {
    Path directory = root.resolve("no directory");
    DiskTierOptions disk =
        DiskTierOptions.of(TieredEngines.DISK_BYTES, directory.toString(), TieredEngines.KEY);
    Files.writeString(directory, "a file");
    try (ServingHarness h = harness(disk, remote(), 1, 0)) {
      h.open();
      refused(h, "attach disk");
      ask(h, "t1");
      awaitUploaded();
      Files.delete(directory);
      command(h, "attach disk");
    }
  }

  private void refused(ServingHarness h, String command) throws Exception {
    long before = engines.tiers().refused();
    h.control("tiers", null, command);
    h.runMails();
    Patience.await().until(() -> engines.tiers().refused() == before + 1);
  }

  private void command(ServingHarness h, String command) throws Exception {
    long before = engines.tiers().applied();
    h.control("tiers", null, command);
    h.runMails();
    Patience.await().until(() -> engines.tiers().applied() == before + 1);
  }
}
