package io.radixflow.text.tokenizer;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/** The bytes and roles of a tokenizer's ids. Immutable and thread-safe. */
public final class Vocabulary {

  private final byte[] blob;
  private final int[] offsets;
  private final AddedTokens added;
  private final int[] endOfTurnIds;

  /**
   * @param bytes the bytes of each id; the bytes of special tokens are ignored
   * @param added special and other tokens that templates may write
   * @param endOfTurnIds ids that end a turn
   */
  Vocabulary(List<byte[]> bytes, Collection<AddedToken> added, int[] endOfTurnIds) {
    this.added = new AddedTokens(added);
    this.endOfTurnIds = endOfTurnIds.clone();
    BitSet special = new BitSet();
    for (AddedToken token : added) {
      if (token.special()) {
        special.set(token.id());
      }
    }
    offsets = new int[bytes.size() + 1];
    for (int id = 0; id < bytes.size(); id++) {
      offsets[id + 1] = offsets[id] + (special.get(id) ? 0 : bytes.get(id).length);
    }
    blob = new byte[offsets[bytes.size()]];
    for (int id = 0; id < bytes.size(); id++) {
      System.arraycopy(bytes.get(id), 0, blob, offsets[id], offsets[id + 1] - offsets[id]);
    }
  }

  int size() {
    return offsets.length - 1;
  }

  /** Number of bytes of a token; 0 for an id outside the vocabulary. */
  int byteCount(int id) {
    return id < 0 || id >= size() ? 0 : offsets[id + 1] - offsets[id];
  }

  /** Copies a token's bytes and returns their number. */
  int copyBytes(int id, byte[] target, int at) {
    int count = byteCount(id);
    if (count > 0) {
      System.arraycopy(blob, offsets[id], target, at, count);
    }
    return count;
  }

  public AddedTokens added() {
    return added;
  }

  public boolean endsTurn(int id) {
    return Arrays.stream(endOfTurnIds).anyMatch(end -> end == id);
  }

  int[] endOfTurnIds() {
    return endOfTurnIds.clone();
  }
}
