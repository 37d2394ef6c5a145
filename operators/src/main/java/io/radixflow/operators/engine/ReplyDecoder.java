package io.radixflow.operators.engine;

import io.radixflow.kernels.text.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Token ids to visible text: whole characters, what may begin a stop string held back. */
final class ReplyDecoder {
  private final Tokenizer tokenizer;
  private final List<String> stops;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final StringBuilder held = new StringBuilder();
  private boolean stopped;

  ReplyDecoder(Tokenizer tokenizer, List<String> stops) {
    this.tokenizer = tokenizer;
    this.stops = stops;
  }

  String append(int token) {
    bytes.writeBytes(tokenizer.bytes(token));
    String s = bytes.toString(StandardCharsets.UTF_8);
    if (!s.endsWith("\uFFFD")) {
      held.append(s);
      bytes.reset();
    }
    for (String stop : stops) {
      int at = held.indexOf(stop);
      if (at >= 0) {
        stopped = true;
        return take(at);
      }
    }
    int keep = 0;
    for (String stop : stops) {
      for (int n = Math.min(stop.length() - 1, held.length()); n > keep; n--) {
        if (stop.startsWith(held.substring(held.length() - n))) {
          keep = n;
        }
      }
    }
    return take(held.length() - keep);
  }

  private String take(int count) {
    String text = held.substring(0, count);
    held.delete(0, count);
    return text;
  }

  boolean stopped() {
    return stopped;
  }

  String finish() {
    return stopped ? "" : take(held.length()) + bytes.toString(StandardCharsets.UTF_8);
  }
}
