package io.radixflow.cli.command.common;

import io.radixflow.models.ModelProgress;
import java.io.IOException;

/** Finds a model by what a user calls it. */
@FunctionalInterface
public interface ModelLocator {

  /**
   * Finds a model, fetching it if need be; may take minutes.
   *
   * @param model a path, a hub name, or {@code sim}
   * @param offline whether the network is never touched
   * @param progress receives each step
   * @return where it is and where it came from
   * @throws IOException if it is not available; the message says which places were tried and what
   *     to do
   */
  LocatedModel locate(String model, boolean offline, ModelProgress progress) throws IOException;
}
