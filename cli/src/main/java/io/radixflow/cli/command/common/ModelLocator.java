package io.radixflow.cli.command.common;

import io.radixflow.models.ModelProgress;
import java.io.IOException;

/** Finds a model by the name that a user gives it. */
@FunctionalInterface
public interface ModelLocator {

  /**
   * Finds a model, and fetches it if necessary; may take minutes.
   *
   * @param model a path, a hub name, or {@code sim}
   * @param offline whether the network is never touched
   * @param progress receives each step
   * @return the location and the source of the model
   * @throws IOException if it is not available; the message has the places that were tried and the
   *     remedy
   */
  LocatedModel locate(String model, boolean offline, ModelProgress progress) throws IOException;
}
