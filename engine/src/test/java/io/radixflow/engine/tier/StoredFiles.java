package io.radixflow.engine.tier;

import io.radixflow.engine.Patience;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.tier.disk.DiskStore;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.LocalRemoteFiles;
import io.radixflow.engine.tier.remote.RemoteStore;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.engine.tier.remote.StoreStack;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.TenantKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** The real files of a disk and of a remote folder for engines that follow one another. */
public final class StoredFiles implements AutoCloseable {
  private static final NamespaceKey KEY = NamespaceKey.of("secret");
  private static final long DISK_BYTES = 64 << 20;

  private final TenantKeys keys = new TenantKeys();
  private final Path root;

  public StoredFiles() throws IOException {
    root = Files.createTempDirectory("stored-files");
  }

  /** Returns a path beside the stored files that is deleted with them. */
  public Path resolve(String name) {
    return root.resolve(name);
  }

  /** Returns these files below host memory. */
  public TierOptions below(TierOptions options, boolean disk, boolean remote) {
    return options.withStore(
        (epoch, sizes) -> {
          try {
            return StoreStack.of(
                disk ? openDisk(epoch, sizes) : null,
                remote ? openRemote(epoch, sizes) : null,
                sizes,
                0);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        KEY);
  }

  private PageStore openDisk(String epoch, PageSizes sizes) throws IOException {
    return DiskStore.open(root.resolve("disk"), DiskTierOptions.of(DISK_BYTES), epoch, sizes, keys);
  }

  private RemoteStore openRemote(String epoch, PageSizes sizes) throws IOException {
    String uri = root.resolve("remote").toUri().toString();
    return RemoteStore.open(
        new RemoteTierOptions(uri, 8, Patience.DURATION.toMillis(), 0, 0, 0, 0, null),
        epoch,
        sizes,
        new LocalRemoteFiles(root.resolve("remote")),
        keys);
  }

  /** Deletes all files of the disk, which no engine has open. */
  public void loseDisk() throws IOException {
    delete(root.resolve("disk"));
  }

  /** Flips a bit of every other segment and object, none of which is open. */
  public void damage(Random random) throws IOException {
    for (String folder : List.of("disk/pages", "remote")) {
      for (Path file : files(root.resolve(folder))) {
        if (random.nextBoolean() && Files.isRegularFile(file) && Files.size(file) > 0) {
          flip(file, (long) (random.nextDouble() * Files.size(file)), 1 << random.nextInt(8));
        }
      }
    }
  }

  private static void flip(Path file, long at, int bit) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      channel.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ bit)}), at);
    }
  }

  /**
   * Returns what is in a folder and in those in it, each before what is in it; nothing if it is
   * away.
   */
  private static List<Path> files(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.sorted().toList();
    }
  }

  private static void delete(Path folder) throws IOException {
    for (Path file : files(folder).stream().sorted(Comparator.reverseOrder()).toList()) {
      Files.delete(file);
    }
  }

  @Override
  public void close() throws IOException {
    delete(root);
  }
}
