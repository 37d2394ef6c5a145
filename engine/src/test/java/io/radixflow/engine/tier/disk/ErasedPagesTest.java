package io.radixflow.engine.tier.disk;

import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which pages an erasure takes from a store, and when it reports that they are gone. */
class ErasedPagesTest {

  @TempDir Path directory;

  private DiskStore open() throws IOException {
    DiskTierOptions options = DiskTierOptions.of(8 << 20);
    return DiskStore.open(directory, options, EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS);
  }

  /** Makes a page of another text that begins as a chain does. */
  private static Chain branch(Chain trunk, int after) {
    Chain other = chain(99, 1);
    TierPage page = other.pages()[0];
    TierPage[] moved = {
      new TierPage(page.id(), trunk.ids()[after], page.namespace(), page.tenant())
    };
    return new Chain(moved, other.ids(), other.namespaces());
  }

  private static PageId[] both(PageId[] first, PageId[] second) {
    return Stream.concat(Arrays.stream(first), Arrays.stream(second)).toArray(PageId[]::new);
  }

  @Test
  void aCommonBeginningStaysUntilTheOtherTextIsErased() throws Exception {
    try (DiskStore store = open()) {
      Chain text = chain(1, 10);
      Chain other = branch(text, 3);
      write(store, text);
      write(store, other);
      store.erase(text.ids());
      assertThat(store.find(text.ids(), 0, 10)).isEqualTo(4);
      assertThat(read(store, other)).isEqualTo(1);
      store.erase(both(Arrays.copyOf(text.ids(), 4), other.ids()));
      store.erased().get(60, TimeUnit.SECONDS);
      assertThat(store.stats().pages()).isZero();
    }
  }

  @Test
  void windowPartsAreReadBackAndErasedWithTheirPages() throws Exception {
    Chain text = chain(1, 10);
    Chain other = branch(text, 3);
    DiskTierOptions options = DiskTierOptions.of(8 << 20);
    try (DiskStore store =
        DiskStore.open(directory, options, EPOCH, TierPages.WITH_WINDOWS, TierPages.KEYS)) {
      write(store, text);
      write(store, other);
      TierPages.writeWindows(store, text);
    }
    try (DiskStore store =
        DiskStore.open(directory, options, EPOCH, TierPages.WITH_WINDOWS, TierPages.KEYS)) {
      assertThat(TierPages.readWindows(store, text)).hasSize(10);
      store.erase(text.ids());
      assertThat(store.find(text.ids(), 0, 10)).isEqualTo(4);
      assertThat(TierPages.readWindows(store, text)).containsExactly(0, 1, 2, 3);
      store.erase(both(Arrays.copyOf(text.ids(), 4), other.ids()));
      store.erased().get(60, TimeUnit.SECONDS);
      assertThat(store.stats().pages()).isZero();
    }
  }

  @Test
  void aWindowPartIsErasedThoughItsPageIsNotThere() throws Exception {
    Chain text = chain(1, 10);
    try (DiskStore store =
        DiskStore.open(
            directory,
            DiskTierOptions.of(8 << 20),
            EPOCH,
            TierPages.WITH_WINDOWS,
            TierPages.KEYS)) {
      TierPages.writeWindows(store, text);
      store.erase(text.ids());
      assertThat(store.stats().pages()).isZero();
    }
  }

  @Test
  void erasingSkipsAbsentPages() throws Exception {
    try (DiskStore store = open()) {
      Chain text = chain(1, 10);
      store.write(text.pages(), text.bytes(), 6);
      store.erase(text.ids());
      store.erase(text.ids());
      assertThat(store.stats().pages()).isZero();
    }
  }

  @Test
  void aReopenedStoreKnowsWhichPagesFollow() throws Exception {
    Chain text = chain(1, 10);
    Chain other = branch(text, 3);
    try (DiskStore store = open()) {
      write(store, text);
      write(store, other);
    }
    try (DiskStore store = open()) {
      store.erase(text.ids());
      assertThat(store.find(text.ids(), 0, 10)).isEqualTo(4);
    }
  }
}
