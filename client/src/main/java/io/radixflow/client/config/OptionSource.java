package io.radixflow.client.config;

import java.util.List;

/**
 * Options that a module above this one defines. {@link java.util.ServiceLoader} finds the sources,
 * so {@link SettingsLoader} knows the options of all modules on the class path.
 */
public interface OptionSource {

  /** Returns the options, in the order of the documentation. */
  List<OptionSpec<?>> specs();

  /**
   * Checks options together, after each value was checked.
   *
   * @throws SettingsException if values contradict each other
   */
  void check(Settings settings);
}
