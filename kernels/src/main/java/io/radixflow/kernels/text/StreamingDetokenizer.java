package io.radixflow.kernels.text;

import io.radixflow.kernels.text.tokenizer.Tokenizer;

/**
 * Token ids of a reply to text as they come. Emits whole characters only: bytes of an unfinished
 * one wait for the next token. Special tokens yield nothing.
 *
 * <p>However the ids are fed, the text is that of their bytes in one piece. Not thread safe;
 * allocates nothing per token beyond the target's growth.
 */
final class StreamingDetokenizer {

  private final Tokenizer tokenizer;
  private final Utf8Decoder decoder = new Utf8Decoder();
  private byte[] bytes = new byte[64];
  private boolean atStart = true;

  public StreamingDetokenizer(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** Appends the characters that a token completes. */
  public void accept(int id, StringBuilder out) {
    int count = tokenizer.byteCount(id);
    if (count == 0) {
      return;
    }
    if (count > bytes.length) {
      bytes = new byte[count * 2];
    }
    tokenizer.copyBytes(id, bytes, 0);
    if (atStart) {
      atStart = false;
      if (bytes[0] == ' ' && tokenizer.dropsLeadingSpace()) {
        System.arraycopy(bytes, 1, bytes, 0, --count);
      }
    }
    decoder.decode(bytes, count, out);
  }

  /** Ends the reply: bytes of an unfinished character become U+FFFD. */
  public void flush(StringBuilder out) {
    decoder.flush(out);
  }
}
