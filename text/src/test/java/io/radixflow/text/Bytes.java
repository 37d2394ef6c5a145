package io.radixflow.text;

import io.radixflow.text.tokenizer.Tokenizer;
import java.util.List;

/** A tokenizer for tests of text: tokens are given byte strings, ids their numbers. */
final class Bytes implements Tokenizer {

  private final List<byte[]> tokens;
  private final boolean dropsLeadingSpace;

  Bytes(List<byte[]> tokens, boolean dropsLeadingSpace) {
    this.tokens = tokens;
    this.dropsLeadingSpace = dropsLeadingSpace;
  }

  @Override
  public int vocabSize() {
    return tokens.size();
  }

  @Override
  public int[] encode(CharSequence text) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int[] encodeWithSpecial(CharSequence text) {
    throw new UnsupportedOperationException();
  }

  @Override
  public byte[] bytes(int id) {
    return tokens.get(id).clone();
  }

  @Override
  public boolean dropsLeadingSpace() {
    return dropsLeadingSpace;
  }

  @Override
  public int[] endOfTurnIds() {
    return new int[0];
  }

  @Override
  public String fingerprint() {
    return "0000000000000000";
  }
}
