package io.radixflow.gateway.text;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.util.List;

/**
 * The text of a token in OpenAI's log probabilities. If the token is a part of a character, its
 * text contains escapes for its bytes, and clients join the bytes of several tokens to the
 * character.
 */
public final class TokenText {

  private TokenText() {}

  /**
   * Returns the bytes of a token.
   *
   * @param text text of the token
   * @param bytes all bytes of the token if the text lacks some of them; else null
   */
  public static byte[] bytes(String text, List<Integer> bytes) {
    if (bytes == null) {
      return text.getBytes(UTF_8);
    }
    byte[] all = new byte[bytes.size()];
    for (int i = 0; i < all.length; i++) {
      all[i] = bytes.get(i).byteValue();
    }
    return all;
  }

  /**
   * Returns the text of a token in the form of chats: {@code \xf0\x9f} for a part of a character.
   */
  public static String shown(String text, List<Integer> bytes) {
    return bytes == null ? text : shown(bytes(text, bytes));
  }

  /** Returns the text of a token with these bytes in the form of chats. */
  public static String shown(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(in.remaining());
    CharsetDecoder decoder = UTF_8.newDecoder();
    StringBuilder shown = new StringBuilder();
    while (in.hasRemaining()) {
      CoderResult result = decoder.decode(in, out, true);
      shown.append(out.flip());
      out.clear();
      for (int i = 0; result.isError() && i < result.length(); i++) {
        shown.append(escape(in.get()));
      }
    }
    return shown.toString();
  }

  /** Returns the text of a token in the form of completions: {@code bytes:\xf0\x9f}. */
  public static String legacy(String text, List<Integer> bytes) {
    if (bytes == null) {
      return text;
    }
    StringBuilder shown = new StringBuilder("bytes:");
    for (byte each : bytes(text, bytes)) {
      shown.append(escape(each));
    }
    return shown.toString();
  }

  private static String escape(byte value) {
    return "\\x%02x".formatted(value & 0xff);
  }

  /** Returns whether a token continues a character that an earlier token begins. */
  public static boolean goesOn(List<Integer> bytes) {
    return bytes != null && !bytes.isEmpty() && isInner(bytes.get(0));
  }

  /** Returns the number of code points that begin in a token. */
  public static int begun(String text, List<Integer> bytes) {
    return bytes == null
        ? text.codePointCount(0, text.length())
        : (int) bytes.stream().filter(each -> !isInner(each)).count();
  }

  private static boolean isInner(int value) {
    return (value & 0xc0) == 0x80;
  }
}
