package io.radixflow.operators.tier.remote;

import static io.radixflow.operators.tier.store.TierPages.EPOCH;
import static io.radixflow.operators.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.store.TierPages.chain;
import static io.radixflow.operators.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.engine.FlinkRemoteFiles;
import io.radixflow.operators.tier.store.TierPages.Chain;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A tenant is erased by one engine while another, which has not heard of it, writes its pages. */
@Timeout(60)
class RemoteErasureRacesTest {
  private static final long TENANT = 7;

  @TempDir Path directory;

  private final Chain chain = chain(1, 10, "one", TENANT);

  /**
   * A store that does something before its first operation of a kind.
   *
   * @param operation name of the method
   * @param folder of the object that it is done to
   */
  private RemoteStore open(String operation, String folder, Runnable before) throws IOException {
    String uri = directory.toUri().toString();
    RemoteFiles files = FlinkRemoteFiles.open(uri);
    CompletableFuture<Void> once = new CompletableFuture<>();
    RemoteFiles watched =
        (RemoteFiles)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RemoteFiles.class},
                (proxy, method, arguments) -> {
                  boolean meant =
                      method.getName().equals(operation)
                          && ((String) arguments[0]).contains("/" + folder + "/");
                  if (meant && once.complete(null)) {
                    before.run();
                  }
                  try {
                    return method.invoke(files, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    RemoteStoreOptions options = RemoteStoreOptions.of(uri).withTransfers(1, 30_000, 0);
    return RemoteStore.open(options, EPOCH, PAGE_BYTES, watched);
  }

  private static void erase(RemoteStore store) {
    store.removeTenant(TENANT);
    store.erased().orTimeout(30, TimeUnit.SECONDS).join();
  }

  private List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> file.toString().contains("/pages/"))
          .filter(file -> !file.getFileName().toString().endsWith(".crc"))
          .toList();
    }
  }

  @Test
  void pagesThatAreWrittenOnceTheirListIsGoneAreDeletedByWhoWroteThem() throws Exception {
    try (RemoteStore eraser = open("", "", () -> {});
        RemoteStore writer = open("create", "pages", () -> erase(eraser))) {
      write(writer, chain);
      erase(writer);

      assertThat(pages()).isEmpty();
    }
  }

  @Test
  void pagesThatAreWrittenBeforeTheirListIsGoneAreDeletedByWhoErases() throws Exception {
    CountDownLatch listed = new CountDownLatch(1);
    CountDownLatch erasing = new CountDownLatch(1);
    CountDownLatch written = new CountDownLatch(1);
    try (RemoteStore writer =
            open(
                "create",
                "pages",
                () -> {
                  listed.countDown();
                  await(erasing);
                });
        RemoteStore eraser =
            open(
                "delete",
                "tenants",
                () -> {
                  erasing.countDown();
                  await(written);
                })) {
      CompletableFuture<Void> writing =
          CompletableFuture.runAsync(
              () -> {
                write(writer, chain);
                written.countDown();
              });
      await(listed);
      erase(eraser);
      writing.join();
      erase(writer);

      assertThat(pages()).isEmpty();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
