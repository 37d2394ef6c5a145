package io.radixflow.cli.command.common;

import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.hub.ModelResolver;
import io.radixflow.models.hub.ResolvedModel;
import io.radixflow.models.hub.ResolverOptions;
import io.radixflow.text.TextModel;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A model that was found or fetched.
 *
 * @param location an absolute path, or the simulated model's name
 * @param source where it came from; for messages
 */
public record LocatedModel(String location, String source) {

  /** Locates models in the file system, in the cache and on the hub. */
  public static LocatedModel locate(String model, boolean offline, ModelProgress progress)
      throws IOException {
    if (ModelLoader.isSimulated(model)) {
      return new LocatedModel(model, "built in");
    }
    ResolvedModel found =
        new ModelResolver(ResolverOptions.fromEnvironment(offline), progress).resolve(model);
    return new LocatedModel(found.path().toString(), found.source().text());
  }

  public ServedModel open() throws IOException {
    return open(location);
  }

  /** Opens only the tokenizer and the chat template. */
  public TextModel openText() throws IOException {
    return ModelLoader.openText(location, Path::of);
  }

  public static ServedModel open(String location) throws IOException {
    return ModelLoader.open(location, Path::of);
  }
}
