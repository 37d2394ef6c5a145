package io.radixflow.engine.tier.disk;

import io.radixflow.models.io.ScratchDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;

/**
 * Loads RocksDB's native code once per process, with or without Flink.
 *
 * <p>Flink's state backend loads the same code through the same {@link NativeLibraryLoader}, which
 * loads it only once. {@code org.rocksdb} is parent-first, so all class loaders share one loader.
 * The first caller unpacks the library; the file is deleted as soon as it is mapped.
 */
final class RocksDbLibrary {
  private static boolean loaded;

  private RocksDbLibrary() {}

  /**
   * @throws UncheckedIOException if the library cannot be unpacked
   * @throws UnsatisfiedLinkError if there is no library for this platform
   */
  static synchronized void load() {
    if (loaded) {
      return;
    }
    try (ScratchDirectory directory = ScratchDirectory.create("rocksdb")) {
      NativeLibraryLoader.getInstance().loadLibrary(directory.path().toString());
      RocksDB.loadLibrary();
    } catch (IOException e) {
      throw new UncheckedIOException("RocksDB's library cannot be unpacked", e);
    }
    loaded = true;
  }
}
