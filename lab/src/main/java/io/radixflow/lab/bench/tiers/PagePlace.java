package io.radixflow.lab.bench.tiers;

import io.radixflow.protocol.record.Usage;
import java.util.function.ToIntFunction;

/** The tier that holds the pages of a conversation when its next turn begins. */
enum PagePlace {
  DEVICE("on the device", usage -> usage.cachedTokens()),
  HOST("in host memory", usage -> usage.tiers().hostTokens()),
  DISK("on disk", usage -> usage.tiers().diskTokens()),
  RESTART("on disk, after a crash", usage -> usage.tiers().diskTokens()),
  GONE("gone: recomputed", usage -> usage.promptTokens() - usage.cachedTokens());

  private final String text;
  private final ToIntFunction<Usage> tokens;

  PagePlace(String text, ToIntFunction<Usage> tokens) {
    this.text = text;
    this.tokens = tokens;
  }

  String text() {
    return text;
  }

  /** Returns the tokens of a prompt that came from this tier. */
  int tokens(Usage usage) {
    return tokens.applyAsInt(usage);
  }
}
