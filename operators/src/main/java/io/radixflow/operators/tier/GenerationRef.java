package io.radixflow.operators.tier;

import java.util.Objects;

/**
 * Names a copy of an engine's page directory, for a checkpoint to remember.
 *
 * @param engine id of the engine's {@link TierHome}
 * @param generation number of the checkpoint that it was made with
 * @param digest of the copy's files, in hexadecimal digits
 */
public record GenerationRef(String engine, long generation, String digest) {
  public GenerationRef {
    Objects.requireNonNull(engine, "engine");
    Objects.requireNonNull(digest, "digest");
  }
}
