package io.radixflow.kernels.text.tokenizer;

import io.radixflow.kernels.TestModels;

/** The real model's metadata and tokenizer, read once a test JVM. */
public final class SmolLm2 {

  private static GgufHeader header;
  private static VocabularyTokenizer tokenizer;

  private SmolLm2() {}

  public static synchronized GgufHeader header() {
    if (header == null) {
      header = GgufHeader.read(TestModels.smolLm2());
    }
    return header;
  }

  public static synchronized VocabularyTokenizer tokenizer() {
    if (tokenizer == null) {
      tokenizer = GgufTokenizers.read(header());
    }
    return tokenizer;
  }
}
