package io.radixflow.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/**
 * The real model file that tests tagged {@code model} need.
 *
 * <p>It is {@code RADIXFLOW_TEST_MODEL} if that is set, else the copy in Radixflow's cache ({@code
 * RADIXFLOW_HOME}, by default {@code ~/.cache/radixflow}). Without it such tests are skipped, or
 * fail where {@code RADIXFLOW_REQUIRE_MODEL} is {@code true}.
 */
public final class TestModels {

  /** Name of the default model's file. */
  public static final String SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf";

  private TestModels() {}

  /** SmolLM2-135M-Instruct as a GGUF file. */
  public static Path smolLm2() {
    Path file = find();
    if (!Files.isRegularFile(file)) {
      String hint = file + " is missing; run './radixflow model' once, or set RADIXFLOW_TEST_MODEL";
      assertThat("true".equals(System.getenv("RADIXFLOW_REQUIRE_MODEL"))).as(hint).isFalse();
      Assumptions.abort(hint);
    }
    return file;
  }

  private static Path find() {
    String given = System.getenv("RADIXFLOW_TEST_MODEL");
    if (given != null) {
      return Path.of(given);
    }
    return RadixflowHome.path().resolve("models").resolve(SMOLLM2_FILE);
  }
}
