package io.radixflow.operators.flink;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Which pages disk tiers have, read from their files while they may be in use. */
public final class StoredPages {
  private static final int ATTEMPTS = 50;

  private StoredPages() {}

  /**
   * Returns the names of the pages, in hexadecimal digits.
   *
   * @param root directory of disk tiers, at any depth
   */
  public static Set<String> in(Path root) {
    for (int attempt = 1; ; attempt++) {
      try {
        return read(root);
      } catch (IOException | UncheckedIOException | RocksDBException e) {
        // the store that has it open may delete files meanwhile
        if (attempt == ATTEMPTS) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  private static Set<String> read(Path root) throws IOException, RocksDBException {
    List<Path> databases;
    try (Stream<Path> all = Files.walk(root)) {
      databases = all.filter(path -> path.endsWith("CURRENT")).map(Path::getParent).toList();
    }
    Set<String> names = new HashSet<>();
    for (Path database : databases) {
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      try (DBOptions options = new DBOptions();
          RocksDB db =
              RocksDB.openReadOnly(
                  options,
                  database.toString(),
                  List.of(
                      new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY),
                      new ColumnFamilyDescriptor("pages".getBytes(UTF_8))),
                  handles);
          RocksIterator pages = db.newIterator(handles.get(1))) {
        for (pages.seekToFirst(); pages.isValid(); pages.next()) {
          names.add(HexFormat.of().formatHex(pages.key()));
        }
        pages.status();
      }
    }
    return names;
  }
}
