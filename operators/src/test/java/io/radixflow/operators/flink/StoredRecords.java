package io.radixflow.operators.flink;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What segment files hold, found by their documented format alone. */
final class StoredRecords {
  private static final int MARK = 0x52465047;
  private static final int HOLES = 4 | 8;
  private static final int BODY = 192;

  private final List<byte[]> files = new ArrayList<>();

  /** The pages' names, and what they hold. */
  private final Map<ByteBuffer, byte[]> bodies = new HashMap<>();

  /**
   * @param root directory of segments, at any depth
   */
  StoredRecords(Path root) {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.filter(StoredRecords::isSegment).toList()) {
        read(Files.readAllBytes(path));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isSegment(Path path) {
    return Files.isRegularFile(path) && path.getParent().endsWith("segments");
  }

  private void read(byte[] file) {
    files.add(file);
    ByteBuffer bytes = ByteBuffer.wrap(file);
    for (int at = 256; at + BODY <= file.length; at += 64) {
      if (bytes.getInt(at) == MARK && (bytes.getInt(at + 4) & HOLES) == 0) {
        byte[] id = Arrays.copyOfRange(file, at + 16, at + 48);
        int end = at + BODY + bytes.getInt(at + 8);
        bodies.put(ByteBuffer.wrap(id), Arrays.copyOfRange(file, at + BODY, end));
      }
    }
  }

  /** Names of the pages, in hexadecimal digits. */
  Set<String> ids() {
    return bodies.keySet().stream()
        .map(id -> HexFormat.of().formatHex(id.array()))
        .collect(Collectors.toSet());
  }

  /** Names and contents of pages that another time had and this one has not. */
  List<byte[]> without(StoredRecords kept) {
    Set<ByteBuffer> content = new HashSet<>();
    kept.bodies.values().forEach(body -> content.add(ByteBuffer.wrap(body)));
    List<byte[]> gone = new ArrayList<>();
    bodies.forEach(
        (id, body) -> {
          if (!kept.bodies.containsKey(id)) {
            gone.add(id.array());
            if (!content.contains(ByteBuffer.wrap(body))) {
              gone.add(body);
            }
          }
        });
    return gone;
  }

  /** Whether some file has these bytes, wherever. */
  boolean has(byte[] wanted) {
    return files.stream().anyMatch(file -> indexOf(file, wanted) >= 0);
  }

  private static int indexOf(byte[] file, byte[] wanted) {
    for (int at = 0; at + wanted.length <= file.length; at++) {
      if (file[at] == wanted[0]
          && Arrays.equals(file, at, at + wanted.length, wanted, 0, wanted.length)) {
        return at;
      }
    }
    return -1;
  }
}
