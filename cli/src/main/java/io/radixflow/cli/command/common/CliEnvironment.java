package io.radixflow.cli.command.common;

import java.io.InputStream;
import java.time.Duration;

/**
 * The environment of commands; tests replace it.
 *
 * @param models finds models
 * @param input the input for a file named {@code -}
 * @param terminal whether stderr is a terminal, so that progress may redraw its line
 * @param quiet how long a command runs before it shows progress
 */
public record CliEnvironment(
    ModelLocator models, InputStream input, boolean terminal, Duration quiet) {}
