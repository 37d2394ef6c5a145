package io.radixflow.kernels.text;

import io.radixflow.kernels.TestModels;

/** The real model's metadata and tokenizer, read once a test JVM. */
final class SmolLm2 {

  private static GgufHeader header;
  private static VocabularyTokenizer tokenizer;

  private SmolLm2() {}

  static synchronized GgufHeader header() {
    if (header == null) {
      header = GgufHeader.read(TestModels.smolLm2());
    }
    return header;
  }

  static synchronized VocabularyTokenizer tokenizer() {
    if (tokenizer == null) {
      tokenizer = GgufTokenizers.read(header());
    }
    return tokenizer;
  }
}
