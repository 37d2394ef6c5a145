package io.radixflow.text;

import io.radixflow.text.tokenizer.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The tokenizer of the simulated model: one token per UTF-8 byte, ids 0 to 255, and four special
 * tokens with higher ids. Immutable.
 */
public final class SimTokenizer implements Tokenizer {
  /** The special token that begins a message. */
  public static final int START = 256;

  /** The special token that ends a message. */
  public static final int END = 257;

  private static final List<String> SPECIAL =
      List.of("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|pad|>");

  public static final int VOCAB = 256 + SPECIAL.size();

  @Override
  public int vocabSize() {
    return VOCAB;
  }

  @Override
  public int[] encode(CharSequence text) {
    return ids(utf8(text, 0, text.length()));
  }

  @Override
  public int[] encodeWithSpecial(CharSequence text) {
    String string = text.toString();
    int[] target = new int[4 * string.length()];
    int count = 0;
    int from = 0;
    while (from < string.length()) {
      int special = specialAt(string, from);
      if (special >= 0) {
        target[count++] = 256 + special;
        from += SPECIAL.get(special).length();
        continue;
      }
      int to = from + 1;
      while (to < string.length() && specialAt(string, to) < 0) {
        to++;
      }
      for (byte value : utf8(string, from, to)) {
        target[count++] = value & 0xff;
      }
      from = to;
    }
    return Arrays.copyOf(target, count);
  }

  private static int specialAt(String text, int from) {
    if (text.charAt(from) != '<') {
      return -1;
    }
    for (int i = 0; i < SPECIAL.size(); i++) {
      if (text.startsWith(SPECIAL.get(i), from)) {
        return i;
      }
    }
    return -1;
  }

  private static int[] ids(byte[] bytes) {
    int[] ids = new int[bytes.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = bytes[i] & 0xff;
    }
    return ids;
  }

  /** Encodes lone surrogates as U+FFFD, not as a question mark like the JDK's encoder. */
  private static byte[] utf8(CharSequence text, int from, int to) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(to - from + 16);
    text.subSequence(from, to)
        .codePoints()
        .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
        .forEach(c -> bytes.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8)));
    return bytes.toByteArray();
  }

  @Override
  public byte[] bytes(int id) {
    return id < 256 ? new byte[] {(byte) id} : new byte[0];
  }

  @Override
  public int[] endOfTurnIds() {
    return new int[] {END, SPECIAL.indexOf("<|endoftext|>") + 256};
  }

  @Override
  public Map<Integer, String> specials() {
    Map<Integer, String> specials = new HashMap<>();
    for (int i = 0; i < SPECIAL.size(); i++) {
      specials.put(256 + i, SPECIAL.get(i));
    }
    return specials;
  }

  @Override
  public String fingerprint() {
    return "73696d2d62797465";
  }
}
