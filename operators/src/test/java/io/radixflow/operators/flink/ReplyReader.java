package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.ReplyDelta;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Puts deltas together as a consumer does: what extends a reply is appended, what overlaps must be
 * equal, and nothing may be missing in between.
 */
public final class ReplyReader {
  private final Map<String, String> texts = new TreeMap<>();
  private final Map<String, Integer> tokens = new HashMap<>();
  private final Map<String, Long> attempts = new HashMap<>();

  public ReplyReader read(List<ReplyDelta> deltas) {
    deltas.forEach(this::read);
    return this;
  }

  private void read(ReplyDelta delta) {
    String turn = delta.session() + "/" + delta.turn();
    String text = texts.getOrDefault(turn, "");
    int known = text.codePointCount(0, text.length());
    assertThat(delta.offset()).as("no gap in the text of %s", turn).isLessThanOrEqualTo(known);
    assertThat(delta.tokenOffset())
        .as("no gap in the tokens of %s", turn)
        .isLessThanOrEqualTo(tokens.getOrDefault(turn, 0));
    assertThat(delta.attempt())
        .as("no delta of an older attempt of %s", turn)
        .isGreaterThanOrEqualTo(attempts.getOrDefault(turn, 0L));
    attempts.put(turn, delta.attempt());
    tokens.merge(turn, delta.tokenOffset() + delta.tokens(), Math::max);
    int at = text.offsetByCodePoints(0, delta.offset());
    String overlap = text.substring(at);
    if (delta.text().startsWith(overlap)) {
      texts.put(turn, text.substring(0, at) + delta.text());
    } else {
      assertThat(overlap).as("an overlap in %s", turn).startsWith(delta.text());
    }
  }

  /** The text of each turn so far, by {@code session/turn}. */
  public Map<String, String> texts() {
    return texts;
  }

  /** Returns the number of tokens of a turn that deltas stood for. */
  public int tokens(String turn) {
    return tokens.getOrDefault(turn, 0);
  }
}
