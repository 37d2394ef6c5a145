package io.radixflow.cli.command.model;

import io.radixflow.models.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** The reported summary of one request's logits. Rows are added in ascending order of positions. */
final class LogitsResult {
  private static final int TOP = 10;

  private final Map<Integer, Row> rows = new HashMap<>();
  private final MessageDigest sha256 = Sha256.digest();
  private final ByteBuffer bytes;

  /**
   * A summary of the logits of one position.
   *
   * @param topIds ids of the largest logits, largest first; if logits are equal, the lower id first
   * @param topLogits their logits
   * @param sum of all logits, accumulated in double
   * @param l2 Euclidean norm of all logits, accumulated in double
   */
  record Row(int[] topIds, float[] topLogits, double sum, double l2) {}

  LogitsResult(int vocabSize) {
    bytes = ByteBuffer.allocate(vocabSize * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  void add(int position, float[] logits) {
    bytes.clear().asFloatBuffer().put(logits);
    sha256.update(bytes.array());
    double sum = 0;
    double squares = 0;
    for (float logit : logits) {
      sum += logit;
      squares += (double) logit * logit;
    }
    int[] ids = new int[Math.min(TOP, logits.length)];
    float[] largest = new float[ids.length];
    selectTop(logits, ids, largest);
    rows.put(position, new Row(ids, largest, sum, Math.sqrt(squares)));
  }

  private static void selectTop(float[] logits, int[] ids, float[] largest) {
    int found = 0;
    for (int id = 0; id < logits.length; id++) {
      if (found == ids.length && !(logits[id] > largest[found - 1])) {
        continue;
      }
      int slot = found < ids.length ? found++ : found - 1;
      while (slot > 0 && logits[id] > largest[slot - 1]) {
        ids[slot] = ids[slot - 1];
        largest[slot] = largest[slot - 1];
        slot--;
      }
      ids[slot] = id;
      largest[slot] = logits[id];
    }
  }

  Row row(int position) {
    return rows.get(position);
  }

  /** Returns the SHA-256 of all rows in lower-case hexadecimal; no row may be added afterwards. */
  String digest() {
    return HexFormat.of().formatHex(sha256.digest());
  }
}
