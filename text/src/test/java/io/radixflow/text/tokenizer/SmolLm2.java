package io.radixflow.text.tokenizer;

import io.radixflow.models.TestModels;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.format.GgufMetadata;

/** The real model's metadata and tokenizer, read once a test JVM. */
public final class SmolLm2 {

  private static GgufMetadata metadata;
  private static VocabularyTokenizer tokenizer;

  private SmolLm2() {}

  public static synchronized GgufMetadata metadata() {
    if (metadata == null) {
      try (ModelFile file = ModelFile.open(TestModels.smolLm2())) {
        metadata = file.metadata().orElseThrow();
      }
    }
    return metadata;
  }

  public static synchronized VocabularyTokenizer tokenizer() {
    if (tokenizer == null) {
      tokenizer = GgufTokenizers.read(metadata());
    }
    return tokenizer;
  }
}
